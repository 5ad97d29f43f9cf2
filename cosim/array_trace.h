// SPDX-License-Identifier: Apache-2.0
// The waveform of array_shim.cpp: whether a file can take it, and the signals of the model that
// stand in it beside those of the RTL.
#pragma once

#include <gtkwave/fstapi.h>
#include <sys/stat.h>
#include <verilated_fst_c.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array_abi.h"

namespace {

/// One declared probe: the trace compares `data` with what it recorded last.
struct Probe {
    std::string scope;  // components followed by a blank, as the trace writer wants them
    std::string name;
    const void* data;
    uint32_t bits;
    uint32_t code;  // position in the trace writer's store of old values

    uint32_t words() const { return (bits + 31) / 32; }
};

std::string trace_scope(const char* dotted) {
    std::string scope;
    bool inside = false;
    for (const char* at = dotted;; ++at) {
        const bool ends = *at == '.' || *at == '\0';
        if (!ends) {
            scope += *at == ' ' ? '_' : *at;
            inside = true;
        } else if (inside) {
            scope += static_cast<char>(0x80 + VLT_TRACE_SCOPE_MODULE);
            scope += ' ';
            inside = false;
        }
        if (*at == '\0') return scope;
    }
}

/// The trace writer maps what it has written of the names; a page that found no room on the disk
/// would end the process.
constexpr size_t kRoomForNames = 4u << 20;

bool has_room(std::FILE* file) {
    if (file == nullptr) return false;
    static const char kZeros[1 << 16] = {};
    bool good = true;
    for (size_t done = 0; good && done < kRoomForNames; done += sizeof kZeros)
        good = std::fwrite(kZeros, sizeof kZeros, 1, file) == 1;
    return std::fclose(file) == 0 && good;
}

/// The writer removes what stands there first: a device, for one, must not be lost.
bool trace_fits(const char* path) {
    struct stat status {};
    if (::stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return false;
    const bool fits = has_room(std::fopen(path, "wb"));
    std::remove(path);
    return fits && has_room(std::tmpfile());
}

template <bool kFull>
void record(const Probe& probe, VerilatedFst::Buffer* buffer) {
    uint32_t* const old = buffer->oldp(probe.code);
    if (probe.bits > 64) {
        const auto* const words = static_cast<const WData*>(probe.data);
        if constexpr (kFull) {
            buffer->fullWData(old, words, static_cast<int>(probe.bits));
        } else {
            buffer->chgWData(old, words, static_cast<int>(probe.bits));
        }
        return;
    }
    uint64_t value = 0;
    std::memcpy(&value, probe.data, probe.words() * 4);
    if (probe.bits < 64) value &= (uint64_t{1} << probe.bits) - 1;
    const int bits = static_cast<int>(probe.bits);
    if (probe.bits > 32) {
        if constexpr (kFull) {
            buffer->fullQData(old, value, bits);
        } else {
            buffer->chgQData(old, value, bits);
        }
    } else {
        if constexpr (kFull) {
            buffer->fullIData(old, static_cast<IData>(value), bits);
        } else {
            buffer->chgIData(old, static_cast<IData>(value), bits);
        }
    }
}

/// The probes of one trace.
class Probes {
  public:
    /// `edge` belongs to the array: the number of the edge, from half a period before it.
    void declare(const uint64_t* edge, const TandemProbe* probes, size_t count) {
        probes_.push_back({trace_scope("tandem"), "edge", edge, 64, 0});
        for (const TandemProbe* probe = probes; probe != probes + count; ++probe) {
            if (probe->bits == 0) continue;
            std::string name = probe->name;
            std::replace(name.begin(), name.end(), ' ', '_');
            probes_.push_back(
                {trace_scope(probe->scope), std::move(name), probe->data, probe->bits, 0});
        }
        // Probes of one scope stand together, so that the file opens the scope once.
        std::stable_sort(probes_.begin(), probes_.end(),
                         [](const Probe& a, const Probe& b) { return a.scope < b.scope; });
    }

    /// The object must stay where it is until the trace is closed.
    void attach(VerilatedFst* fst) {
        if (probes_.empty()) return;
        fst->addInitCb(&Probes::write_names, this);
        fst->addFullCb(&Probes::record_all, this);
        fst->addChgCb(&Probes::record_changes, this);
    }

    void clear() { probes_.clear(); }

  private:
    static void write_names(void* self, VerilatedFst* fst, uint32_t code) {
        for (Probe& probe : static_cast<Probes*>(self)->probes_) {
            probe.code = code;
            code += probe.words();
            fst->pushNamePrefix(probe.scope);
            if (probe.bits == 1) {
                fst->declBit(probe.code, probe.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_VCD_WIRE,
                             false, -1);
            } else {
                fst->declBus(probe.code, probe.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_VCD_WIRE,
                             false, -1, static_cast<int>(probe.bits) - 1, 0);
            }
            fst->popNamePrefix();
        }
    }

    static void record_all(void* self, VerilatedFst::Buffer* buffer) {
        for (const Probe& probe : static_cast<Probes*>(self)->probes_) record<true>(probe, buffer);
    }

    static void record_changes(void* self, VerilatedFst::Buffer* buffer) {
        for (const Probe& probe : static_cast<Probes*>(self)->probes_) record<false>(probe, buffer);
    }

    std::vector<Probe> probes_;
};

/// The waveform of an array and its time axis: edge n stands at n * period.
class Trace {
  public:
    bool open() const { return fst_ != nullptr; }

    template <typename Model>
    bool begin(Model& model, const char* path, uint64_t edge, uint64_t period_fs,
               const TandemProbe* probes, size_t probe_count) {
        if (period_fs < 2 || !trace_fits(path)) return false;
        last_edge_ = shown_edge_ = edge;
        period_fs_ = period_fs;
        fell_ = reset_ = false;
        busy_edges_ = edges_in_block_ = 0;
        probes_.declare(&shown_edge_, probes, probe_count);
        fst_ = std::make_unique<VerilatedFstC>();
        fst_->set_time_unit("1ns");
        fst_->set_time_resolution("1fs");
        model.trace(fst_.get(), 99);
        probes_.attach(fst_->spTrace());
        fst_->open(path);
        if (!fst_->isOpen()) end();
        return open();
    }

    void end() {
        if (!open()) return;
        fst_->close();
        fst_.reset();
        probes_.clear();
        call_ = nullptr;
    }

    void call(TandemTraceCall call, void* user) {
        call_ = call;
        user_ = user;
    }

    /// Half a period before `edge`. Of the first edge it is not on the time axis.
    void fall(uint64_t edge, const TandemArrayPorts* ports) {
        shown_edge_ = edge;
        if (call_ != nullptr) call_(user_, ports, 0);
        if (fell_) fst_->dump(edge * period_fs_ - period_fs_ / 2);
    }

    void rise(uint64_t edge, const TandemArrayPorts* ports, uint32_t most_busy_edges,
              uint32_t most_edges) {
        last_edge_ = edge;
        if (call_ != nullptr) call_(user_, ports, 1);
        fst_->dump(edge * period_fs_);
        fell_ = true;
        reset_ = false;
        busy_edges_ += ports->busy != 0;
        if (++edges_in_block_ < most_edges && busy_edges_ < most_busy_edges) return;
        fst_->flush();
        busy_edges_ = edges_in_block_ = 0;
    }

    /// The half edges 1 to 4 of a reset that is not counted: behind the last edge, the first time
    /// before the next one.
    void reset(uint64_t half) {
        if (half == 1) show_reset_ = fell_ && !reset_ && period_fs_ >= 10;
        if (show_reset_) fst_->dump(last_edge_ * period_fs_ + half * (period_fs_ / 10));
        reset_ = true;
    }

  private:
    Probes probes_;
    std::unique_ptr<VerilatedFstC> fst_;
    uint64_t last_edge_ = 0, shown_edge_ = 0, period_fs_ = 0;
    bool fell_ = false;   // an edge is on the time axis
    bool reset_ = false;  // and a reset behind it
    bool show_reset_ = false;
    uint32_t busy_edges_ = 0, edges_in_block_ = 0;  // not on the disk yet
    TandemTraceCall call_ = nullptr;
    void* user_ = nullptr;
};

// ---- reading what was written

bool tell_signals(const char* path, TandemSignalCall call, void* user) {
    void* const reader = fstReaderOpen(path);
    if (reader == nullptr) return false;
    std::vector<std::string> scopes{""};
    while (const fstHier* const entry = fstReaderIterateHier(reader)) {
        if (entry->htyp == FST_HT_SCOPE) {
            const auto& scope = entry->u.scope;
            scopes.push_back(scopes.back() + std::string(scope.name, scope.name_length) + ".");
        } else if (entry->htyp == FST_HT_UPSCOPE && scopes.size() > 1) {
            scopes.pop_back();
        } else if (entry->htyp == FST_HT_VAR) {
            const std::string name(entry->u.var.name, entry->u.var.name_length);
            call(user, (scopes.back() + name.substr(0, name.find(' '))).c_str(),
                 entry->u.var.length);
        }
    }
    fstReaderClose(reader);
    return true;
}

bool write_vcd(const char* fst, const char* vcd) {
    void* const reader = fstReaderOpen(fst);
    if (reader == nullptr) return false;
    std::FILE* const file = std::fopen(vcd, "w");
    bool good = file != nullptr && fstReaderProcessHier(reader, file) != 0;
    if (good) {
        fstReaderSetFacProcessMaskAll(reader);
        good = fstReaderIterBlocks(reader, nullptr, nullptr, file) != 0 && std::ferror(file) == 0;
    }
    fstReaderClose(reader);
    return file != nullptr && std::fclose(file) == 0 && good;
}

}  // namespace
