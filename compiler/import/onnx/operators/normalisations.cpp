// SPDX-License-Identifier: Apache-2.0
// Softmax and its relatives, and normalisation to mean 0 and variance 1.
#include <algorithm>

#include "compiler/graph/formula.h"
#include "compiler/graph/operators.h"
#include "compiler/import/compose/limits.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// Before opset 13 all axes from `axis` on are one.
struct Rows {
    ValueName value;
    int64_t axis;
    Shape shape;
};
Rows rows_of(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const Shape shape = m.shape(value);
    const int64_t axis = m.axis_in(value, n.integer("axis", n.opset() < 13 ? 1 : -1));
    if (n.opset() >= 13) return {value, axis, shape};
    return {m.reshape(value, flattened(shape, axis)), 1, shape};
}

void softmax_node(Maths& m, const NodeReader& n) {
    const Rows rows = rows_of(m, n);
    ValueName value;
    if (n.type() == "LogSoftmax") {
        value = log_softmax(m, rows.value, rows.axis);
    } else if (rows.axis == m.rank(rows.value) - 1 && m.graph().constant(rows.value) == nullptr) {
        Node node;
        node.op = Operator::kSoftmax;
        node.inputs = {m.graph().plain(rows.value)};
        value = m.graph().fresh();
        m.graph().add_plain(value, std::move(node), kOnnxFloat);
    } else {
        value = softmax(m, rows.value, rows.axis);
    }
    m.result(m.reshape(value, rows.shape), 0, m.graph().type(n.input(0)));
}

/// 1 at the first largest.
void hardmax(Maths& m, const NodeReader& n) {
    const Rows rows = rows_of(m, n);
    const ValueName place = m.reduce("ARG_MAX", rows.value, {rows.axis});
    const int64_t count = m.shape(rows.value).at(static_cast<size_t>(rows.axis));
    const ValueName value =
        m.formula("float(a == b)", {place, m.places(count, rows.axis, m.rank(rows.value))});
    m.result(m.reshape(value, rows.shape), 0, m.graph().type(n.input(0)));
}

std::string number(float value) { return formula_number(value); }

/// Of the elements along `axes`; mean and 1 / deviation, too.
struct Normalised {
    ValueName value, mean, inverse;
};
Normalised normalised(Maths& m, const ValueName& value, const Integers& axes, float epsilon) {
    const ValueName mean = m.mean(value, axes);
    const ValueName centred = m.formula("a - b", {value, mean});
    const ValueName variance = m.mean(m.formula("a * a", {centred}), axes);
    const ValueName inverse = m.formula("rsqrt(a + " + number(epsilon) + ")", {variance});
    return {m.formula("a * b", {centred, inverse}), mean, inverse};
}

/// One number per channel, beside all other axes.
ValueName per_channel(Maths& m, const ValueName& value, const ValueName& numbers) {
    Shape shape(m.shape(value).size(), 1);
    if (shape.size() > 1) shape.at(1) = m.shape(numbers).empty() ? 1 : m.shape(numbers).at(0);
    return m.reshape(numbers, shape);
}

void layer(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const Integers axes = axes_from(m, value, m.axis_in(value, n.integer("axis", -1)));
    const Normalised made = normalised(m, value, axes, n.real("epsilon", 1e-5f));
    ValueName result = m.formula("a * b", {made.value, n.input(1)});
    if (n.has_input(2)) result = m.formula("a + b", {result, n.input(2)});
    m.result(result, 0, m.graph().type(value));
    m.result(made.mean, 1);
    m.result(made.inverse, 2);
}

void instance(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const Normalised made = normalised(m, value, axes_from(m, value, 2), n.real("epsilon", 1e-5f));
    m.result(m.formula("a * b + c", {made.value, per_channel(m, value, n.input(1)),
                                     per_channel(m, value, n.input(2))}),
             0, m.graph().type(value));
}

