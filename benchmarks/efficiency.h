// SPDX-License-Identifier: Apache-2.0
// Single kernels as lists of one layer.
#pragma once

#include <cstdint>

#include "compiler/import/tables/layers.h"

namespace tandem::benchmarks {

/// One product of m x k and k x n, operands and result in device memory.
tables::Workload gemm(uint64_t m, uint64_t k, uint64_t n);

/// One 3x3 convolution with stride 1 and a zero edge, as many filters as channels.
tables::Workload convolution(uint64_t batch, uint64_t height, uint64_t width, uint64_t channels);

}  // namespace tandem::benchmarks
