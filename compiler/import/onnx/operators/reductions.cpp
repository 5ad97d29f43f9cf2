// SPDX-License-Identifier: Apache-2.0
// Operators that make fewer elements of many.
#include <algorithm>

#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

struct Axes {
    Integers axes;
    bool keep;
    bool none;  ///< and none means: leave the input as it is
};

Axes axes_of(Maths& m, const NodeReader& n) {
    const bool as_input = n.opset() >= 18 || (n.opset() >= 13 && n.type() == "ReduceSum");
    Axes result{{}, n.integer("keepdims", 1) != 0, false};
    if (!as_input)
        result.axes = n.integers("axes", {});
    else if (n.has_input(1))
        result.axes = known_integers(m, n, 1, "axes");
    result.none = result.axes.empty() && n.integer("noop_with_empty_axes", 0) != 0;
    if (result.axes.empty()) result.axes = all_axes(m, n.input(0));
    for (int64_t& axis : result.axes) axis = m.axis_in(n.input(0), axis);
    std::ranges::sort(result.axes);
    return result;
}

/// By halves: the unit adds and compares along an axis, and does not multiply.
ValueName product_along(Maths& m, ValueName value, int64_t axis) {
    if (m.shape(value).at(static_cast<size_t>(axis)) == 0) {
        Shape one = m.shape(value);
        one.at(static_cast<size_t>(axis)) = 1;
        return m.broadcast_to(m.is_float(value) ? m.scalar(1.0f) : m.scalar(int64_t{1}), one);
    }
    for (int64_t count = m.shape(value).at(static_cast<size_t>(axis)); count > 1;
         count = m.shape(value).at(static_cast<size_t>(axis))) {
        const int64_t half = count / 2;
        const ValueName product =
            m.formula("a * b", {m.slice(value, axis, 0, half), m.slice(value, axis, half, half)});
        value = count % 2 == 0 ? product
                               : m.concatenate({product, m.slice(value, axis, count - 1, 1)}, axis);
    }
    return value;
}

Shape without(const Shape& shape, const Integers& axes) {
    Shape rest;
    for (size_t i = 0; i < shape.size(); ++i)
        if (std::ranges::find(axes, static_cast<int64_t>(i)) == axes.end())
            rest.push_back(shape.at(i));
    return rest;
}

/// What comes before the sum and after it.
struct Kind {
    const char* type;
    const char* function;
    const char* before;
    const char* after;
};
constexpr Kind kKinds[] = {
    {"ReduceL1", "SUM", "abs(a)", "a"},       {"ReduceL2", "SUM", "a * a", "sqrt(a)"},
    {"ReduceLogSum", "SUM", "a", "log(a)"},   {"ReduceMax", "MAX", "a", "a"},
    {"ReduceMin", "MIN", "a", "a"},           {"ReduceSum", "SUM", "a", "a"},
    {"ReduceSumSquare", "SUM", "a * a", "a"},
};

ValueName applied(Maths& m, const char* formula, const ValueName& value) {
    return std::string_view(formula) == "a" ? value : m.formula(formula, {value});
}

void reduce(Maths& m, const NodeReader& n) {
    const auto* const kind =
        std::ranges::find_if(kKinds, [&](const Kind& one) { return n.type() == one.type; });
    const Axes axes = axes_of(m, n);
    const ValueName input = n.input(0);
    if (axes.none) return m.result(input);
    const ValueName value =
        m.reduce(kind->function, applied(m, kind->before, input), axes.axes, axes.keep);
    m.result(applied(m, kind->after, value), 0, m.graph().type(input));
}

void reduce_mean(Maths& m, const NodeReader& n) {
    const Axes axes = axes_of(m, n);
    if (axes.none) return m.result(n.input(0));
    m.result(m.mean(n.input(0), axes.axes, axes.keep), 0, m.graph().type(n.input(0)));
}

void reduce_log_sum_exp(Maths& m, const NodeReader& n) {
    const Axes axes = axes_of(m, n);
    const ValueName& input = n.input(0);
    if (axes.none) return m.result(input);
    const ValueName largest = m.reduce("MAX", input, axes.axes);
    const ValueName sum = m.reduce("SUM", m.formula("exp(a - b)", {input, largest}), axes.axes);
    const ValueName value = m.formula("a + log(b)", {largest, sum});
    m.result(axes.keep ? value : m.reshape(value, without(m.shape(input), axes.axes)), 0,
             m.graph().type(input));
}

void reduce_product(Maths& m, const NodeReader& n) {
    const Axes axes = axes_of(m, n);
    const ValueName& input = n.input(0);
    if (axes.none) return m.result(input);
    ValueName value = input;
    for (const int64_t axis : axes.axes) value = product_along(m, value, axis);
    m.result(axes.keep ? value : m.reshape(value, without(m.shape(input), axes.axes)), 0,
             m.graph().type(input));
}

/// The place of the largest, from the front or from the end.
void arg(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const int64_t axis = m.axis_in(value, n.integer("axis", 0));
    const int64_t count = m.shape(value).at(static_cast<size_t>(axis));
    const bool last = n.integer("select_last_index", 0) != 0;
    if (n.type() == "ArgMin") value = m.formula("-a", {value});
    if (last) value = m.slice(value, axis, count - 1, count, -1);
    ValueName place = m.reduce("ARG_MAX", value, {axis}, n.integer("keepdims", 1) != 0);
    if (last) place = m.formula("b - a", {place, m.scalar(count - 1)});
    m.result(place, 0, kOnnxInt64);
}

}  // namespace

std::span<const OnnxOperator> reductions() {
    static const std::vector<OnnxOperator> all = [] {
        std::vector<OnnxOperator> rows = {{"ArgMax", arg},
                                          {"ArgMin", arg},
                                          {"ReduceLogSumExp", reduce_log_sum_exp},
                                          {"ReduceMean", reduce_mean},
                                          {"ReduceProd", reduce_product}};
        for (const Kind& one : kKinds) rows.push_back({one.type, reduce});
        return rows;
    }();
    return all;
}

}  // namespace tandem::compiler::onnx_operators
