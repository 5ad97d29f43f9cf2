// SPDX-License-Identifier: Apache-2.0
#include "run/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cosim/checkpoint.h"
#include "systemc/kernel/unit.h"

namespace tandem::run {
namespace {

constexpr uint64_t kMostEvents = 2'000'000;  // some 200 MB; later ones are left out

/// As it stands inside the quotes of a JSON text; names come from other people's files.
std::string escaped(const std::string& name) {
    const std::string text =
        nlohmann::json(name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    return text.substr(1, text.size() - 2);
}

/// The array that an instruction is for; 0 where it does not say.
uint64_t array_of(const isa::Words& words) {
    for (const auto& info : isa::kInstructions) {
        if (static_cast<uint32_t>(info.opcode) != isa::opcode_of(words)) continue;
        for (uint32_t i = 0; i < info.field_count; ++i)
            if (info.fields[i].name == "mxu") return isa::get(words, info.fields[i].position);
    }
    return 0;
}

}  // namespace

void Timeline::finish() {
    if (!open()) return;
    file_->write("{\"name\":\"end\",\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":0}]}\n");
    file_->commit();
    file_.reset();
}

void Timeline::begin(sim::TpuChip& chip, uint64_t clock_hz) {
    if (path_.empty()) return;
    us_per_cycle_ = 1e6 / static_cast<double>(clock_hz);
    file_.emplace(path_);
    file_->write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (const RunNode& node : nodes_)
        node_names_.push_back(escaped(fmt::format("#{} {}", node.index, node.op)));
    const auto name = [&](const char* what, size_t core, size_t track, std::string_view text) {
        file_->write(
            fmt::format("{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{"
                        "\"name\":\"{}\"}}}},\n",
                        what, core, track, text));
    };
    for (size_t core = 0; core < chip.cores(); ++core) {
        name("process_name", core, 0, fmt::format("core{}", core));
        std::vector<isa::Unit> tracks;
        for (const sim::Unit* unit : chip.core(core).units()) {
            name("thread_name", core, tracks.size(), unit->basename());
            tracks.push_back(unit->unit());
        }
        name("thread_name", core, tracks.size(), "sequencer");
        tracks.push_back(isa::Unit::kSequencer);
        tracks_.push_back(std::move(tracks));
    }
}

size_t Timeline::track_of(uint32_t core, isa::Unit unit, const isa::Words& words) const {
    const auto& tracks = tracks_[core];
    uint64_t skip = array_of(words);
    size_t first = tracks.size();
    for (size_t track = 0; track < tracks.size(); ++track) {
        if (tracks[track] != unit) continue;
        first = std::min(first, track);
        if (skip-- == 0) return track;
    }
    return first;  // the vector unit serves all arrays
}

void Timeline::add(uint32_t core, isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end,
                   const ProgramView& program) {
    // A copy of the simulation that repeats a part of it would write to the same file.
    if (++events_ > kMostEvents || cosim::Checkpoint::revived()) return;
    end = std::max(end, start + 1) - origin_;
    start -= origin_;
    const arch::InstructionSource source = program.source(index);
    const isa::Words words = program.words(index);
    const auto node = static_cast<size_t>(source.node);
    const std::string_view name =
        source.node >= 0 && node < nodes_.size() ? node_names_[node] : std::string_view("program");
    file_->write(fmt::format(
        "{{\"name\":\"{} "
        "{}\",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.6f},\"dur\":{:.6f},\"args\":{{"
        "\"instruction\":{},\"m\":{},\"n\":{},\"k\":{},\"cycle\":{}}}}},\n",
        name, sim::mnemonic(isa::opcode_of(words)), core, track_of(core, unit, words),
        us_per_cycle_ * static_cast<double>(start),
        us_per_cycle_ * static_cast<double>(end - start), index, source.m_start, source.n_start,
        source.k_start, start));
}

}  // namespace tandem::run
