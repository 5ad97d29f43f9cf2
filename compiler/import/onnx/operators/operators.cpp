// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/operators/operators.h"

#include <algorithm>

#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

using Family = std::span<const OnnxOperator> (*)();
constexpr Family kFamilies[] = {attentions, convolutions,   einsums,  elements, indices,
                                losses,     normalisations, pools,    products, quantisation,
                                recurrent,  reductions,     resizing, sampling, shapes,
                                signals,    training};

}  // namespace

const OnnxOperator* find(const std::string& type) {
    for (const Family family : kFamilies) {
        const auto all = family();
        const auto found = std::ranges::find(all, type, &OnnxOperator::type);
        if (found != all.end()) return &*found;
    }
    return nullptr;
}

std::string names() {
    std::vector<std::string> sorted;
    for (const Family family : kFamilies)
        for (const OnnxOperator& one : family()) sorted.emplace_back(one.type);
    std::ranges::sort(sorted);
    std::string text;
    for (const std::string& one : sorted) text += (text.empty() ? "" : ", ") + one;
    return text;
}

Integers known_integers(Maths& m, const NodeReader& n, int input, const std::string& role) {
    const Tensor* const tensor = m.graph().known(n.input(input));
    if (tensor == nullptr)
        n.fail(role, "a constant, or an input whose values are given (--input)",
               "a value that is computed");
    if (tensor->type != ElementType::kInt64) n.fail(role, "integers", "real numbers");
    Integers values = integers_of(*tensor);
    // Where a slice ends at the largest number, it ends at the end: so does all else.
    for (int64_t& one : values) one = std::clamp<int64_t>(one, INT32_MIN, INT32_MAX);
    if (values.empty() && tensor->shape.empty()) n.fail(role, "a number", "none");
    return values;
}

int64_t known_integer(Maths& m, const NodeReader& n, int input, const std::string& role) {
    const Integers values = known_integers(m, n, input, role);
    if (values.size() != 1) n.fail(role, "one number", std::to_string(values.size()));
    return values[0];
}

int64_t one_integer(const NodeReader& n, const Tensor& tensor, const std::string& role) {
    if (tensor.type != ElementType::kInt64 || tensor.elements() != 1)
        n.fail(role, "one integer", shape_text(tensor.shape));
    return integers_of(tensor)[0];
}

float known_real(Maths& m, const NodeReader& n, int input, const std::string& role) {
    const Tensor* const tensor = m.graph().known(n.input(input));
    if (tensor == nullptr || tensor->elements() != 1)
        n.fail(role, "one number that is constant or given (--input)", "another value");
    return tensor->type == ElementType::kFloat32 ? reals_of(*tensor)[0]
                                                 : static_cast<float>(integers_of(*tensor)[0]);
}

int64_t product(const Shape& shape, size_t from, size_t to) {
    int64_t count = 1;
    for (size_t axis = from; axis < std::min(to, shape.size()); ++axis) count *= shape[axis];
    return count;
}

Shape flattened(const Shape& shape, int64_t axis) {
    const auto at = static_cast<size_t>(axis);
    return {product(shape, 0, at), product(shape, at)};
}

Integers all_axes(Maths& m, const ValueName& value) { return axes_from(m, value, 0); }

Integers axes_from(Maths& m, const ValueName& value, int64_t first) {
    Integers axes;
    for (int64_t axis = first; axis < m.rank(value); ++axis) axes.push_back(axis);
    return axes;
}

ValueName log_softmax(Maths& m, const ValueName& value, int64_t axis) {
    const ValueName below = m.formula("a - b", {value, m.reduce("MAX", value, {axis})});
    const ValueName sum = m.reduce("SUM", m.formula("exp(a)", {below}), {axis});
    return m.formula("a - log(b)", {below, sum});
}

ValueName softmax(Maths& m, const ValueName& value, int64_t axis) {
    const ValueName power = m.formula("exp(a - b)", {value, m.reduce("MAX", value, {axis})});
    return m.formula("a / b", {power, m.reduce("SUM", power, {axis})});
}

}  // namespace tandem::compiler::onnx_operators
