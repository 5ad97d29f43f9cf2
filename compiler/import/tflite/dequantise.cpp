// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tflite/dequantise.h"

#include <cstring>
#include <map>

#include "compiler/graph/operators.h"

namespace tandem::compiler {

namespace {

/// Elements from one index of the quantised dimension to the next.
uint64_t inner_elements(const Tensor& tensor) {
    uint64_t inner = 1;
    for (size_t axis = tensor.quantization.axis + 1; axis < tensor.shape.size(); ++axis)
        inner *= static_cast<uint64_t>(tensor.shape[axis]);
    return inner;
}

Tensor dequantised(const Tensor& source) {
    const Quantization& q = source.quantization;
    const uint64_t inner = inner_elements(source);
    std::vector<float> values;
    for (uint64_t i = 0; i < source.elements(); ++i) {
        const size_t channel = q.scales.size() == 1 ? 0 : i / inner % q.scales.size();
        const int32_t level = static_cast<int8_t>(source.bytes()[i]);
        values.push_back(q.scales[channel] * static_cast<float>(level - q.zero_points[channel]));
    }
    std::vector<uint8_t> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    Tensor result = source;
    result.name += "/float32";
    result.type = ElementType::kFloat32;
    result.quantization = {};
    result.set_bytes(std::move(bytes));
    return result;
}

bool is_quantised(const Tensor& weights) {
    return weights.type == ElementType::kInt8 && weights.is_constant && weights.has_data() &&
           !weights.quantization.scales.empty();
}

}  // namespace

void dequantise_weights(Graph& graph) {
    std::map<TensorId, TensorId> made;
    for (Node& node : graph.nodes) {
        if (operator_info(node.op).lowering != LoweringKind::kMatmul || node.inputs.size() < 2 ||
            graph.input(node, 0).type != ElementType::kFloat32 ||
            !is_quantised(graph.input(node, 1)))
            continue;
        TensorId& weights = node.inputs[1];
        if (!made.contains(weights)) made[weights] = graph.add(dequantised(graph.tensors[weights]));
        weights = made[weights];
    }
}

}  // namespace tandem::compiler
