// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/graph/operators.h"

namespace tandem::compiler {

namespace {

struct TypeInfo {
    std::string_view name;
    size_t bytes;
};

/// In the order of ElementType.
constexpr std::array<TypeInfo, 8> kTypes = {{{"INT8", 1},
                                             {"UINT8", 1},
                                             {"INT16", 2},
                                             {"INT32", 4},
                                             {"INT64", 8},
                                             {"BFLOAT16", 2},
                                             {"FLOAT32", 4},
                                             {"another type", 0}}};

bool equal(const Tensor& a, const Tensor& b) {
    const bool same_data =
        a.has_data() && b.has_data() ? a.bytes() == b.bytes() : a.has_data() == b.has_data();
    return a.name == b.name && a.shape == b.shape && a.type == b.type && a.layout == b.layout &&
           a.quantization == b.quantization && a.is_constant == b.is_constant &&
           a.memory == b.memory && same_data;
}

bool equal(const Node& a, const Node& b) {
    if (a.op != b.op || a.index != b.index || a.name != b.name || a.where != b.where ||
        a.inputs != b.inputs || a.outputs != b.outputs || a.repeat != b.repeat)
        return false;
    return std::ranges::all_of(operator_info(a.op).attributes, [&](const AttributeSpec& spec) {
        return attribute(a, spec.name) == attribute(b, spec.name);
    });
}

}  // namespace

std::string_view element_type_name(ElementType type) {
    return kTypes.at(static_cast<size_t>(type)).name;
}

size_t element_type_bytes(ElementType type) { return kTypes.at(static_cast<size_t>(type)).bytes; }

std::string_view layout_name(Layout layout) {
    return layout == Layout::kNhwc ? "NHWC" : "ROW_MAJOR";
}

std::string_view memory_name(Memory memory) {
    return memory == Memory::kDevice ? "DEVICE" : "HOST";
}

void Tensor::set_bytes(std::vector<uint8_t> bytes) {
    data = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
}

uint64_t Tensor::elements() const {
    uint64_t product = 1;
    for (const int64_t extent : shape) product *= static_cast<uint64_t>(extent);
    return product;
}

const Tensor& Graph::input(const Node& node, size_t position) const {
    return tensors.at(node.inputs.at(position));
}

const Tensor& Graph::output(const Node& node) const { return tensors.at(node.outputs.at(0)); }

TensorId Graph::add(Tensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors.size() - 1);
}

bool equal(const Graph& a, const Graph& b) {
    const auto same_tensor = [](const Tensor& x, const Tensor& y) { return equal(x, y); };
    const auto same_node = [](const Node& x, const Node& y) { return equal(x, y); };
    return a.name == b.name && a.samples == b.samples && a.inputs == b.inputs &&
           a.outputs == b.outputs && a.host_input_bytes == b.host_input_bytes &&
           a.host_output_bytes == b.host_output_bytes &&
           std::ranges::equal(a.tensors, b.tensors, same_tensor) &&
           std::ranges::equal(a.nodes, b.nodes, same_node);
}

std::string describe(const Node& node) {
    return "node " + std::to_string(node.index) + " (" + std::string(operator_name(node.op)) +
           " '" + node.name + "')";
}

const std::string& place_of(const Graph& graph, const Node& node) {
    return node.where.empty() ? graph.file : node.where;
}

std::string shape_text(const Shape& shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (const int64_t extent : shape) {
        if (!text.empty()) text += 'x';
        text += std::to_string(extent);
    }
    return text;
}

bool has_data(const Graph& graph) {
    return std::ranges::all_of(graph.nodes, [&](const Node& node) {
        return std::ranges::all_of(node.inputs, [&](TensorId id) {
            return !graph.tensors[id].is_constant || graph.tensors[id].has_data();
        });
    });
}

bool has_image(const Graph& graph) {
    const auto is_with_host = [&](TensorId id) {
        return graph.tensors[id].memory == Memory::kHost;
    };
    return has_data(graph) && graph.host_input_bytes == 0 && graph.host_output_bytes == 0 &&
           std::ranges::all_of(graph.inputs, is_with_host) &&
           std::ranges::all_of(graph.outputs, is_with_host);
}

}  // namespace tandem::compiler
