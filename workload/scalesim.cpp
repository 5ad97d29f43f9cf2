// SPDX-License-Identifier: Apache-2.0
#include "workload/scalesim.h"

#include <algorithm>

namespace tandem::workload {
namespace {

uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

bool has_product(const Layer& layer) { return layer.m != 0 && layer.k != 0 && layer.n != 0; }

/// Weight tiles of one group.
uint64_t tiles(const Layer& layer, uint32_t rows, uint32_t cols) {
    return ceil_div(layer.k, rows) * ceil_div(layer.n, cols);
}

}  // namespace

uint64_t weight_tiles(const Layer& layer, uint32_t rows, uint32_t cols) {
    return tiles(layer, rows, cols) * layer.groups;
}

uint64_t scalesim_ws_cycles(const Layer& layer, uint32_t rows, uint32_t cols) {
    if (!has_product(layer)) return 0;
    const uint64_t fold = 2 * uint64_t{rows} + cols + layer.m - 2;
    return (tiles(layer, rows, cols) * fold - 1) * layer.groups * layer.repeat;
}

uint64_t double_buffered_cycles(const Layer& layer, uint32_t rows, uint32_t cols) {
    if (!has_product(layer)) return 0;
    const uint64_t m = layer.m * layer.passes;
    const uint64_t steady = std::max(m, uint64_t{rows} + 1);
    const uint64_t after_first = (weight_tiles(layer, rows, cols) - 1) * steady;
    return (2 * uint64_t{rows} + cols + m + after_first) * layer.repeat;
}

}  // namespace tandem::workload
