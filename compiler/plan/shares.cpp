// SPDX-License-Identifier: Apache-2.0
// Lines of kernels and the bytes that belong to them (declared in plan.h).
#include <algorithm>
#include <numeric>

#include "base/divide.h"
#include "compiler/plan/buffer.h"
#include "compiler/plan/plan.h"

namespace tandem::compiler {

uint64_t lines_of(const Kernel& kernel) {
    if (const MatmulWork* matmul = kernel.matmul()) return matmul->window.lines();
    return kernel.vector() != nullptr ? kernel.vector()->lines : 0;
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
    // All that lies between several images is read.
    if (first_image == last_image && last_row < first_row) last_row = first_row;
    return {first_image * w.image_bytes() + first_row * w.in_line_bytes(),
            last_image * w.image_bytes() + (last_row + 1) * w.in_line_bytes()};
}

Range output_of_lines(const Kernel& kernel, const KernelGraph& graph, const Range& lines) {
    const uint64_t total = graph.values[kernel.output].bytes;
    if (lines.empty()) return {};
    const VectorWork* vector = kernel.vector();
    const uint64_t line_bytes =
        vector != nullptr ? vector->output_line_bytes : total / lines_of(kernel);
    return {std::min(lines.begin * line_bytes, total), std::min(lines.end * line_bytes, total)};
}

Range operand_of_lines(const Kernel& kernel, const KernelGraph& graph, size_t operand,
                       const Range& lines) {
    if (lines.empty()) return {};
    const Range all{0, graph.values[kernel.inputs[operand]].bytes};
    if (const MatmulWork* matmul = kernel.matmul()) {
        if (operand != 0) return all;  // weights
        // Bytes of one pass, times the passes.
        const Range one = input_of_lines(matmul->window, lines);
        return {one.begin * matmul->passes, one.end * matmul->passes};
    }
    const VectorWork& work = *kernel.vector();
    if (work.window && operand == 0) return input_of_lines(*work.window, lines);
    if (operand < work.input_image_bytes.size() && work.input_image_bytes[operand] != 0) {
        const uint64_t image = work.lines_per_image(), bytes = work.input_image_bytes[operand];
        return {lines.begin / image * bytes, base::divide_up(lines.end, image) * bytes};
    }
    const uint64_t line_bytes = work.input_line_bytes[operand];
    if (line_bytes == 0) return all;
    return {lines.begin * line_bytes, lines.end * line_bytes};
}

ChunkImages chunk_images(const ImageWindow& w, const Chunk& chunk) {
    const uint64_t first = chunk.lines.begin % w.out_h;
    const uint64_t images = chunk.lines.size() / w.out_h;
    if (first == 0 && chunk.lines.size() % w.out_h == 0)
        return {images, w.in_h, w.out_h, w.pad_top};
    // A part of an image is an image of its own; what lies above it is there or is padding.
    uint64_t above = w.pad_top - std::min(w.pad_top, first * w.stride_h);
    // Below the image there is nothing but padding, which may as well lie above it.
    if (first * w.stride_h >= w.pad_top + w.in_h)
        above = (chunk.lines.size() - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h + 1;
    return {1, chunk.input.size() / w.in_line_bytes(), chunk.lines.size(), above};
}

uint64_t result_room(const Kernel& kernel, const KernelGraph& graph, const Range& lines) {
    if (kernel.vector() != nullptr) return lines.size() * kernel.vector()->output_line_bytes;
    return output_of_lines(kernel, graph, lines).size();
}

uint64_t scratch_offset(const VectorWork& work, size_t count, uint64_t lines) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += buffer_aligned(lines * work.scratch_line_bytes[i]);
    return bytes;
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
