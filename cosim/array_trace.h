// SPDX-License-Identifier: Apache-2.0
// The waveform of array_shim.cpp: whether a file can take it, and the signals of the model that
// stand in it beside those of the RTL.
#pragma once

#include <sys/stat.h>
#include <verilated_fst_c.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
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
    void declare(const TandemProbe* probes, size_t count) {
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

}  // namespace
