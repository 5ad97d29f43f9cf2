// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/verify.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compiler/graph/node_rules.h"
#include "compiler/graph/saturate.h"

namespace tandem::compiler {

namespace {

void check_tensor(const Graph& graph, const Tensor& tensor) {
    const auto fail = [&](const std::string& expected, const std::string& found) {
        throw UserError(graph.file, "tensor '" + tensor.name + "'", expected, found);
    };
    uint64_t elements = 1;
    for (const int64_t extent : tensor.shape) {
        if (extent < 1) fail("a shape of positive extents", shape_text(tensor.shape));
        elements = saturating_product({elements, static_cast<uint64_t>(extent)});
        if (elements > kMostElements) fail("at most 2^53 elements", shape_text(tensor.shape));
    }
    if (tensor.layout == Layout::kNhwc && tensor.shape.size() != 4)
        fail("4 dimensions for layout NHWC", shape_text(tensor.shape));
    const Quantization& q = tensor.quantization;
    if (q.scales.size() != q.zero_points.size())
        fail(std::to_string(q.scales.size()) + " zero points",
             std::to_string(q.zero_points.size()));
    if (q.scales.size() > 1 && (q.axis >= tensor.shape.size() ||
                                static_cast<int64_t>(q.scales.size()) != tensor.shape[q.axis]))
        fail("one scale or one for each index of its dimension",
             std::to_string(q.scales.size()) + " along dimension " + std::to_string(q.axis));
    if (!tensor.has_data()) return;
    if (!tensor.is_constant) fail("values of constants alone", "values of an activation");
    if (element_type_bytes(tensor.type) != 0 && tensor.bytes().size() != tensor.size_bytes())
        fail(std::to_string(tensor.size_bytes()) + " bytes for shape " + shape_text(tensor.shape),
             std::to_string(tensor.bytes().size()));
}

std::string integers_text(const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
    return text.empty() ? "none" : text;
}

void check_integer(const NodeRules& rules, const AttributeSpec& spec, int64_t value) {
    if (value < spec.least)
        rules.fail(std::string(spec.name), "at least " + std::to_string(spec.least),
                   std::to_string(value));
    if (value > spec.most)
        rules.fail(std::string(spec.name), "at most " + std::to_string(spec.most),
                   std::to_string(value));
}

/// `value` is of the kind that the table says.
void check_value(const NodeRules& rules, const AttributeSpec& spec, const AttributeValue& value) {
    const std::string name(spec.name);
    if (const auto* const integer = std::get_if<int64_t>(&value))
        check_integer(rules, spec, *integer);
    if (const auto* const integers = std::get_if<std::vector<int64_t>>(&value)) {
        const size_t count = std::get<std::vector<int64_t>>(spec.default_value).size();
        if (count != 0 && integers->size() != count)
            rules.fail(name, std::to_string(count) + " numbers", integers_text(*integers));
        for (const int64_t one : *integers) check_integer(rules, spec, one);
    }
    if (const auto* const real = std::get_if<float>(&value))
        if (!std::isfinite(*real)) rules.fail(name, "a finite number", std::to_string(*real));
    if (const auto* const choice = std::get_if<std::string>(&value))
        if (!spec.choices.empty() &&
            std::ranges::find(spec.choices, *choice) == spec.choices.end()) {
            std::string known;
            for (const std::string_view one : spec.choices)
                known += (known.empty() ? "" : ", ") + std::string(one);
            rules.fail(name, "one of " + known, '"' + *choice + '"');
        }
}

void check_attributes(const NodeRules& rules) {
    const OperatorInfo& info = operator_info(rules.node().op);
    for (const auto& [name, value] : rules.node().attributes) {
        const AttributeSpec* const spec = find_attribute(info, name);
        if (spec == nullptr)
            rules.fail("attribute " + name, "an attribute of the operator", "another one");
        if (value.index() != spec->default_value.index())
            rules.fail(name, "a value of the kind that the operator has", "another kind");
        check_value(rules, *spec, value);
    }
}

void check_output_type(const NodeRules& rules, OutputType allowed) {
    const ElementType in = rules.in().type, out = rules.out().type;
    const auto is_float = [](ElementType type) {
        return type == ElementType::kBf16 || type == ElementType::kFloat32;
    };
    if (allowed == OutputType::kByRule || (allowed == OutputType::kFloat && is_float(out))) return;
    if (allowed == OutputType::kSameOrWide && in == ElementType::kBf16 && is_float(out)) return;
    const bool last = allowed == OutputType::kLast;
    rules.need_type(rules.out(), last ? rules.in(rules.node().inputs.size() - 1).type : in,
                    "output");
}

void check_counts(const NodeRules& rules) {
    const Counts c = counts(rules.graph(), rules.node());
    const uint64_t macs = saturating_product({c.m, c.k, c.n, c.groups, c.repeat});
    const uint64_t moved =
        saturating_product({std::max(c.input_elements, c.output_elements), c.repeat});
    if (macs > kMostElements || moved > kMostElements)
        rules.fail("sizes", "at most 2^53 MACs and elements in a layer", "more");
}

void check_node(const Graph& graph, const Node& node) {
    const NodeRules rules(graph, node);
    const OperatorInfo& info = operator_info(node.op);
    if (node.outputs.size() != 1) rules.fail("outputs", "1", std::to_string(node.outputs.size()));
    if (node.inputs.size() < info.least_inputs || node.inputs.size() > info.most_inputs)
        rules.fail(
            "inputs",
            std::to_string(info.least_inputs) + (info.most_inputs > info.least_inputs
                                                     ? " or " + std::to_string(info.most_inputs)
                                                     : ""),
            std::to_string(node.inputs.size()));
    if (node.repeat < 1 || node.repeat > UINT32_MAX)
        rules.fail("repeat", "1 to 4294967295", std::to_string(node.repeat));
    check_attributes(rules);
    rules.need_activation(rules.in(), "input");
    check_output_type(rules, info.output_type);
    rules.need_activation(rules.out(), "output");
    const Shape shape = info.shape(rules);
    rules.need_shape(rules.out(), shape, "output");
    info.types(rules);
    check_counts(rules);
}

/// Every activation has one origin, which stands before its uses.
void check_order(const Graph& graph) {
    const auto name = [&](TensorId id) { return "tensor '" + graph.tensors.at(id).name + "'"; };
    std::vector<bool> known(graph.tensors.size());
    for (const TensorId id : graph.inputs) {
        if (known.at(id)) throw UserError(graph.file, name(id), "one graph input", "two");
        known[id] = true;
    }
    for (const Node& node : graph.nodes) {
        const auto fail = [&](const char* expected, const std::string& found) {
            throw UserError(place_of(graph, node), describe(node), expected, found);
        };
        for (const TensorId id : node.inputs)
            if (!known.at(id) && !graph.tensors.at(id).is_constant)
                fail("inputs computed before it", name(id) + ", which is not");
        for (const TensorId id : node.outputs) {
            if (known.at(id)) fail("an output of its own", name(id) + ", which is computed before");
            known[id] = true;
        }
    }
    std::vector<bool> given(graph.tensors.size());
    for (const TensorId id : graph.outputs) {
        if (!known.at(id))
            throw UserError(graph.file, name(id), "a computed graph output",
                            "one without an origin");
        if (given[id]) throw UserError(graph.file, name(id), "one graph output", "two");
        given[id] = true;
    }
}

/// One that no node reads has no other check.
void check_input(const Graph& graph, const Tensor& tensor) {
    using enum ElementType;
    const bool has_type = tensor.type == kInt8 || tensor.type == kInt16 || tensor.type == kInt32 ||
                          tensor.type == kBf16 || tensor.type == kFloat32;
    const size_t scales = tensor.type == ElementType::kInt8 ? 1 : 0;
    if (!has_type || tensor.is_constant || tensor.quantization.scales.size() != scales)
        throw UserError(
            graph.file, "graph input '" + tensor.name + "'",
            "an INT8 tensor with one scale, or INT16, INT32, BFLOAT16 or FLOAT32 without",
            std::string(element_type_name(tensor.type)));
}

/// Everything else looks tensors up.
void check_ids(const Graph& graph) {
    const auto check = [&](const std::vector<TensorId>& ids, const std::string& where) {
        for (const TensorId id : ids)
            if (id >= graph.tensors.size())
                throw UserError(graph.file, where,
                                "a tensor less than " + std::to_string(graph.tensors.size()),
                                std::to_string(id));
    };
    check(graph.inputs, "graph inputs");
    check(graph.outputs, "graph outputs");
    for (const Node& node : graph.nodes) {
        check(node.inputs, describe(node) + ": inputs");
        check(node.outputs, describe(node) + ": outputs");
    }
}

}  // namespace

void verify(const Graph& graph) {
    if (graph.inputs.empty()) throw UserError(graph.file, "graph inputs", "1 or more", "none");
    if (graph.outputs.empty()) throw UserError(graph.file, "graph outputs", "1 or more", "none");
    check_ids(graph);
    for (const Tensor& tensor : graph.tensors) check_tensor(graph, tensor);
    for (const Node& node : graph.nodes) check_node(graph, node);
    check_order(graph);
    for (const TensorId id : graph.inputs) check_input(graph, graph.tensors[id]);
}

}  // namespace tandem::compiler
