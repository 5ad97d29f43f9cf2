// SPDX-License-Identifier: Apache-2.0
// Lines of kernels and the bytes that belong to them (declared in plan.h).
#include <algorithm>
#include <numeric>

#include "base/divide.h"
#include "compiler/plan/plan.h"

namespace tandem::compiler {

namespace {

const ImageWindow* window_of(const Kernel& kernel) {
    if (const auto* matmul = std::get_if<MatmulWork>(&kernel.work)) return &matmul->window;
    if (const auto* pool = std::get_if<PoolWork>(&kernel.work)) return &pool->window;
    return nullptr;
}

}  // namespace

uint64_t lines_of(const Kernel& kernel) {
    if (const ImageWindow* window = window_of(kernel)) return window->lines();
    if (const auto* add = std::get_if<AddWork>(&kernel.work)) return add->elements;
    if (const auto* copy = std::get_if<CopyWork>(&kernel.work)) return copy->elements;
    if (const auto* softmax = std::get_if<SoftmaxWork>(&kernel.work)) return softmax->rows;
    return 0;
}

Range input_of_lines(const ImageWindow& w, const Range& lines) {
    if (lines.empty()) return {};
    if (lines.begin % w.out_h == 0 && lines.size() % w.out_h == 0)  // whole images, also below
        return {lines.begin / w.out_h * w.image_bytes(), lines.end / w.out_h * w.image_bytes()};
    const auto line = [&](uint64_t out_row, uint64_t tap) {
        const auto row = static_cast<int64_t>(out_row * w.stride_h + tap * w.dilation_h) -
                         static_cast<int64_t>(w.pad_top);
        return static_cast<uint64_t>(std::clamp<int64_t>(row, 0, static_cast<int64_t>(w.in_h) - 1));
    };
    const uint64_t last = lines.end - 1;
    uint64_t first_row = line(lines.begin % w.out_h, 0);
    uint64_t last_row = line(last % w.out_h, w.kernel_h - 1);
    const uint64_t first_image = lines.begin / w.out_h, last_image = last / w.out_h;
    // Of several images all that lies between them is read.
    if (first_image == last_image && last_row < first_row) last_row = first_row;
    return {first_image * w.image_bytes() + first_row * w.in_line_bytes(),
            last_image * w.image_bytes() + (last_row + 1) * w.in_line_bytes()};
}

Range output_of_lines(const Kernel& kernel, const KernelGraph& graph, const Range& lines) {
    const uint64_t total = graph.values[kernel.output].bytes, count = lines_of(kernel);
    if (lines.empty() || count == 0) return {};
    if (window_of(kernel) == nullptr && !std::holds_alternative<SoftmaxWork>(kernel.work)) {
        // The first elements are the output, which may be smaller.
        const uint64_t element = std::max<uint64_t>(
            1, graph.values[kernel.inputs[0]].bytes / std::max<uint64_t>(count, 1));
        return {std::min(lines.begin * element, total), std::min(lines.end * element, total)};
    }
    const uint64_t line_bytes = total / count;
    return {lines.begin * line_bytes, lines.end * line_bytes};
}

Range operand_of_lines(const Kernel& kernel, const KernelGraph& graph, size_t operand,
                       const Range& lines) {
    if (lines.empty()) return {};
    if (const auto* matmul = kernel.matmul(); matmul != nullptr && matmul->passes > 1) {
        // Bytes of one pass, times the passes.
        const Range one = input_of_lines(matmul->window, lines);
        return {one.begin * matmul->passes, one.end * matmul->passes};
    }
    if (const ImageWindow* window = window_of(kernel)) return input_of_lines(*window, lines);
    const uint64_t line_bytes = graph.values[kernel.inputs[operand]].bytes / lines_of(kernel);
    return {lines.begin * line_bytes, lines.end * line_bytes};
}

uint64_t row_blocks(uint64_t rows, uint64_t tiles, uint32_t block_rows,
                    const arch::ChipConfig& chip) {
    const uint64_t needed = base::divide_up(rows, block_rows);
    if (tiles >= chip.mxu.count) return needed;
    const uint64_t most = std::max<uint64_t>(rows / chip.mxu.rows, 1);
    // So many that the last wave is full, too.
    const uint64_t step = chip.mxu.count / std::gcd(tiles, uint64_t{chip.mxu.count});
    const uint64_t full = base::divide_up(needed, step) * step;
    return std::min(std::max(needed, std::min(full, most)), rows);
}

uint64_t waves(uint64_t blocks, uint64_t tiles, const arch::ChipConfig& chip) {
    const uint64_t full = tiles / chip.mxu.count, rest = tiles % chip.mxu.count;
    return full * blocks + base::divide_up(rest * blocks, chip.mxu.count);
}

}  // namespace tandem::compiler
