// SPDX-License-Identifier: Apache-2.0
// Steps of optimisers (ai.onnx.preview.training): rate, count of updates, then parameters,
// gradients and states, as many of each.
#include <cmath>

#include "compiler/graph/formula.h"
#include "compiler/import/onnx/operators/operators.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// Calls `step` with the place of a parameter, its gradient and its states.
template <class Step>
void each(const NodeReader& n, int states, const Step& step) {
    const int kinds = states + 2, count = (n.inputs() - 2) / kinds;
    if (count < 1 || n.inputs() != 2 + count * kinds || n.outputs() != count * (states + 1))
        n.fail("inputs", "rate, count, and parameters, gradients and states",
               std::to_string(n.inputs()));
    for (int i = 0; i < count; ++i) {
        std::vector<ValueName> values;
        for (int kind = 0; kind < kinds; ++kind) values.push_back(n.input(2 + kind * count + i));
        step(values, [i, count](int output) { return output * count + i; });
    }
}

std::string number(const NodeReader& n, const char* name, float otherwise) {
    return formula_number(n.real(name, otherwise));
}

void adagrad(Maths& m, const NodeReader& n) {
    const float decay = n.real("decay_factor", 0);
    const ValueName rate =
        m.formula("a / (1 + float(b) * " + formula_number(decay) + ")", {n.input(0), n.input(1)});
    each(n, 1, [&](const std::vector<ValueName>& v, const auto& output) {
        const ValueName gradient =
            m.formula("a * " + number(n, "norm_coefficient", 0) + " + b", {v[0], v[1]});
        const ValueName squares = m.formula("a + b * b", {v[2], gradient});
        const ValueName step = m.formula("a * b / (sqrt(c) + " + number(n, "epsilon", 1e-6f) + ")",
                                         {rate, gradient, squares});
        m.result(m.formula("a - b", {v[0], step}), output(0));
        m.result(squares, output(1));
    });
}

void adam(Maths& m, const NodeReader& n) {
    const std::string alpha = number(n, "alpha", 0.9f), beta = number(n, "beta", 0.999f);
    // Before the first update the rate is as it is.
    const ValueName rate = m.formula("select(b == 0, a, a * sqrt(1 - exp(float(b) * log(" + beta +
                                         "))) / (1 - exp(float(b) * log(" + alpha + "))))",
                                     {n.input(0), n.input(1)});
    each(n, 2, [&](const std::vector<ValueName>& v, const auto& output) {
        const ValueName gradient =
            m.formula("a * " + number(n, "norm_coefficient", 0) + " + b", {v[0], v[1]});
        const ValueName first =
            m.formula("a * " + alpha + " + b * (1 - " + alpha + ")", {v[2], gradient});
        const ValueName second =
            m.formula("a * " + beta + " + b * b * (1 - " + beta + ")", {v[3], gradient});
        const ValueName step = m.formula("a * b / (sqrt(c) + " + number(n, "epsilon", 1e-6f) + ")",
                                         {rate, first, second});
        m.result(m.formula("(a - b) * (1 - " + number(n, "norm_coefficient_post", 0) + ")",
                           {v[0], step}),
                 output(0));
        m.result(first, output(1));
        m.result(second, output(2));
    });
}

void momentum(Maths& m, const NodeReader& n) {
    const std::string alpha = number(n, "alpha", 0), mode = n.word("mode", "standard");
    const ValueName beta =
        m.formula("select(0 < b, c, 1.0)", {n.input(0), n.input(1), m.scalar(n.real("beta", 1))});
    each(n, 1, [&](const std::vector<ValueName>& v, const auto& output) {
        const ValueName gradient =
            m.formula("a * " + number(n, "norm_coefficient", 0) + " + b", {v[0], v[1]});
        const ValueName moved = m.formula("a * " + alpha + " + b * c", {v[2], gradient, beta});
        const ValueName step =
            mode == "nesterov" ? m.formula("a + b * " + alpha, {gradient, moved}) : moved;
        m.result(m.formula("a - b * c", {v[0], n.input(0), step}), output(0));
        m.result(moved, output(1));
    });
}

}  // namespace

std::span<const OnnxOperator> training() {
    static constexpr OnnxOperator kAll[] = {
        {"Adagrad", adagrad}, {"Adam", adam}, {"Momentum", momentum}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
