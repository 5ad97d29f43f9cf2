// SPDX-License-Identifier: Apache-2.0
// A quantised network as a list of operators over tensors, independent of the file it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem::compiler {

enum class DataType : uint8_t { kFloat32, kInt8, kUint8, kInt16, kInt32, kInt64, kOther };

/// As TFLite spells it, e.g. "INT8".
std::string_view data_type_name(DataType type);

/// Bytes of one element; 0 for kOther.
size_t data_type_bytes(DataType type);

/// real = scale * (value - zero_point); empty: not quantised; one entry: the whole tensor; more:
/// one per index along `axis`. Both vectors have the same length.
struct Quantization {
    std::vector<float> scales;
    std::vector<int32_t> zero_points;
    uint32_t axis = 0;
};

/// Row-major; images are NHWC.
struct Tensor {
    std::string name;
    std::vector<int32_t> shape;  ///< empty: a scalar
    DataType type = DataType::kInt8;
    Quantization quantization;
    bool is_constant = false;
    std::vector<uint8_t> data;  ///< of a constant, little-endian

    /// Product of the shape.
    size_t elements() const;
    /// Scale and zero point of a tensor that is quantised as a whole.
    float scale() const { return quantization.scales.at(0); }
    int32_t zero_point() const { return quantization.zero_points.at(0); }
};

enum class Operator : uint8_t {
    kConv2d,
    kDepthwiseConv2d,
    kFullyConnected,
    kAdd,
    kAveragePool2d,
    kMaxPool2d,
    kMean,
    kReshape,
    kSoftmax,
};

/// As TFLite spells it, e.g. "CONV_2D".
std::string_view operator_name(Operator op);

enum class Activation : uint8_t { kNone, kRelu, kReluN1To1, kRelu6 };
enum class Padding : uint8_t { kSame, kValid };

/// How a kernel moves over an image. Kernel sizes of convolutions stand in the shape of the
/// weights.
struct Sliding {
    Padding padding = Padding::kSame;
    int32_t stride_h = 1, stride_w = 1;
    int32_t dilation_h = 1, dilation_w = 1;
};

/// Weights are OHWI; fewer weight channels than image channels make a grouped convolution.
struct ConvAttributes {
    Sliding sliding;
    Activation activation = Activation::kNone;
};

/// Weights are 1HWC, C = image channels * depth_multiplier.
struct DepthwiseAttributes {
    Sliding sliding;
    int32_t depth_multiplier = 1;
    Activation activation = Activation::kNone;
};

/// Weights are OI; the input is taken as rows of I elements.
struct FullyConnectedAttributes {
    Activation activation = Activation::kNone;
};

struct AddAttributes {
    Activation activation = Activation::kNone;
};

struct PoolAttributes {
    Sliding sliding;
    int32_t filter_h = 1, filter_w = 1;
    Activation activation = Activation::kNone;
};

/// Mean over height and width.
struct MeanAttributes {
    bool keep_dims = false;
};

struct ReshapeAttributes {};

struct SoftmaxAttributes {
    float beta = 1.0f;
};

using Attributes =
    std::variant<ConvAttributes, DepthwiseAttributes, FullyConnectedAttributes, AddAttributes,
                 PoolAttributes, MeanAttributes, ReshapeAttributes, SoftmaxAttributes>;

/// Index into Graph::tensors.
using TensorId = uint32_t;

struct Node {
    Operator op = Operator::kReshape;
    uint32_t index = 0;  ///< position in the source file
    std::string name;    ///< name of the output tensor
    /// Activations first, then weights, then (where present) bias.
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
    Attributes attributes;
};

/// Nodes stand in an order in which they can run.
struct Graph {
    std::string file;  ///< where it was read from, for messages
    std::vector<Tensor> tensors;
    std::vector<Node> nodes;
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;

    const Tensor& input(const Node& node, size_t position) const;
    const Tensor& output(const Node& node) const;
};

/// "node 3 (CONV_2D 'name')", for messages.
std::string describe(const Node& node);

/// "1x32x32x3", for messages.
std::string shape_text(const std::vector<int32_t>& shape);

}  // namespace tandem::compiler
