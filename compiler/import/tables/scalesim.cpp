// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tables/scalesim.h"

#include <algorithm>

#include "base/divide.h"

namespace tandem::tables {
namespace {

bool has_product(const compiler::Counts& layer) {
    return layer.m != 0 && layer.k != 0 && layer.n != 0;
}

/// Weight tiles of one group.
uint64_t tiles(const compiler::Counts& layer, uint32_t rows, uint32_t cols) {
    return base::divide_up(layer.k, rows) * base::divide_up(layer.n, cols);
}

}  // namespace

uint64_t weight_tiles(const compiler::Counts& layer, uint32_t rows, uint32_t cols) {
    return tiles(layer, rows, cols) * layer.groups;
}

uint64_t scalesim_ws_cycles(const compiler::Counts& layer, uint32_t rows, uint32_t cols) {
    if (!has_product(layer)) return 0;
    const uint64_t fold = 2 * uint64_t{rows} + cols + layer.m - 2;
    return (tiles(layer, rows, cols) * fold - 1) * layer.groups * layer.repeat;
}

uint64_t double_buffered_cycles(const compiler::Counts& layer, uint32_t rows, uint32_t cols) {
    if (!has_product(layer)) return 0;
    const uint64_t m = layer.m * layer.passes;
    const uint64_t steady = std::max(m, uint64_t{rows} + 1);
    const uint64_t after_first = (weight_tiles(layer, rows, cols) - 1) * steady;
    return (2 * uint64_t{rows} + cols + m + after_first) * layer.repeat;
}

}  // namespace tandem::tables
