// SPDX-License-Identifier: Apache-2.0
// One product C[M,N] = A[M,K] x B[K,N] of seeded random matrices, as a program for a chip with its
// input, and by plain loops. int8: B has the range of TFLite's weights, C is requantised to int8.
// bf16: normally distributed numbers, C rounded to bf16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "compiler/graph/graph.h"
#include "compiler/pipeline.h"
#include "compiler/plan/bounds.h"
#include "compiler/plan/plan.h"

namespace tandem::jobs {

struct GemmSize {
    uint32_t m = 0, k = 0, n = 0;
    std::string to_string() const;  ///< "gemm 4x5x6"
};

struct GemmProduct {
    GemmSize size;
    arch::ChipConfig chip;
    arch::Program program;                 ///< for the first core with all of its arrays
    std::vector<compiler::Bounds> bounds;  ///< of its nodes
    /// One FULLY_CONNECTED with its values.
    compiler::Graph graph;
    std::vector<uint8_t> inputs;  ///< A, row after row

    /// B by columns.
    const std::vector<uint8_t>& weights() const { return graph.tensors[1].bytes(); }
};

/// In place of seeded ones, which an empty matrix stands for; elements of the chip's array type.
struct GemmMatrices {
    std::vector<uint8_t> a{}, b{};  ///< both row after row
    float multiplier = 0;           ///< int8: of the sums; 0: seeded_weight_scale()
};

/// Throws UserError when a matrix has no room in unified buffer, device or host memory.
void check_sizes(const GemmSize& size, const arch::ChipConfig& chip);

/// Elements of the chip's array type. Throws UserError, before anything is made, when a matrix has
/// no room in unified buffer, device or host memory.
GemmProduct make_gemm(const GemmSize& size, const arch::ChipConfig& chip, uint64_t seed,
                      compiler::PlanMode plan = compiler::PlanMode::kSearch,
                      const GemmMatrices& matrices = {});

/// C from the matrices alone.
std::vector<uint8_t> plain_product(const GemmProduct& product);

}  // namespace tandem::jobs
