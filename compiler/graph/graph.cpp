// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

namespace tandem::compiler {

std::string_view data_type_name(DataType type) {
    switch (type) {
        case DataType::kFloat32:
            return "FLOAT32";
        case DataType::kInt8:
            return "INT8";
        case DataType::kUint8:
            return "UINT8";
        case DataType::kInt16:
            return "INT16";
        case DataType::kInt32:
            return "INT32";
        case DataType::kInt64:
            return "INT64";
        case DataType::kOther:
            break;
    }
    return "another type";
}

size_t data_type_bytes(DataType type) {
    switch (type) {
        case DataType::kInt8:
        case DataType::kUint8:
            return 1;
        case DataType::kInt16:
            return 2;
        case DataType::kFloat32:
        case DataType::kInt32:
            return 4;
        case DataType::kInt64:
            return 8;
        case DataType::kOther:
            break;
    }
    return 0;
}

std::string_view operator_name(Operator op) {
    switch (op) {
        case Operator::kConv2d:
            return "CONV_2D";
        case Operator::kDepthwiseConv2d:
            return "DEPTHWISE_CONV_2D";
        case Operator::kFullyConnected:
            return "FULLY_CONNECTED";
        case Operator::kAdd:
            return "ADD";
        case Operator::kAveragePool2d:
            return "AVERAGE_POOL_2D";
        case Operator::kMaxPool2d:
            return "MAX_POOL_2D";
        case Operator::kMean:
            return "MEAN";
        case Operator::kReshape:
            return "RESHAPE";
        case Operator::kSoftmax:
            return "SOFTMAX";
    }
    return "?";
}

size_t Tensor::elements() const {
    size_t product = 1;
    for (const int32_t extent : shape) product *= static_cast<size_t>(extent);
    return product;
}

const Tensor& Graph::input(const Node& node, size_t position) const {
    return tensors.at(node.inputs.at(position));
}

const Tensor& Graph::output(const Node& node) const { return tensors.at(node.outputs.at(0)); }

std::string describe(const Node& node) {
    return "node " + std::to_string(node.index) + " (" + std::string(operator_name(node.op)) +
           " '" + node.name + "')";
}

std::string shape_text(const std::vector<int32_t>& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (const int32_t extent : shape) {
        if (!text.empty()) text += 'x';
        text += std::to_string(extent);
    }
    return text;
}

}  // namespace tandem::compiler
