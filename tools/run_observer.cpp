// SPDX-License-Identifier: Apache-2.0
#include "tools/run_observer.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "arch/error.h"
#include "systemc/kernel/unit.h"

namespace tandem::tools {

namespace {
constexpr uint64_t kMaxTraceEvents = 2'000'000;  // some 200 MB; later ones are left out
}

RunObserver::RunObserver(const arch::ChipConfig& chip, const arch::Program& program, uint32_t runs,
                         const SessionOptions& options, sim::UnifiedBuffer& buffer,
                         WaveWindow& wave)
    : chip_(chip),
      program_(program),
      options_(options),
      buffer_(buffer),
      wave_(wave),
      total_(program.instructions.size() * uint64_t{runs}),
      spans_(program.nodes.size()),
      layers_(program.nodes.size()),
      nodes_done_at_(program.instructions.size()) {
    for (uint32_t node = 0; node < program.nodes.size(); ++node)
        if (program.nodes[node].last_instruction < nodes_done_at_.size())
            nodes_done_at_[program.nodes[node].last_instruction].push_back(node);
    if (options_.trace_path.empty()) return;
    trace_.open(options_.trace_path);
    if (!trace_) throw UserError(options_.trace_path + ": cannot be written");
    trace_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (size_t unit = 0; unit < isa::kUnitNames.size(); ++unit)
        fmt::print(trace_,
                   "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":{},\"args\":{{"
                   "\"name\":\"{}\"}}}},\n",
                   unit, isa::kUnitNames[unit]);
}

RunObserver::~RunObserver() {
    if (trace_.is_open())
        trace_ << "{\"name\":\"end\",\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":0}]}\n";
}

void RunObserver::on_start(isa::Unit, uint32_t index, sim::Cycle start) {
    wave_.on_start(index, start);
}

void RunObserver::on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) {
    ++retired_;
    wave_.on_retire(index, end);
    if (options_.progress) options_.progress(retired_, total_);
    if (index >= program_.sources.size()) return;
    if (trace_.is_open()) trace(unit, index, start, end);
    if (const int32_t node = program_.sources[index].node;
        node >= 0 && static_cast<size_t>(node) < spans_.size()) {
        Span& span = spans_[static_cast<size_t>(node)];
        span.first = std::min(span.first, start);
        span.last = std::max(span.last, end);
    }
    if (run_ == 0 && !options_.layers.empty() && !mismatch_) compare_layers(index);
    if ((program_.instructions[index][0] & 0xff) == static_cast<uint32_t>(isa::Opcode::kHalt))
        finish_run();
}

void RunObserver::finish_run() {
    ++run_;
    for (size_t node = 0; node < spans_.size(); ++node) {
        if (spans_[node].last > spans_[node].first)
            layers_[node].cycles += spans_[node].last - spans_[node].first;
        spans_[node] = {};
    }
}

// The file holds the outputs of all operators of one sample, in operator order.
void RunObserver::compare_layers(uint32_t index) {
    for (const uint32_t node : nodes_done_at_[index]) {
        uint64_t offset = 0;
        for (uint32_t before = 0; before < node; ++before)
            offset += program_.nodes[before].output_bytes / program_.batch;
        const uint64_t bytes = program_.nodes[node].output_bytes / program_.batch;
        if (offset + bytes > options_.layers.size())
            throw UserError("--layers", fmt::format("operator {}", program_.nodes[node].index),
                            fmt::format("{} bytes at offset {}", bytes, offset),
                            fmt::format("a file of {} bytes", options_.layers.size()));
        const uint8_t* actual =
            buffer_.store().bytes().data() + program_.nodes[node].output_address;
        const auto [wrong, right] = std::mismatch(
            actual, actual + bytes, options_.layers.begin() + static_cast<ptrdiff_t>(offset));
        bytes_compared_ += bytes;
        if (wrong == actual + bytes) continue;
        mismatch_ = LayerMismatch{node, static_cast<uint64_t>(wrong - actual),
                                  static_cast<int8_t>(*right), static_cast<int8_t>(*wrong)};
        return;
    }
}

void RunObserver::trace(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) {
    if (++trace_events_ > kMaxTraceEvents) return;
    const auto microseconds = [&](sim::Cycle cycles) {
        return static_cast<double>(cycles) * 1e6 / static_cast<double>(chip_.clock_hz);
    };
    const auto& source = program_.sources[index];
    const std::string node =
        source.node >= 0
            ? fmt::format("#{} {}", program_.nodes[static_cast<size_t>(source.node)].index,
                          program_.nodes[static_cast<size_t>(source.node)].op)
            : std::string("program");
    fmt::print(trace_,
               "{{\"name\":\"{} "
               "{}\",\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{:.6f},\"dur\":{:.6f},\"args\":{{"
               "\"instruction\":{},\"m\":{},\"n\":{},\"k\":{},\"cycle\":{}}}}},\n",
               node, sim::mnemonic(program_.instructions[index][0] & 0xff), static_cast<int>(unit),
               microseconds(start), microseconds(std::max(end, start + 1) - start), index,
               source.m_start, source.n_start, source.k_start, start);
}

void RunObserver::collect(SessionResult& result) const {
    result.layers = layers_;
    result.layer_bytes_compared = bytes_compared_;
    result.layer_mismatch = mismatch_;
}

}  // namespace tandem::tools
