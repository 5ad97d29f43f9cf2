// SPDX-License-Identifier: Apache-2.0
#include "compiler/data.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tandem::compiler {

namespace {

/// The K tiles of a column tile, zero padded, one behind the other.
void write_tiles(const MatmulGroup& group, const ColumnTile& tile, const arch::ChipConfig::Mxu& mxu,
                 uint8_t* out) {
    const size_t element = arch::element_bytes(mxu.dtype);
    for (uint32_t k = 0; k < group.k; ++k)
        std::memcpy(out + size_t{k} * mxu.cols * element,
                    group.weights.data() + (size_t{k} * group.n + tile.n_start) * element,
                    tile.n_len * element);
}

}  // namespace

std::vector<DataPiece> make_data(const Planned& planned) {
    const Plan& plan = planned.plan;
    if (!planned.kernels.has_data) throw std::logic_error("data of a graph that has none");
    std::vector<DataPiece> pieces(1);
    pieces[0].bytes.resize(plan.data_bytes);
    uint64_t weights_base = 0;
    if (plan.weights_in_cmem) {
        uint64_t first = UINT64_MAX, end = 0;
        for (const KernelPlan& kernel : plan.kernels) {
            if (kernel.data_tiles == 0) continue;
            first = std::min(first, kernel.weight_offset);
            end =
                std::max(end, kernel.weight_offset + kernel.data_tiles * planned.chip.tile_bytes());
        }
        weights_base = first;
        pieces.push_back({first, std::vector<uint8_t>(end - first)});
    }
    for (size_t k = 0; k < plan.kernels.size(); ++k) {
        const Kernel& kernel = planned.kernels.kernels[k];
        std::ranges::copy(kernel.params, pieces[0].bytes.begin() +
                                             static_cast<ptrdiff_t>(plan.kernels[k].params_offset));
        if (plan.kernels[k].data_tiles == 0) continue;
        for (const ColumnTile& tile : plan.kernels[k].tiles)
            write_tiles(kernel.matmul()->groups[tile.group], tile, planned.chip.mxu,
                        pieces.back().bytes.data() +
                            (plan.kernels[k].weight_offset - weights_base) +
                            tile.first_tile * planned.chip.tile_bytes());
    }
    return pieces;
}

}  // namespace tandem::compiler
