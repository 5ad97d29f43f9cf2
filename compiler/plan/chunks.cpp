// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/chunks.h"

#include <algorithm>

#include "base/divide.h"

namespace tandem::compiler {

bool ChunkMaker::has_slices() const {
    const MatmulWork* work = kernel_.matmul();
    if (work == nullptr || work->passes != 1 || one_image()) return false;
    if (!(gathered_ ? *gathered_ : work->window).one_to_one()) return false;
    return std::ranges::all_of(
        work->groups, [&](const MatmulGroup& group) { return group.k == work->window.channels; });
}

std::vector<Chunk> ChunkMaker::chunks(const Range& lines, uint64_t most) const {
    std::vector<Chunk> made;
    const auto add = [&](uint64_t begin, uint64_t end) {
        const Range of_chunk{begin, end};
        made.push_back({of_chunk, input(of_chunk)});
    };
    const uint64_t image = lines_per_image();
    uint64_t at = lines.begin;
    while (at < lines.end) {
        const uint64_t whole =
            at % image == 0 && most >= image && !one_image() ? (lines.end - at) / image : 0;
        const uint64_t unit = whole != 0 ? image : 1;
        const uint64_t total =
            whole != 0 ? whole : std::min(lines.end, (at / image + 1) * image) - at;
        const uint64_t count = base::divide_up(total, most / unit);
        for (uint64_t i = 0; i < count; ++i)
            add(at + base::part_begin(total, count, i) * unit,
                at + base::part_begin(total, count, i + 1) * unit);
        at += total * unit;
    }
    return made;
}

uint64_t ChunkMaker::largest_input(uint64_t lines, size_t operand) const {
    const ImageWindow* w = operand == 0 ? gathered_ ? &*gathered_ : kernel_.window() : nullptr;
    if (w == nullptr) return operand_of_lines(kernel_, graph_, operand, {0, lines}).size();
    const uint64_t passes = kernel_.matmul() != nullptr ? kernel_.matmul()->passes : 1;
    if (lines >= w->out_h) return lines / w->out_h * w->image_bytes() * passes;
    const uint64_t reach = (w->kernel_h - 1) * w->dilation_h + 1;
    const uint64_t rows = std::min((lines - 1) * w->stride_h + reach, w->in_h);
    return rows * w->in_line_bytes() * passes;
}

}  // namespace tandem::compiler
