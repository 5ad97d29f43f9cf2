// SPDX-License-Identifier: Apache-2.0
#include "run/image_observer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::run {

ImageObserver::ImageObserver(const ImageJob& job, const RunOptions& options,
                             sim::UnifiedBuffer& buffer, const Watchers& watchers)
    : CoreObserver(0, view_, watchers),
      job_(job),
      options_(options),
      view_(job.program),
      buffer_(buffer),
      layers_(watchers.layers),
      total_(job.program.instructions.size() * uint64_t{job.runs}) {
    if (job.layers.empty()) return;
    const auto& nodes = job.program.nodes;
    nodes_done_at_.resize(job.program.instructions.size());
    for (uint32_t node = 0; node < nodes.size(); ++node)
        if (nodes[node].in_buffer && nodes[node].last_instruction < nodes_done_at_.size())
            nodes_done_at_[nodes[node].last_instruction].push_back(node);
}

void ImageObserver::on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) {
    ++retired_;
    if (options_.progress) options_.progress(retired_, total_);
    CoreObserver::on_retire(unit, index, start, end);
    if (index >= job_.program.instructions.size()) return;
    if (run_ == 0 && !nodes_done_at_.empty() && !mismatch_) compare_layers(index);
    const uint32_t opcode = isa::opcode_of(job_.program.instructions[index]);
    if (opcode != static_cast<uint32_t>(isa::Opcode::kHalt)) return;
    ++run_;
    layers_.finish_run(end);
}

void ImageObserver::compare_layers(uint32_t index) {
    for (const uint32_t node : nodes_done_at_[index])
        if (!mismatch_) compare_layer(node);
}

// The file holds the outputs of all operators of one sample, in operator order.
void ImageObserver::compare_layer(uint32_t index) {
    const auto& nodes = job_.program.nodes;
    uint64_t offset = 0;
    for (uint32_t before = 0; before < index; ++before)
        offset += nodes[before].output_bytes / job_.program.batch;
    const uint64_t bytes = nodes[index].output_bytes / job_.program.batch;
    if (offset + bytes > job_.layers.size())
        throw UserError("--layers", fmt::format("operator {}", nodes[index].index),
                        fmt::format("{} bytes at offset {}", bytes, offset),
                        fmt::format("a file of {} bytes", job_.layers.size()));
    const uint8_t* actual = buffer_.store().bytes().data() + nodes[index].output_address;
    const auto [wrong, right] =
        std::mismatch(actual, actual + bytes, job_.layers.begin() + static_cast<ptrdiff_t>(offset));
    bytes_compared_ += bytes;
    if (wrong != actual + bytes)
        mismatch_ = LayerMismatch{index, static_cast<uint64_t>(wrong - actual),
                                  static_cast<int8_t>(*right), static_cast<int8_t>(*wrong)};
}

}  // namespace tandem::run
