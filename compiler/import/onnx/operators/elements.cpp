// SPDX-License-Identifier: Apache-2.0
// Operators that work element by element.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/graph/formula.h"
#include "compiler/graph/operators.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

std::vector<ValueName> inputs_of(const NodeReader& n) {
    std::vector<ValueName> inputs;
    for (int i = 0; i < n.inputs(); ++i) inputs.push_back(n.input(i));
    return inputs;
}

/// Before opset 7 the axes of the second input began at `axis`, and the slopes of PRelu at the
/// channels.
std::vector<ValueName> aligned_inputs(Maths& m, const NodeReader& n) {
    std::vector<ValueName> inputs = inputs_of(n);
    if (n.opset() >= 7 || inputs.size() != 2) return inputs;
    const int64_t rank = m.rank(inputs[0]), own = m.rank(inputs[1]);
    const bool slopes = n.type() == "PRelu" && own == 1 && rank > 1;
    if (!slopes && !n.has("axis")) return inputs;
    const int64_t axis = slopes ? 1 : m.axis_in(inputs[0], n.integer("axis", 0));
    Shape shape = m.shape(inputs[1]);
    for (int64_t i = axis + own; i < rank; ++i) shape.push_back(1);
    inputs[1] = m.reshape(inputs[1], shape);
    return inputs;
}

/// Operators without attributes, as formulas. Results of comparisons are truth.
struct Plain {
    const char* type;
    const char* formula;
    bool truth = false;
};
constexpr Plain kPlain[] = {
    {"Abs", "abs(a)"},
    {"Acos", "acos(a)"},
    {"Acosh", "acosh(a)"},
    {"And", "and(a, b)", true},
    {"Asin", "asin(a)"},
    {"Asinh", "asinh(a)"},
    {"Atan", "atan(a)"},
    {"Atanh", "atanh(a)"},
    {"Ceil", "ceil(a)"},
    {"Cos", "cos(a)"},
    {"Cosh", "cosh(a)"},
    {"Div", "div(a, b)"},
    {"Equal", "a == b", true},
    {"Erf", "erf(a)"},
    {"Exp", "exp(a)"},
    {"Floor", "floor(a)"},
    {"Greater", "b < a", true},
    {"GreaterOrEqual", "less_equal(b, a)", true},
    {"HardSwish", "hard_swish(a)"},
    {"IsNaN", "is_nan(a)", true},
    {"Less", "a < b", true},
    {"LessOrEqual", "less_equal(a, b)", true},
    {"Log", "log(a)"},
    {"Mish", "a * tanh(softplus(a))"},
    {"Mul", "a * b"},
    {"Neg", "-a"},
    {"Not", "not(a)", true},
    {"Or", "or(a, b)", true},
    {"PRelu", "select(a < 0, a * b, a)"},
    {"Reciprocal", "reciprocal(a)"},
    {"Round", "nearest(a)"},
    {"Sigmoid", "sigmoid(a)"},
    {"Sign", "sign(a)"},
    {"Sin", "sin(a)"},
    {"Sinh", "sinh(a)"},
    {"Softplus", "softplus(a)"},
    {"Softsign", "a / (1 + abs(a))"},
    {"Sqrt", "sqrt(a)"},
    {"Sub", "a - b"},
    {"Tan", "tan(a)"},
    {"Tanh", "tanh(a)"},
    {"Where", "select(a, b, c)"},
    {"Xor", "xor(a, b)", true},
};

void plain(Maths& m, const NodeReader& n) {
    const auto* const row =
        std::ranges::find_if(kPlain, [&](const Plain& one) { return n.type() == one.type; });
    const ValueName value = m.formula(row->formula, aligned_inputs(m, n));
    const int typed = n.type() == "Where" ? 1 : 0;
    m.result(value, 0, row->truth ? kOnnxBool : m.graph().type(n.input(typed)));
}

