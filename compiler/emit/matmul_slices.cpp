// SPDX-License-Identifier: Apache-2.0
// Products whose input comes in slices of K.
#include <algorithm>

#include "arch/geometry.h"
#include "base/divide.h"
#include "compiler/emit/gather.h"
#include "compiler/emit/matmul_emitter.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

uint64_t MatmulEmitter::slices_of_wave() const {
    return base::divide_up(base::divide_up(window().channels, chip_.mxu.rows), share_.slice_tiles);
}
uint64_t MatmulEmitter::slice_elements(uint64_t slice) const {
    const uint64_t most = share_.slice_tiles * chip_.mxu.rows;
    return std::min(most, window().channels - slice * most);
}

/// Rows that the blocks of a wave read together.
Range MatmulEmitter::rows_of(const Wave& wave) {
    Range rows{wave.front().row, 0};
    for (const Block& block : wave) {
        rows.begin = std::min(rows.begin, block.row);
        rows.end = std::max(rows.end, block.row + block.rows);
    }
    return rows;
}

/// The next slice takes the place of one that is done with.
void MatmulEmitter::multiply_slices(const Wave& wave, uint64_t k_tiles) {
    wave_rows_ = rows_of(wave);
    for (uint64_t slice = 0; slice < slices_of_wave(); ++slice, ++slices_used_) {
        const uint64_t first = slice * share_.slice_tiles;
        use_slice_window(slice);
        multiply_tiles(wave, first, std::min(first + share_.slice_tiles, k_tiles),
                       static_cast<uint32_t>(share_.in_area +
                                             slices_used_ % share_.slice_places * share_.in_piece));
        load_slice(slices_used_ + share_.slice_places);
    }
}

void MatmulEmitter::load_slice(uint64_t slice) {
    const uint64_t wave = slice / slices_of_wave();
    if (wave >= grid().waves()) return;
    const Range rows = rows_of(wave_at(wave));
    const uint64_t row_bytes = window().pixel_bytes(), of_wave = slice % slices_of_wave();
    const uint64_t first = chunk().lines.begin * window().out_w + rows.begin;
    const uint64_t offset = of_wave * share_.slice_tiles * chip_.row_bytes();
    const uint64_t bytes = slice_elements(of_wave) * element_bytes();
    const auto address =
        static_cast<uint32_t>(share_.in_area + slice % share_.slice_places * share_.in_piece);
    if (!share_.gathers)
        return core_.load(
            {kernel_.inputs[0], first * row_bytes + offset, bytes, rows.size(), row_bytes, address},
            node());
    const Gather gather{work().window, {first, first + rows.size()}, offset, bytes, address};
    for (const Transfer& part : gathered(kernel_.inputs[0], gather)) core_.load(part, node());
}

/// The rows of a slice stand in the buffer one behind the other.
void MatmulEmitter::use_slice_window(uint64_t slice) {
    isa::Geometry g = isa::kSinglePixel;
    g.channels = fit<uint16_t>(slice_elements(slice), "elements of a slice");
    g.pixel_stride = fit<uint16_t>(slice_elements(slice) * element_bytes(), "bytes of a slice");
    g.image_stride = g.pixel_stride;
    g.pad_value = window().pad_value;
    core_.use_window(g, node());
}

}  // namespace tandem::compiler