/// Into weights and bias of the convolution in front of it; false: there is none that can take it.
bool into_convolution(Maths& m, const NodeReader& n, const ValueName& factor,
                      const ValueName& addend) {
    const Tensor *const by = m.graph().constant(factor), *const add = m.graph().constant(addend);
    Node* const producer = m.graph().sole_producer(n.input(0));
    const bool convolves = producer != nullptr && (producer->op == Operator::kConv2d ||
                                                   producer->op == Operator::kDepthwiseConv2d);
    if (!convolves || by == nullptr || add == nullptr || activation(*producer) != Activation::kNone)
        return false;
    Graph& graph = m.graph().graph();
    Tensor weights = graph.input(*producer, 1);
    const auto factors = reals_of(*by);
    auto addends = reals_of(*add);
    auto values = reals_of(weights);
    const bool last = producer->op == Operator::kDepthwiseConv2d;  // axis of the outputs
    const size_t outputs = factors.size(), each = values.size() / outputs;
    if (addends.size() != outputs) return false;
    for (size_t i = 0; i < values.size(); ++i) values[i] *= factors[last ? i % outputs : i / each];
    if (producer->inputs.size() > 2) {
        const auto bias = reals_of(graph.input(*producer, 2));
        for (size_t c = 0; c < outputs; ++c) addends[c] += bias.at(c) * factors[c];
        producer->inputs.pop_back();
    }
    const Shape shape = weights.shape;
    weights = real_tensor(values, shape);
    weights.name = n.name() + "/weights";
    Tensor bias = real_tensor(addends, {static_cast<int64_t>(outputs)});
    bias.name = n.name() + "/bias";
    producer->inputs[1] = graph.add(std::move(weights));
    producer->inputs.push_back(graph.add(std::move(bias)));
    m.result(n.input(0));
    return true;
}

void batch(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    if (m.rank(value) < 2) n.fail("input 0", "2 axes or more", shape_text(m.shape(value)));
    const auto channel = [&](const ValueName& numbers) { return per_channel(m, value, numbers); };
    const float epsilon = n.real("epsilon", 1e-5f);
    ValueName mean = n.input(3), variance = n.input(4);
    if (n.opset() >= 14 && n.integer("training_mode", 0) != 0) {
        Integers axes = all_axes(m, value);
        axes.erase(axes.begin() + 1);
        mean = m.mean(value, axes, false);
        variance = m.mean(m.formula("square(a - b)", {value, channel(mean)}), axes, false);
        const std::string old = number(n.real("momentum", 0.9f)),
                          fresh = number(1 - n.real("momentum", 0.9f));
        m.result(m.formula("a * " + old + " + b * " + fresh, {n.input(3), mean}), 1);
        m.result(m.formula("a * " + old + " + b * " + fresh, {n.input(4), variance}), 2);
    }
    // Of the channels alone, and constant where they are: x * factor + (bias - mean * factor).
    const ValueName factor =
        m.formula("a * rsqrt(b + " + number(epsilon) + ")", {n.input(1), variance});
    const ValueName addend = m.formula("a - b * c", {n.input(2), mean, factor});
    if (into_convolution(m, n, factor, addend)) return;
    m.result(m.formula("a * b + c", {value, channel(factor), channel(addend)}), 0,
             m.graph().type(value));
}

void mean_variance(Maths& m, const NodeReader& n) {
    Integers axes = n.integers("axes", {0, 2, 3});
    for (int64_t& axis : axes) axis = m.axis_in(n.input(0), axis);
    m.result(normalised(m, n.input(0), axes, 1e-9f).value, 0, m.graph().type(n.input(0)));
}

/// Over neighbouring channels.
void local_response(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const int64_t size = n.integer("size", 1), channels = m.shape(value).at(1);
    if (size < 1 || size > channels * 2) n.fail("size", "1 or more", std::to_string(size));
    m.need_at_most(size, kMostParts, "size", "channels");
    Integers before(m.shape(value).size()), behind = before;
    before[1] = (size - 1) / 2, behind[1] = size - 1 - before[1];
    const ValueName squares = m.pad(m.formula("a * a", {value}), before, behind, 0);
    ValueName sum = m.slice(squares, 1, 0, channels);
    for (int64_t i = 1; i < size; ++i)
        sum = m.formula("a + b", {sum, m.slice(squares, 1, i, channels)});
    const std::string factor = number(n.real("alpha", 1e-4f) / static_cast<float>(size));
    m.result(m.formula("a * exp(log(" + number(n.real("bias", 1)) + " + " + factor + " * b) * " +
                           number(-n.real("beta", 0.75f)) + ")",
                       {value, sum}),
             0, m.graph().type(value));
}

void lp(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const int64_t axis = m.axis_in(value, n.integer("axis", -1));
    const bool first = n.integer("p", 2) == 1;
    const ValueName sum = m.reduce("SUM", m.formula(first ? "abs(a)" : "a * a", {value}), {axis});
    m.result(m.formula(first ? "a / b" : "a / sqrt(b)", {value, sum}), 0, m.graph().type(value));
}

}  // namespace

std::span<const OnnxOperator> normalisations() {
    static constexpr OnnxOperator kAll[] = {{"BatchNormalization", batch},
                                            {"Hardmax", hardmax},
                                            {"InstanceNormalization", instance},
                                            {"LRN", local_response},
                                            {"LayerNormalization", layer},
                                            {"LogSoftmax", softmax_node},
                                            {"LpNormalization", lp},
                                            {"MeanVarianceNormalization", mean_variance},
                                            {"Softmax", softmax_node}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
