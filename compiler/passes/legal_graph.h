// SPDX-License-Identifier: Apache-2.0
// A network in terms of the machine: weight matrices, vector operations, buffers. No addresses yet.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "arch/generated/isa.h"
#include "arch/numerics.h"
#include "compiler/passes/quantise.h"

namespace tandem::compiler {

using BufferId = uint32_t;

/// An activation of the whole batch, images (or rows) one after the other without gaps.
struct Buffer {
    std::string name;
    uint64_t bytes = 0;
};

/// One weight matrix and the window through which its activations are read.
struct MatmulGroup {
    isa::Geometry window;
    uint32_t in_channel = 0;   ///< first channel that the window reads
    uint32_t out_channel = 0;  ///< channel of column 0
    uint32_t k = 0;            ///< rows: kernel_h * kernel_w * channels of the window
    uint32_t n = 0;            ///< columns: output channels
    /// Columns to which one element of the reduction contributes: n, or the depth multiplier.
    uint32_t useful_n = 0;
    /// k x n elements of the array's type: int8, or bf16 of two bytes each.
    std::vector<int8_t> weights;
};

/// rows x k times k x n for each group. int8: then bias and requantisation per output channel;
/// bf16: rounded to bf16.
struct MatmulOp {
    uint64_t rows = 0;  ///< output positions of the whole batch
    uint32_t out_channels = 0;
    OutputRange range;
    std::vector<MatmulGroup> groups;
};

struct AddOp {
    uint64_t elements = 0;
};

enum class PoolKind : uint8_t { kMax = 0, kAverage = 1, kMean = 2 };

struct PoolOp {
    isa::Geometry window;
    uint64_t images = 0;
    PoolKind kind = PoolKind::kMax;
    OutputRange range;
};

struct SoftmaxOp {
    uint64_t rows = 0;
    uint32_t cols = 0;
};

/// The output is the input buffer under another shape.
struct AliasOp {};

struct LegalNode {
    uint32_t index = 0;  ///< position in the source file
    std::string op;
    std::string name;
    std::string text;  ///< describe() of the source node, for messages
    std::vector<BufferId> inputs;
    BufferId output = 0;
    std::variant<MatmulOp, AddOp, PoolOp, SoftmaxOp, AliasOp> work;
    std::vector<uint8_t> params;  ///< the block that the vector unit reads; may be empty
    uint64_t macs = 0;            ///< useful ones, whole batch
};

struct LegalGraph {
    std::string file;  ///< for messages
    uint32_t batch = 1;
    Rounding rounding = Rounding::kSingle;
    std::vector<Buffer> buffers;
    std::vector<LegalNode> nodes;
    std::vector<BufferId> inputs;
    std::vector<BufferId> outputs;
};

}  // namespace tandem::compiler
