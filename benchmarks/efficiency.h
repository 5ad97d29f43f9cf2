// SPDX-License-Identifier: Apache-2.0
// Single kernels on whole chips: how near they come to the chip's peak, and to what its memory
// allows.
#pragma once

#include <cstdint>
#include <string>

#include "arch/chip_config.h"
#include "compiler/import/tables/layers.h"
#include "run/graph_run.h"

namespace tandem::benchmarks {

/// One product of m x k and k x n, operands and result in device memory.
workload::Workload gemm(uint64_t m, uint64_t k, uint64_t n);

/// One 3x3 convolution with stride 1 and a zero edge, as many filters as channels.
workload::Workload convolution(uint64_t batch, uint64_t height, uint64_t width, uint64_t channels);

/// The least seconds in which a chip can do the only layer of a workload: its multiply-accumulates
/// at peak, or every operand moved once, whichever is longer. Weights that have room in a second
/// on-chip memory come from there.
double roofline_seconds(const workload::Workload& kernel, const arch::ChipConfig& chip);

/// Bytes of operands and result, each once, as they stand in device memory.
uint64_t compulsory_bytes(const workload::Workload& kernel, const arch::ChipConfig& chip);

}  // namespace tandem::benchmarks
