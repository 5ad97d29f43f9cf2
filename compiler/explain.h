// SPDX-License-Identifier: Apache-2.0
// What a plan does with each kernel, beside what no plan can go below.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/plan/bounds.h"

namespace tandem::compiler {

/// What is told of a kernel that has work; ways and pieces are those of the core that has most
/// chunks.
struct KernelExplanation {
    uint32_t index = 0;  ///< position in the source
    std::string op, name;
    uint32_t cores = 0;      ///< that take part
    std::string_view split;  ///< among them: lines, columns; empty: one core
    uint32_t arrays = 0;     ///< of a core, at most; 0: none
    uint32_t rounds = 1;     ///< in which the batch comes
    uint32_t pixels = 1;     ///< of the tensors, packed into a row of the product
    uint64_t chunks = 0, blocks = 0;
    uint32_t block_rows = 0;                 ///< at most
    std::string_view in, out;                ///< ways
    bool gathers = false;                    ///< only pixels that are read come
    bool in_cmem = false, out_cmem = false;  ///< go through CMEM, not device memory
    double cycles = 0;  ///< that the closed form predicts, all rounds; 0: it was not asked
    Bounds bounds;
};

std::vector<KernelExplanation> explain(const Planned& planned);

/// A line for each kernel.
std::string explanation_text(const std::vector<KernelExplanation>& kernels);

}  // namespace tandem::compiler
