// SPDX-License-Identifier: Apache-2.0
// A program's mathematics as a list of operators over typed tensors, independent of the file it
// came from. Networks, lists of layers and single products are all graphs; what has no values (a
// list, a network without its bytes) has shapes and types all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem::compiler {

enum class ElementType : uint8_t {
    kInt8,
    kUint8,
    kInt16,
    kInt32,
    kInt64,
    kBf16,
    kFloat32,
    kOther,
};

/// As TFLite spells it, e.g. "INT8", "BFLOAT16".
std::string_view element_type_name(ElementType type);

/// Bytes of one element; 0 for kOther.
size_t element_type_bytes(ElementType type);

/// The last dimension runs fastest in both; kNhwc says what the four of an image mean.
enum class Layout : uint8_t { kRowMajor, kNhwc };

std::string_view layout_name(Layout layout);

/// Where a graph input, a graph output or a constant lies before and after a run.
enum class Memory : uint8_t { kHost, kDevice };

std::string_view memory_name(Memory memory);

/// real = scale * (value - zero_point); empty: not quantised; one entry: the whole tensor; more:
/// one per index along `axis`. Both vectors have the same length.
struct Quantization {
    std::vector<float> scales;
    std::vector<int32_t> zero_points;
    uint32_t axis = 0;

    bool operator==(const Quantization&) const = default;
};

/// Empty: a scalar. Extents are at least 1; their product is at most kMostElements.
using Shape = std::vector<int64_t>;

/// Sums over thousands of tensors stay within 64 bits, and a double holds each number exactly.
inline constexpr uint64_t kMostElements = uint64_t{1} << 53;

struct Tensor {
    std::string name;
    Shape shape;
    ElementType type = ElementType::kInt8;
    Layout layout = Layout::kRowMajor;
    Quantization quantization;
    bool is_constant = false;
    Memory memory = Memory::kHost;
    /// Values of a constant, little-endian; null: it has a shape and no values.
    std::shared_ptr<const std::vector<uint8_t>> data;

    bool has_data() const { return data != nullptr; }
    /// What has_data() promises.
    const std::vector<uint8_t>& bytes() const { return *data; }
    void set_bytes(std::vector<uint8_t> bytes);

    /// Product of the shape.
    uint64_t elements() const;
    uint64_t size_bytes() const { return elements() * element_type_bytes(type); }
    /// Scale and zero point of a tensor that is quantised as a whole.
    float scale() const { return quantization.scales.at(0); }
    int32_t zero_point() const { return quantization.zero_points.at(0); }
};

/// operators.h has one table with all that is known of each. As in TFLite, but for
///   GROUPED_MATMUL  [m,k] with weights [groups,n,k] into [m, groups*n]: products of one input;
///   VECTOR          one pass of the vector unit over its input's elements, x + x; the first ones,
///                   in order, are the output, which may be smaller;
///   POOL            one pass over its input's elements; the first ones, unchanged, are the output;
///   EDGE            between layers whose sizes do not match: the output is another tensor, with
///                   values of its own; costs nothing.
/// TRANSPOSE has the order of its axes as attribute `perm`; where the first one stays the first,
/// the host's batch multiplies it. CAST is between FLOAT32 and BFLOAT16, in both directions.
/// ELEMENTWISE has a formula (formula.h) of its inputs, which are broadcast to one shape: axes
/// stand from the last one on, an extent of 1 serves for all. REDUCE runs over the axes that it
/// names. SLICE takes `size` elements from `begin` on, `step` apart, along each axis. GATHER takes,
/// for each number of its first input, a row of its second, along axis 0. BATCH_MATMUL has two
/// activations. Weights: CONV_2D OHWI (fewer channels than the image: grouped), DEPTHWISE_CONV_2D
/// 1HWC with C = image channels * depth_multiplier, FULLY_CONNECTED OI (the input is rows of I
/// elements).
enum class Operator : uint8_t {
    kConv2d,
    kDepthwiseConv2d,
    kFullyConnected,
    kGroupedMatmul,
    kAdd,
    kVector,
    kAveragePool2d,
    kMaxPool2d,
    kMean,
    kPool,
    kSoftmax,
    kReshape,
    kEdge,
    kCast,
    kBatchMatmul,
    kHardSwish,
    kTranspose,
    kElementwise,
    kReduce,
    kSlice,
    kConcatenation,
    kPad,
    kBroadcastTo,
    kGather,
};

/// The alternatives stand in the order of AttributeKind.
using AttributeValue = std::variant<int64_t, std::vector<int64_t>, float, std::string>;

/// By name; one that is missing has its operator's default.
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

/// Index into Graph::tensors.
using TensorId = uint32_t;

struct Node {
    Operator op = Operator::kReshape;
    uint32_t index = 0;  ///< position in the source file; of an edge: its consumer's
    std::string name;    ///< of the layer where the source names it, else of the output tensor
    std::string where;   ///< "file.csv:12", for messages; empty: the file alone says it
    /// Activations first, then weights, then (where present) bias.
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
    Attributes attributes;
    /// How often it runs, one run after the other (time steps); weights are fetched each time.
    uint64_t repeat = 1;
};

/// Nodes stand in an order in which they can run.
struct Graph {
    std::string file;  ///< where it was read from, for messages
    std::string name;  ///< of the network or list, for reports; may be empty
    std::vector<Tensor> tensors;
    std::vector<Node> nodes;
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
    uint64_t samples = 1;  ///< that the shapes hold: the batch of a list of layers, for reports
    /// Bytes of a whole run, from and to the host, where that is not what the graph's inputs and
    /// outputs hold (an application whose first layer reads a part of its input); 0: it is.
    uint64_t host_input_bytes = 0;
    uint64_t host_output_bytes = 0;

    const Tensor& input(const Node& node, size_t position) const;
    const Tensor& output(const Node& node) const;
    TensorId add(Tensor tensor);
};

/// All constants that a node reads have values.
bool has_data(const Graph& graph);
/// A program image does what the graph says: it has data, and the host sends and gets the whole
/// inputs and outputs, none of which lies in device memory. Others run as streams, without
/// firmware.
bool has_image(const Graph& graph);

/// The same but for the file: names, types, values, attributes (missing ones as their defaults).
bool equal(const Graph& a, const Graph& b);

/// "node 3 (CONV_2D 'name')", for messages.
std::string describe(const Node& node);

/// What a message about the node begins with: its line where that is known, else the graph's file.
const std::string& place_of(const Graph& graph, const Node& node);

/// "1x32x32x3", for messages.
std::string shape_text(const Shape& shape);

}  // namespace tandem::compiler
