// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/compose/graph_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/terminal.h"
#include "compiler/graph/evaluate.h"
#include "compiler/graph/fuse.h"
#include "compiler/graph/node_rules.h"
#include "compiler/import/compose/constants.h"
#include "compiler/import/compose/limits.h"
#include "compiler/import/compose/value_types.h"

namespace tandem::compiler {

Shape nhwc(const Shape& s) { return {s[0], s[2], s[3], s[1]}; }
Shape nchw(const Shape& s) { return {s[0], s[3], s[1], s[2]}; }

namespace {

/// Nodes that a value may be computed through, from given inputs.
constexpr size_t kMostDepth = 256;

/// An INT32 constant as INT64.
Tensor widened(const Tensor& constant) {
    std::vector<int64_t> values(constant.elements());
    for (size_t i = 0; i < values.size(); ++i) {
        int32_t value = 0;
        std::memcpy(&value, constant.bytes().data() + i * sizeof value, sizeof value);
        values[i] = value;
    }
    return integer_tensor(values, constant.shape);
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& file, Given given) : given_(std::move(given)) {
    graph_.file = file;
}

void GraphBuilder::add_constant(const std::string& name, Tensor constant, int32_t type) {
    constant.name = name;
    Value value;
    value.shape = constant.shape;
    value.type = type;
    value.constant = std::make_shared<const Tensor>(std::move(constant));
    values_[name] = std::move(value);
}

void GraphBuilder::add_input(const std::string& name, const Shape& shape, int32_t type) {
    Tensor tensor;
    tensor.name = name;
    tensor.shape = shape;
    tensor.type = is_float_type(type) ? ElementType::kFloat32 : ElementType::kInt32;
    const TensorId id = graph_.add(std::move(tensor));
    values_[name] = {shape, type, nullptr, id, std::nullopt};
    graph_.inputs.push_back(id);
}

void GraphBuilder::add_output(const std::string& name) {
    TensorId id = activation(name);
    if (is_taken(id)) id = copy_of(id, name + "/output");
    graph_.outputs.push_back(id);
}

bool GraphBuilder::is_taken(TensorId id) const {
    const auto among = [&](const std::vector<TensorId>& ids) {
        return std::ranges::find(ids, id) != ids.end();
    };
    if (among(graph_.inputs) || among(graph_.outputs)) return true;
    const Node* const producer = producer_of(id);
    return producer != nullptr && producer->op == Operator::kReshape;
}

TensorId GraphBuilder::copy_of(TensorId id, const std::string& name) {
    Node node;
    node.op = Operator::kElementwise;
    node.inputs = {id};
    return add_node(name, std::move(node),
                    graph_.tensors[id].type == ElementType::kInt32 ? kOnnxInt32 : kOnnxFloat, {});
}

void GraphBuilder::finish() {
    std::vector<bool> needed(graph_.tensors.size());
    for (const TensorId id : graph_.outputs) needed[id] = true;
    std::vector<Node> kept;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
        if (!needed[graph_.nodes[i].outputs.front()]) continue;
        for (const TensorId id : graph_.nodes[i].inputs) needed[id] = true;
        kept.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes.assign(std::make_move_iterator(kept.rbegin()),
                        std::make_move_iterator(kept.rend()));
    fuse_formulas(graph_);
}

bool GraphBuilder::is_float(const std::string& name) const { return is_float_type(type(name)); }

const Tensor* GraphBuilder::constant(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : found->second.constant.get();
}

const Tensor* GraphBuilder::known(const std::string& name) {
    Value& value = values_.at(name);
    if (value.constant == nullptr) value.constant = given_value(plain(name));
    return value.constant.get();
}

std::shared_ptr<const Tensor> GraphBuilder::given_value(TensorId id) {
    if (const auto known = given_values_.find(id); known != given_values_.end())
        return known->second;
    const auto input = std::ranges::find(graph_.inputs, id);
    const Node* const producer = producer_of(id);
    std::shared_ptr<const Tensor> value;
    if (input != graph_.inputs.end()) {
        value = given_(static_cast<size_t>(input - graph_.inputs.begin()));
        if (value != nullptr && value->shape != graph_.tensors[id].shape) value = nullptr;
        if (value != nullptr) specialised_.push_back(graph_.tensors[id].name);
    } else if (producer != nullptr && depth_ < kMostDepth) {
        ++depth_;
        value = evaluated(*producer);
        --depth_;
    }
    given_values_[id] = value;
    return value;
}

std::shared_ptr<const Tensor> GraphBuilder::evaluated(const Node& node) {
    Graph small;
    small.file = graph_.file;
    Node copy = node;
    copy.inputs.clear();
    for (const TensorId id : node.inputs) {
        const Tensor& tensor = graph_.tensors[id];
        const bool floats = tensor.type == ElementType::kFloat32;
        std::shared_ptr<const Tensor> value = !tensor.is_constant ? given_value(id)
                                              : floats
                                                  ? std::make_shared<const Tensor>(tensor)
                                                  : std::make_shared<const Tensor>(widened(tensor));
        if (value == nullptr) return nullptr;
        copy.inputs.push_back(small.add(*value));
    }
    Tensor out = graph_.output(node);
    if (out.elements() > kMostMade) return nullptr;
    if (out.type == ElementType::kInt32) out.type = ElementType::kInt64;
    copy.outputs = {small.add(std::move(out))};
    auto value = evaluate(small, copy);
    return value ? std::make_shared<const Tensor>(std::move(*value)) : nullptr;
}

TensorId GraphBuilder::add_constant_tensor(const std::string& name, const Tensor& constant) {
    Tensor tensor = constant;
    tensor.name = name;
    if (constant.type == ElementType::kInt64) {
        std::vector<uint8_t> bytes;
        for (const int64_t value : integers_of(constant)) {
            const auto low = std::numeric_limits<int32_t>::min(),
                       high = std::numeric_limits<int32_t>::max();
            if (value < low || value > high)
                throw UserError(source_.text, "'" + name + "'",
                                "integers within 32 bits, as the chip has them",
                                std::to_string(value));
            const auto narrow = static_cast<int32_t>(value);
            const auto* const from = reinterpret_cast<const uint8_t*>(&narrow);
            bytes.insert(bytes.end(), from, from + sizeof narrow);
        }
        tensor.type = ElementType::kInt32;
        tensor.set_bytes(std::move(bytes));
    }
    return graph_.add(std::move(tensor));
}

TensorId GraphBuilder::plain(const std::string& name) {
    Value& value = values_.at(name);
    if (value.constant != nullptr && value.constant->elements() == 0)
        throw UserError(source_.text, "'" + base::printable(name) + "'", "1 element or more",
                        shape_text(value.shape));
    if (!value.plain)
        value.plain = value.constant != nullptr
                          ? add_constant_tensor(name, *value.constant)
                          : reordered(*value.image, {0, 3, 1, 2}, name + "/nchw");
    return *value.plain;
}

TensorId GraphBuilder::image(const std::string& name) {
    const TensorId from = values_.at(name).image ? 0 : activation(name);
    Value& value = values_.at(name);
    if (!value.image) value.image = reordered(from, {0, 2, 3, 1}, name + "/nhwc");
    return *value.image;
}

bool GraphBuilder::is_image(const std::string& name) const {
    const auto found = values_.find(name);
    return found != values_.end() && found->second.image && !found->second.plain;
}

/// One element of an input is there for the vector unit to work on; the formula does not read it.
TensorId GraphBuilder::activation(const std::string& name) {
    const TensorId id = plain(name);
    if (!graph_.tensors[id].is_constant) return id;
    if (const auto known = computed_.find(id); known != computed_.end()) return known->second;
    if (graph_.inputs.empty())
        throw UserError(graph_.file, "graph inputs", "1 or more, for a constant to stand beside",
                        "none");
    const size_t rank = graph_.tensors[graph_.inputs[0]].shape.size();
    const int32_t type = is_float(name) ? kOnnxFloat : kOnnxInt32;
    const int32_t input_type =
        graph_.tensors[graph_.inputs[0]].type == ElementType::kInt32 ? kOnnxInt32 : kOnnxFloat;
    Node one;
    one.op = Operator::kSlice;
    one.inputs = {graph_.inputs[0]};
    one.attributes["begin"] = std::vector<int64_t>(rank, 0);
    one.attributes["size"] = one.attributes["step"] = std::vector<int64_t>(rank, 1);
    Node scalar;
    scalar.op = Operator::kReshape;
    scalar.inputs = {rank == 0 ? graph_.inputs[0]
                               : add_node(fresh(), std::move(one), input_type, {})};
    Node node;
    node.op = Operator::kElementwise;
    node.inputs = {add_node(fresh(), std::move(scalar), input_type, {}), id};
    node.attributes["formula"] = std::string("b");
    const TensorId made = add_node(name + "/computed", std::move(node), type, {});
    computed_[id] = made;
    return made;
}

std::string GraphBuilder::fresh() {
    return source_.name + "/" + std::to_string(source_.index) + "." + std::to_string(++fresh_);
}

bool GraphBuilder::fold(const std::string& name, Node node,
                        const std::vector<std::string>& operands, int32_t type,
                        const Shape& shape) {
    Graph small;
    small.file = graph_.file;
    for (const std::string& operand : operands) {
        if (constant(operand) == nullptr) return false;
        node.inputs.push_back(small.add(*constant(operand)));
    }
    node.name = source_.name;
    Tensor out;
    out.name = name;
    out.type = is_float_type(type) ? ElementType::kFloat32 : ElementType::kInt64;
    out.shape = shape;
    node.outputs = {small.add(std::move(out))};
    const Shape made = operator_info(node.op).shape(NodeRules(small, node));
    // Weights in another order are as many as they were.
    const bool moves = node.op == Operator::kReshape || node.op == Operator::kTranspose;
    if (!fits_onnx_limit(made)) return false;
    small.tensors[node.outputs[0]].shape = made;
    if (!moves && small.tensors[node.outputs[0]].elements() > kMostMade) return false;
    auto value = evaluate(small, node);
    if (!value) return false;
    add_constant(name, std::move(*value), type);
    return true;
}

void GraphBuilder::add(const std::string& name, Node node, const std::vector<std::string>& operands,
                       int32_t type, const Shape& shape) {
    if (fold(name, node, operands, type, shape)) return;
    for (const std::string& operand : operands)
        node.inputs.push_back(node.inputs.empty() ? activation(operand) : plain(operand));
    add_plain(name, std::move(node), type, shape);
}

void GraphBuilder::add_plain(const std::string& name, Node node, int32_t type, const Shape& shape) {
    const TensorId id = add_node(name, std::move(node), type, shape);
    values_[name] = {graph_.tensors[id].shape, type, nullptr, id, std::nullopt};
}

void GraphBuilder::add_image(const std::string& name, Node node, int32_t type, const Shape& shape) {
    const TensorId id = add_node(name, std::move(node), type, shape);
    graph_.tensors[id].layout = Layout::kNhwc;
    values_[name] = {nchw(graph_.tensors[id].shape), type, nullptr, std::nullopt, id};
}

Node* GraphBuilder::sole_producer(const std::string& name) {
    const auto readers = readers_.find(name);
    if (readers == readers_.end() || readers->second != 1) return nullptr;
    const Value& value = values_.at(name);
    if ((value.plain && value.image) || (!value.plain && !value.image)) return nullptr;
    const TensorId id = value.plain ? *value.plain : *value.image;
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &graph_.nodes[found->second];
}

const Node* GraphBuilder::producer_of(TensorId id) const {
    const auto found = producers_.find(id);
    return found == producers_.end() ? nullptr : &graph_.nodes[found->second];
}

TensorId GraphBuilder::add_node(const std::string& name, Node node, int32_t type,
                                const Shape& shape) {
    node.index = source_.index;
    node.name = source_.name.empty() ? name : source_.name;
    Tensor out;
    out.name = name;
    out.type = is_float_type(type) ? ElementType::kFloat32 : ElementType::kInt32;
    out.shape = shape;
    node.outputs = {graph_.add(std::move(out))};
    const NodeRules rules(graph_, node);
    const Shape made = operator_info(node.op).shape(rules);
    if (!fits_onnx_limit(made))
        throw UserError(
            graph_.file,
            "node " + std::to_string(node.index) + " ('" + base::printable(node.name) + "')",
            "at most 2^31 - 1 elements", shape_text(made));
    graph_.tensors[node.outputs[0]].shape = made;
    if (graph_.nodes.size() >= static_cast<size_t>(kMostNodes))
        throw UserError(source_.text, "nodes", "at most 2^20", "more");
    producers_[node.outputs[0]] = graph_.nodes.size();
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs[0];
}

TensorId GraphBuilder::reordered(TensorId from, const std::vector<int64_t>& perm,
                                 const std::string& name) {
    const Shape shape = graph_.tensors[from].shape;
    Shape to;
    std::vector<int64_t> moving;  // axes of more than one element, in the new order
    for (const int64_t axis : perm) {
        to.push_back(shape[static_cast<size_t>(axis)]);
        if (to.back() != 1) moving.push_back(axis);
    }
    Node node;
    node.inputs = {from};
    if (std::ranges::is_sorted(moving)) {
        node.op = Operator::kReshape;
    } else {
        node.op = Operator::kTranspose;
        node.attributes["perm"] = perm;
    }
    const int32_t type = graph_.tensors[from].type == ElementType::kInt32 ? kOnnxInt32 : kOnnxFloat;
    const TensorId id = add_node(name, std::move(node), type, to);
    if (perm[1] == 2) graph_.tensors[id].layout = Layout::kNhwc;
    return id;
}

}  // namespace tandem::compiler
