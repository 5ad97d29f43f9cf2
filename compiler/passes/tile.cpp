// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/tile.h"

#include <algorithm>
#include <cstring>

#include "compiler/cut.h"

namespace tandem::compiler {

namespace {

constexpr uint32_t kMostParts = 4;
constexpr uint32_t kLeastPartRows = 64;

/// The K tiles of columns n_start.. of a group, zero padded.
void append_tiles(const MatmulGroup& group, uint32_t n_start, uint32_t n_len,
                  const arch::ChipConfig::Mxu& mxu, std::vector<uint8_t>& out) {
    const size_t element = arch::element_bytes(mxu.dtype);
    for (uint32_t k_start = 0; k_start < group.k; k_start += mxu.rows) {
        const size_t base = out.size();
        out.resize(base + mxu.tile_bytes());
        const uint32_t k_len = std::min(mxu.rows, group.k - k_start);
        for (uint32_t k = 0; k < k_len; ++k)
            std::memcpy(out.data() + base + size_t{k} * mxu.cols * element,
                        group.weights.data() + (size_t{k_start + k} * group.n + n_start) * element,
                        n_len * element);
    }
}

}  // namespace

TilePlan plan_tiles(const MatmulOp& op, const arch::ChipConfig::Mxu& mxu) {
    TilePlan plan;
    const uint64_t m_blocks = divide_up(op.rows, std::max(1u, mxu.accumulator_rows / 2));
    for (uint32_t g = 0; g < op.groups.size(); ++g) {
        const MatmulGroup& group = op.groups[g];
        for (uint32_t n_start = 0; n_start < group.n; n_start += mxu.cols) {
            MatmulBlock block{
                .group = g, .n_start = n_start, .n_len = std::min(mxu.cols, group.n - n_start)};
            block.first_tile = static_cast<uint32_t>(plan.weights.size() / mxu.tile_bytes());
            block.k_tiles = static_cast<uint32_t>(divide_up(group.k, mxu.rows));
            append_tiles(group, n_start, block.n_len, mxu, plan.weights);
            for (uint64_t m = 0; m < m_blocks; ++m) {
                block.m_start = part_begin(op.rows, m_blocks, m);
                block.m_len = static_cast<uint32_t>(part(op.rows, m_blocks, m));
                block.loads_weights = m == 0 || block.k_tiles > 1;
                plan.blocks.push_back(block);
            }
        }
    }
    for (uint32_t b = 0; b < plan.blocks.size(); ++b) {
        const MatmulBlock& block = plan.blocks[b];
        if (!block.loads_weights) continue;
        WeightRun* last = plan.runs.empty() ? nullptr : &plan.runs.back();
        if (last != nullptr && last->first_tile + last->tiles == block.first_tile)
            last->tiles += block.k_tiles;
        else
            plan.runs.push_back({block.first_tile, block.k_tiles, b});
    }
    return plan;
}

std::vector<uint32_t> split_rows(uint32_t rows, const arch::ChipConfig::Mxu& mxu) {
    const uint32_t least = std::max(kLeastPartRows, mxu.rows + mxu.cols);
    const uint32_t parts = std::clamp(rows / least, 1u, kMostParts);
    std::vector<uint32_t> sizes;
    for (uint32_t i = 0; i < parts; ++i)
        sizes.push_back(static_cast<uint32_t>(part(rows, parts, i)));
    return sizes;
}

}  // namespace tandem::compiler
