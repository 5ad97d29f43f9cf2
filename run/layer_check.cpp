// SPDX-License-Identifier: Apache-2.0
#include "run/layer_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tandem::run {

LayerCheck::LayerCheck(const arch::Program& program, const std::vector<uint8_t>& expected,
                       bool keep, Bytes bytes)
    : program_(program), expected_(expected), bytes_(std::move(bytes)) {
    if (expected.empty() && !keep) return;
    if (keep) kept_.resize(program.nodes.size());
    for (const auto& core : program.cores) completed_at_.emplace_back(core.instructions.size());
    for (uint32_t node = 0; node < program.nodes.size(); ++node) {
        const auto& parts = program.nodes[node].parts;
        parts_left_.push_back(parts.size());
        for (const arch::NodePart& part : parts)
            completed_at_.at(part.core).at(part.last_instruction).push_back({node, &part});
    }
}

void LayerCheck::retired(uint32_t core, uint32_t index) {
    if (completed_at_.empty() || index >= completed_at_[core].size()) return;
    auto& completed = completed_at_[core][index];
    for (const auto& [node, part] : completed) {
        --parts_left_[node];
        if (program_.nodes[node].place == Place::kBuffer)
            complete(node, *part);
        else if (parts_left_[node] == 0)
            complete(node, {.core = core, .bytes = program_.nodes[node].output_bytes});
    }
    completed.clear();  // in a loop it may come again
}

void LayerCheck::complete(uint32_t index, const arch::NodePart& part) {
    if (!expected_.empty()) compare(index, part);
    if (kept_.empty()) return;
    const arch::ProgramNode& node = program_.nodes[index];
    const auto bytes = bytes_(node.place, part.core).subspan(node.output_address, part.bytes);
    kept_[index].resize(node.output_bytes);
    std::ranges::copy(bytes, kept_[index].begin() + static_cast<ptrdiff_t>(part.offset));
}

void LayerCheck::compare(uint32_t index, const arch::NodePart& part) {
    if (mismatch_) return;
    uint64_t first = 0;  // of the node among the expected bytes
    for (uint32_t before = 0; before < index; ++before)
        first += program_.nodes[before].output_bytes / program_.batch;
    const arch::ProgramNode& node = program_.nodes[index];
    const uint64_t sample = node.output_bytes / program_.batch;
    if (first + sample > expected_.size())
        throw UserError("--layers", fmt::format("operator {}", node.index),
                        fmt::format("{} bytes at offset {}", sample, first),
                        fmt::format("a file of {} bytes", expected_.size()));
    if (part.offset >= sample) return;
    const uint64_t bytes = std::min(part.bytes, sample - part.offset);
    const auto actual = bytes_(node.place, part.core).subspan(node.output_address, bytes);
    const auto wanted = std::span(expected_).subspan(first + part.offset, bytes);
    bytes_compared_ += bytes;
    const auto [wrong, right] = std::ranges::mismatch(actual, wanted);
    if (wrong != actual.end())
        mismatch_ =
            LayerMismatch{index, part.offset + static_cast<uint64_t>(wrong - actual.begin()),
                          static_cast<int8_t>(*right), static_cast<int8_t>(*wrong)};
}

}  // namespace tandem::run