/// A formula of one input and some attributes, in the order of {0}, {1} ...
struct Parameter {
    const char* name;
    float otherwise;
};
struct WithParameters {
    const char* type;
    const char* formula;
    std::vector<Parameter> parameters;
};
const std::vector<WithParameters>& with_parameters() {
    static const std::vector<WithParameters> all = {
        {"Celu", "max(a, 0) + min({0} * exp_minus_one(a / {0}), 0)", {{"alpha", 1.0f}}},
        {"Elu", "elu(a, {0})", {{"alpha", 1.0f}}},
        {"HardSigmoid", "hard_sigmoid(a, {0}, {1})", {{"alpha", 0.2f}, {"beta", 0.5f}}},
        {"LeakyRelu", "select(a < 0, {0} * a, a)", {{"alpha", 0.01f}}},
        {"Selu",
         "{1} * elu(a, {0})",
         {{"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}}},
        {"Shrink",
         "select(a < -{1}, a + {0}, select({1} < a, a - {0}, 0.0))",
         {{"bias", 0.0f}, {"lambd", 0.5f}}},
        {"ThresholdedRelu", "select({0} < a, a, 0.0)", {{"alpha", 1.0f}}},
    };
    return all;
}

void parametric(Maths& m, const NodeReader& n) {
    const auto row = std::ranges::find_if(
        with_parameters(), [&](const WithParameters& one) { return n.type() == one.type; });
    std::string formula = row->formula;
    for (size_t i = 0; i < row->parameters.size(); ++i) {
        const auto& [name, otherwise] = row->parameters[i];
        const std::string place = fmt::format("{{{}}}", i);
        const std::string number = formula_number(n.real(name, otherwise));
        for (size_t at = formula.find(place); at != std::string::npos; at = formula.find(place))
            formula.replace(at, place.size(), number);
    }
    m.result(m.formula(formula, {n.input(0)}), 0, m.graph().type(n.input(0)));
}

/// Of any number of inputs.
void several(Maths& m, const NodeReader& n) {
    const std::string& type = n.type();
    const char* const formula = type == "Max" ? "max(a, b)" : type == "Min" ? "min(a, b)" : "a + b";
    ValueName value = n.input(0);
    for (int i = 1; i < n.inputs(); ++i) value = m.formula(formula, {value, n.input(i)});
    if (type == "Mean")
        value = m.formula("a / b", {value, m.scalar(static_cast<float>(n.inputs()))});
    m.result(value, 0, m.graph().type(n.input(0)));
}

// ---- sums that a product takes in

/// A constant with one element for each channel of an image, or for each column of rows.
bool is_bias_of(const Shape& value, bool image, const Shape& constant) {
    if (value.empty() || constant.size() > value.size()) return false;
    const size_t axis = image ? 1 : value.size() - 1;
    for (size_t i = 0; i < value.size(); ++i) {
        const size_t lead = value.size() - constant.size();
        const int64_t extent = i < lead ? 1 : constant.at(i - lead);
        if (extent != (i == axis ? value.at(i) : 1)) return false;
    }
    return true;
}

/// Into the producer's bias; false: it cannot take it.
bool add_bias(Maths& m, const NodeReader& n, int value, int bias) {
    const Tensor* const constant = m.graph().constant(n.input(bias));
    Node* const producer = m.graph().sole_producer(n.input(value));
    if (constant == nullptr || constant->type != ElementType::kFloat32 || producer == nullptr ||
        producer->inputs.size() != 2 ||
        operator_info(producer->op).lowering != LoweringKind::kMatmul ||
        activation(*producer) != Activation::kNone ||
        !is_bias_of(m.shape(n.input(value)), m.graph().is_image(n.input(value)), constant->shape))
        return false;
    producer->inputs.push_back(m.graph().graph().add(
        real_tensor(reals_of(*constant), {static_cast<int64_t>(constant->elements())})));
    m.result(n.input(value));
    return true;
}

void add(Maths& m, const NodeReader& n) {
    if (!n.has("axis") && (add_bias(m, n, 0, 1) || add_bias(m, n, 1, 0))) return;
    m.result(m.formula("a + b", aligned_inputs(m, n)), 0, m.graph().type(n.input(0)));
}

/// Fused into what makes its input, where that can.
void relu(Maths& m, const NodeReader& n) {
    Node* const producer = m.graph().sole_producer(n.input(0));
    if (producer == nullptr ||
        find_attribute(operator_info(producer->op), "activation") == nullptr ||
        activation(*producer) != Activation::kNone)
        return m.result(m.formula("relu(a)", {n.input(0)}), 0, m.graph().type(n.input(0)));
    producer->attributes["activation"] = std::string(activation_name(Activation::kRelu));
    m.result(n.input(0));
}

void clip(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const auto bound = [&](int input, const char* name, const char* formula) {
        if (n.has_input(input))
            value = m.formula(formula, {value, n.input(input)});
        else if (n.has(name))
            value = m.formula(formula, {value, m.scalar(n.real(name, 0))});
    };
    bound(1, "min", "max(a, b)");
    bound(2, "max", "min(a, b)");
    if (value == n.input(0)) value = m.formula("a", {value});
    m.result(value, 0, m.graph().type(n.input(0)));
}

void power(Maths& m, const NodeReader& n) {
    const ValueName base = m.to_float(n.input(0)), exponent = m.to_float(n.input(1));
    const ValueName value = m.formula("power(a, b)", {base, exponent});
    const bool whole = !m.is_float(n.input(0));
    m.result(whole ? m.formula("round(a)", {value}) : value, 0, m.graph().type(n.input(0)));
}

void mod(Maths& m, const NodeReader& n) {
    const bool truncated = n.integer("fmod", 0) != 0;
    m.result(m.formula(truncated ? "fmod(a, b)" : "remainder(a, b)", inputs_of(n)), 0,
             m.graph().type(n.input(0)));
}

void bit_shift(Maths& m, const NodeReader& n) {
    const bool left = n.word("direction", "") == "LEFT";
    m.result(m.formula(left ? "shift_left(a, b)" : "shift_right(a, b)", inputs_of(n)), 0,
             m.graph().type(n.input(0)));
}

void is_infinite(Maths& m, const NodeReader& n) {
    const bool above = n.integer("detect_positive", 1) != 0;
    const bool below = n.integer("detect_negative", 1) != 0;
    const char* const formula = above && below ? "abs(a) == infinity"
                                : above        ? "a == infinity"
                                : below        ? "-a == infinity"
                                               : "and(a == infinity, 0)";
    m.result(m.formula(formula, {n.input(0)}), 0, kOnnxBool);
}

// ---- types

void cast_to(Maths& m, const NodeReader& n, int32_t to) {
    if (!is_number_type(to)) n.fail("type", "a type of numbers or BOOL", std::to_string(to));
    const ValueName& from = n.input(0);
    const bool real = m.is_float(from);
    const char* formula = "a";
    if (to == kOnnxBool)
        formula = "truth(a)";
    else if (is_float_type(to) != real)
        formula = real ? "truncate(a)" : "float(a)";
    const ValueName value = m.formula(formula, {from});
    if (is_float8(to)) return m.result(m.rounded_to_float8(value, to), 0, to);
    m.result(to == onnx::TensorProto::BFLOAT16 ? m.rounded_to_bf16(value) : value, 0, to);
}

void cast(Maths& m, const NodeReader& n) {
    cast_to(m, n, static_cast<int32_t>(n.integer("to", 0)));
}
void cast_like(Maths& m, const NodeReader& n) { cast_to(m, n, m.graph().type(n.input(1))); }

}  // namespace

std::span<const OnnxOperator> elements() {
    static const std::vector<OnnxOperator> all = [] {
        std::vector<OnnxOperator> rows = {{"Add", add},     {"BitShift", bit_shift},
                                          {"Cast", cast},   {"CastLike", cast_like},
                                          {"Clip", clip},   {"IsInf", is_infinite},
                                          {"Max", several}, {"Mean", several},
                                          {"Min", several}, {"Mod", mod},
                                          {"Pow", power},   {"Relu", relu},
                                          {"Sum", several}};
        for (const Plain& one : kPlain) rows.push_back({one.type, plain});
        for (const WithParameters& one : with_parameters()) rows.push_back({one.type, parametric});
        return rows;
    }();
    return all;
}

}  // namespace tandem::compiler::onnx_operators
