// SPDX-License-Identifier: Apache-2.0
// A graph in terms of the machine: kernels over values. No cores, no addresses yet.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "arch/numerics.h"
#include "compiler/graph/graph.h"
#include "compiler/lower/quantise.h"

namespace tandem::compiler {

using ValueId = uint32_t;

/// An activation of the whole batch, images (or rows) one after the other without gaps.
struct Value {
    std::string name;
    TensorId tensor = 0;
    uint64_t bytes = 0;
    bool is_input = false, is_output = false;  ///< of the graph
    Memory home = Memory::kHost;               ///< of a graph input or output
};

/// How a kernel moves over images; every size as the graph has it. A matrix product reads images of
/// one pixel.
struct ImageWindow {
    uint64_t images = 1;
    uint64_t in_h = 1, in_w = 1;
    uint64_t channels = 1;  ///< of a pixel
    uint64_t kernel_h = 1, kernel_w = 1;
    uint64_t stride_h = 1, stride_w = 1;
    uint64_t dilation_h = 1, dilation_w = 1;
    uint64_t pad_top = 0, pad_left = 0;
    uint64_t out_h = 1, out_w = 1;
    uint32_t element_bytes = 1;
    int8_t pad_value = 0;

    /// Output rows of an image are lines; work is shared out in lines.
    uint64_t lines() const { return images * out_h; }
    uint64_t rows() const { return lines() * out_w; }
    uint64_t pixel_bytes() const { return channels * element_bytes; }
    uint64_t in_line_bytes() const { return in_w * pixel_bytes(); }
    uint64_t image_bytes() const { return in_h * in_line_bytes(); }
    /// Every output position reads the pixel at its own place and no other: input and output rows
    /// are the same ones, and K can be cut anywhere.
    bool one_to_one() const {
        return kernel_h == 1 && kernel_w == 1 && stride_h == 1 && stride_w == 1 && pad_top == 0 &&
               pad_left == 0 && in_h == out_h && in_w == out_w;
    }
};

/// One weight matrix and the channels that its window reads.
struct MatmulGroup {
    uint32_t in_channel = 0, channels = 0;
    uint32_t out_channel = 0;  ///< channel of column 0
    uint32_t k = 0;            ///< rows: kernel_h * kernel_w * channels
    uint32_t n = 0;            ///< columns: output channels
    /// Columns to which one element of the reduction contributes: n, or the depth multiplier.
    uint32_t useful_n = 0;
    std::vector<uint8_t> weights;  ///< k x n elements of the array's type; empty: no data
};

/// rows x k times k x n for each group. int8: then bias and requantisation per output channel;
/// bf16: rounded to bf16.
struct MatmulWork {
    ImageWindow window;
    uint32_t out_channels = 0;
    OutputRange range;
    uint32_t passes = 1;  ///< of the array; 2 for 16-bit activations on an 8-bit array, timing only
    std::vector<MatmulGroup> groups;
};

/// Sum of two values, element by element; of one with itself.
struct AddWork {
    uint64_t elements = 0;
};

enum class PoolKind : uint8_t { kMax = 0, kAverage = 1, kMean = 2 };

struct PoolWork {
    ImageWindow window;
    PoolKind kind = PoolKind::kMax;
    OutputRange range;
};

/// One pass of the vector unit that leaves the elements as they are.
struct CopyWork {
    uint64_t elements = 0;
};

struct SoftmaxWork {
    uint64_t rows = 0;
    uint32_t cols = 0;
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
    std::variant<MatmulWork, AddWork, PoolWork, CopyWork, SoftmaxWork, EdgeWork, AliasWork> work;
    uint64_t params_bytes = 0;  ///< of the block that the vector unit reads; 0: none
    /// Of a product: all channels have the same parameters, so that the block is one column tile's.
    bool params_uniform = false;
    std::vector<uint8_t> params;  ///< the block itself; empty where the graph has no data
    uint64_t repeat = 1;
    uint64_t macs = 0;  ///< useful ones, whole batch, all repeats

    const MatmulWork* matmul() const { return std::get_if<MatmulWork>(&work); }
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
