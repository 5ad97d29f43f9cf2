// SPDX-License-Identifier: Apache-2.0
// A graph in terms of the machine: kernels over values. No cores, no addresses yet.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "arch/numerics.h"
#include "compiler/graph/graph.h"
#include "compiler/lower/quantise.h"
#include "compiler/lower/vector_work.h"

namespace tandem::compiler {

using ValueId = uint32_t;

/// An activation of the whole batch, images (or rows) one after the other without gaps.
struct Value {
    std::string name;
    TensorId tensor = 0;
    uint64_t bytes = 0;
    bool is_input = false, is_output = false;  ///< of the graph
    Memory home = Memory::kHost;               ///< of a graph input or output
    bool is_internal = false;  ///< between kernels of one node; `tensor` is the node's output
    bool is_tiles = false;     ///< goes to the arrays as weights, never into the buffer
};

/// One weight matrix and the channels that its window reads.
struct MatmulGroup {
    uint32_t in_channel = 0, channels = 0;
    uint32_t out_channel = 0;  ///< channel of column 0
    uint32_t k = 0;            ///< rows: kernel_h * kernel_w * channels
    uint32_t n = 0;            ///< columns: output channels
    /// Columns to which one element of the reduction contributes: n, or less of block-diagonal
    /// ones.
    uint32_t useful_n = 0;
    /// What of useful_n is counted for some of the columns: for all of them together it is
    /// useful_n.
    uint32_t useful_columns(uint32_t first, uint32_t count) const {
        const auto before = [&](uint64_t columns) { return columns * useful_n / n; };
        return static_cast<uint32_t>(before(uint64_t{first} + count) - before(first));
    }
    /// k x n elements of the array's type; empty: no data, or weights_per_image.
    std::vector<uint8_t> weights;
};

/// What becomes of sums that are not requantised: int32 ones go through the chain and out as they
/// are, `wide`. fp32 sums: a bias of the parameter block, which has an fp32 for each channel,
/// then ReLU or a chain; rounded to bf16, or `wide` and not.
struct FloatDrain {
    bool has_bias = false, relu = false, wide = false;
    Chain chain;  ///< where it has steps: of the sum, a, and the bias, b
};

/// rows x k times k x n for each group. int8: then bias and requantisation per output channel.
struct MatmulWork {
    ImageWindow window;
    uint32_t out_channels = 0;
    uint32_t out_element_bytes = 1;  ///< of an output channel, all passes
    OutputRange range;               ///< of int8
    FloatDrain floats;               ///< of a bf16 array, or int32 sums
    uint32_t passes = 1;  ///< of the array; 2 for 16-bit activations on an 8-bit array, timing only
    std::vector<MatmulGroup> groups;
    uint32_t packed_pixels = 1;  ///< of the tensors, side by side in a row (plan/packing.h)
    /// One group, whose weights are the kernel's second input: for each image its tiles, column
    /// tile by column tile. A chunk has rows of one image.
    bool weights_per_image = false;
};

/// The output is another tensor, with values of its own; it takes the input's place.
struct EdgeWork {};

/// The output is the input under another shape.
struct AliasWork {};

struct Kernel {
    uint32_t node = 0;   ///< index into Graph::nodes
    uint32_t index = 0;  ///< position in the source
    std::string op, name;
    std::string text;  ///< file and describe() of the node, for messages
    std::vector<ValueId> inputs;
    ValueId output = 0;
    std::variant<MatmulWork, VectorWork, EdgeWork, AliasWork> work;
    uint64_t params_bytes = 0;  ///< of the block that the vector unit reads; 0: none
    /// All channels of a product have the same parameters, so that the block is one column tile's.
    bool params_uniform = false;
    std::vector<uint8_t> params;  ///< the block itself; empty where the graph has no data
    uint64_t repeat = 1;
    uint64_t macs = 0;  ///< useful ones, whole batch, all repeats

    const MatmulWork* matmul() const { return std::get_if<MatmulWork>(&work); }
    const VectorWork* vector() const { return std::get_if<VectorWork>(&work); }
    /// Null: lines are not those of images.
    const ImageWindow* window() const {
        if (matmul() != nullptr) return &matmul()->window;
        return vector() != nullptr && vector()->window ? &*vector()->window : nullptr;
    }
    /// What comes through the buffer: all but weights.
    std::span<const ValueId> operands() const {
        return {inputs.data(), matmul() != nullptr ? 1 : inputs.size()};
    }
    bool is_alias() const { return std::holds_alternative<AliasWork>(work); }
    bool is_edge() const { return std::holds_alternative<EdgeWork>(work); }
};

struct KernelGraph {
    std::string file;  ///< for messages
    std::string name;  ///< for reports
    uint32_t batch = 1;
    numerics::Rounding rounding = numerics::Rounding::kSingle;
    bool has_data = false;  ///< all constants have values, and every kernel's are defined
    bool chained = false;   ///< some kernel reads what another one wrote
    uint64_t host_input_bytes = 0, host_output_bytes = 0;  ///< 0: what the values hold
    std::vector<Value> values;
    std::vector<Kernel> kernels;
    std::vector<ValueId> inputs, outputs;
};

}  // namespace tandem::compiler
