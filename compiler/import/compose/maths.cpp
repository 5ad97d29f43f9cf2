// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/compose/maths.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "compiler/graph/arrangement.h"
#include "compiler/graph/formula.h"
#include "compiler/graph/operators.h"
#include "compiler/import/compose/constants.h"
#include "compiler/import/compose/limits.h"
#include "compiler/import/compose/value_types.h"

namespace tandem::compiler {
namespace {

using Integers = std::vector<int64_t>;

/// A constant of one element, as a number of a formula.
std::optional<std::string> number_of(const Tensor* constant) {
    if (constant == nullptr || constant->elements() != 1) return std::nullopt;
    if (constant->type == ElementType::kFloat32) return formula_number(reals_of(*constant)[0]);
    return formula_number(integers_of(*constant)[0]);
}

}  // namespace

int64_t Maths::rank(const ValueName& value) const {
    return static_cast<int64_t>(shape(value).size());
}

int64_t Maths::axis_in(const ValueName& value, int64_t axis, bool behind) const {
    const int64_t all = rank(value) + (behind ? 1 : 0);
    if (axis < -all || axis >= all)
        node_.fail("axis", "an axis of " + shape_text(shape(value)), std::to_string(axis));
    return axis < 0 ? axis + all : axis;
}

void Maths::need_at_most(int64_t count, int64_t most, const std::string& what,
                         const std::string& of) const {
    if (count > most)
        node_.fail(what, "at most " + std::to_string(most) + " " + of, std::to_string(count));
}

ValueName Maths::integers(const Integers& values, const Shape& shape) {
    ValueName name = graph_.fresh();
    graph_.add_constant(name, integer_tensor(values, shape), kOnnxInt64);
    return name;
}

ValueName Maths::reals(const std::vector<float>& values, const Shape& shape) {
    ValueName name = graph_.fresh();
    graph_.add_constant(name, real_tensor(values, shape), kOnnxFloat);
    return name;
}

ValueName Maths::places(int64_t count, int64_t axis, int64_t rank) {
    need_at_most(count, kMostMade, "axis", "elements");
    Integers values(static_cast<size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    Shape shape(static_cast<size_t>(rank), 1);
    shape.at(static_cast<size_t>(axis)) = count;
    return integers(values, shape);
}

int32_t Maths::number_type(const ValueName& like) const {
    return is_float(like) ? kOnnxFloat : kOnnxInt64;
}

ValueName Maths::made(Operator op, Attributes attributes, const std::vector<ValueName>& operands,
                      int32_t type, const Shape& shape) {
    Node node;
    node.op = op;
    node.attributes = std::move(attributes);
    ValueName name = graph_.fresh();
    try {
        graph_.add(name, std::move(node), operands, type, shape);
    } catch (const UserError& error) {
        throw UserError(node_.text() + ": " + error.what());
    }
    return name;
}

ValueName Maths::formula(const std::string& text, const std::vector<ValueName>& operands) {
    if (operands.empty()) node_.fail("inputs", "1 or more", "none");
    // Activations first, each once; single numbers become a part of the formula.
    std::vector<ValueName> distinct;
    for (const bool constants : {false, true})
        for (const ValueName& operand : operands) {
            const Tensor* const constant = graph_.constant(operand);
            if ((constant != nullptr) != constants || number_of(constant)) continue;
            if (std::ranges::find(distinct, operand) == distinct.end()) distinct.push_back(operand);
        }
    Shape shape;
    for (const ValueName& operand : operands) {
        const auto both = broadcast(shape, this->shape(operand));
        if (!both)
            node_.fail("inputs", "shapes that go together",
                       shape_text(shape) + ", " + shape_text(this->shape(operand)));
        shape = *both;
    }
    if (distinct.empty()) distinct.push_back(operands.front());
    std::vector<std::string> names;
    for (const ValueName& operand : operands) {
        const auto at = std::ranges::find(distinct, operand) - distinct.begin();
        const auto number = number_of(graph_.constant(operand));
        names.push_back(at < static_cast<ptrdiff_t>(distinct.size())
                            ? std::string(1, static_cast<char>('a' + at))
                            : number.value());
    }
    const std::string inserted = substituted(text, names);
    std::array<bool, 3> floats{};
    if (distinct.size() > floats.size())
        node_.fail("inputs", "3 arrays at most", std::to_string(distinct.size()));
    for (size_t i = 0; i < distinct.size(); ++i) floats.at(i) = is_float(distinct[i]);
    int32_t type = kOnnxInt64;
    try {
        if (parse_formula(inserted, std::span<const bool>(floats).first(distinct.size()))
                .is_float())
            type = kOnnxFloat;
    } catch (const std::invalid_argument& error) {
        node_.fail("types", "inputs that " + text + " is defined for", error.what());
    }
    ValueName name = graph_.fresh();
    if (on_images(inserted, distinct, type, name)) return name;
    const ValueName result = made(Operator::kElementwise, {{"formula", inserted}}, distinct, type);
    // Numbers of more axes than the arrays have.
    return this->shape(result) == shape ? result : reshape(result, shape);
}

bool Maths::on_images(const std::string& text, const std::vector<ValueName>& operands, int32_t type,
                      const ValueName& name) {
    const auto is_image = [&](const ValueName& one) { return graph_.is_image(one); };
    if (std::ranges::none_of(operands, is_image)) return false;
    for (const ValueName& one : operands)
        if (rank(one) > 4 || (rank(one) != 4 && graph_.constant(one) == nullptr)) return false;
    Node node;
    node.op = Operator::kElementwise;
    node.attributes["formula"] = text;
    for (const ValueName& one : operands) {
        if (graph_.constant(one) == nullptr) {
            node.inputs.push_back(graph_.image(one));
            continue;
        }
        Shape four(4, 1);
        std::ranges::copy_backward(shape(one), four.end());
        node.inputs.push_back(graph_.plain(transpose(reshape(one, four), {0, 2, 3, 1})));
    }
    graph_.add_image(name, std::move(node), type);
    return true;
}

ValueName Maths::to_float(const ValueName& value) {
    return is_float(value) ? value : formula("float(a)", {value});
}

/// Dekker's way: what 16 bits less of the fraction are, but for numbers next to the largest.
ValueName Maths::rounded_to_bf16(const ValueName& value) {
    return formula("select(abs(a) < 1e33, a * 65537 - (a * 65537 - a), a)", {value});
}

ValueName Maths::rounded_to_float8(const ValueName& value, int32_t type) {
    struct Format {
        int bits, least;  ///< of the fraction; exponent of the smallest number that has all of them
        float largest;
    };
    constexpr Format kFormats[] = {{3, -6, 448}, {3, -7, 240}, {2, -14, 57344}, {2, -15, 57344}};
    const auto& [bits, least, largest] = kFormats[type - 17];
    // Below the least exponent numbers are evenly apart.
    const std::string step = formula_number(std::ldexp(1.0f, bits - least)),
                      split = formula_number(std::ldexp(1.0f, 23 - bits) + 1),
                      most = formula_number(largest);
    const ValueName within = formula("clip(a, -" + most + ", " + most + ")", {value});
    return formula("select(abs(a) < " + formula_number(std::ldexp(1.0f, least)) + ", nearest(a * " +
                       step + ") / " + step + ", a * " + split + " - (a * " + split + " - a))",
                   {within});
}

ValueName Maths::reduce(const std::string& function, const ValueName& value, Integers axes,
                        bool keep_dims) {
    std::ranges::sort(axes);
    if (axes.empty()) return value;
    const int32_t type = function == "ARG_MAX" ? kOnnxInt64 : number_type(value);
    return made(Operator::kReduce,
                {{"function", function}, {"axes", axes}, {"keep_dims", int64_t{keep_dims}}},
                {value}, type);
}

ValueName Maths::mean(const ValueName& value, const Integers& axes, bool keep_dims) {
    int64_t count = 1;
    for (const int64_t axis : axes) count *= shape(value).at(static_cast<size_t>(axis));
    const ValueName sum = reduce("SUM", value, axes, keep_dims);
    return is_float(value) ? formula("a / b", {sum, scalar(static_cast<float>(count))})
                           : formula("div(a, b)", {sum, scalar(count)});
}

ValueName Maths::reshape(const ValueName& value, const Shape& shape) {
    if (this->shape(value) == shape) return value;
    return made(Operator::kReshape, {}, {value}, number_type(value), shape);
}

ValueName Maths::transpose(const ValueName& value, const Integers& perm) {
    if (std::ranges::is_sorted(perm)) return value;
    return made(Operator::kTranspose, {{"perm", perm}}, {value}, number_type(value));
}

ValueName Maths::slice(const ValueName& value, int64_t axis, int64_t begin, int64_t size,
                       int64_t step) {
    if (axis < 0 || axis >= rank(value))
        node_.fail("inputs", "an axis " + std::to_string(axis), shape_text(shape(value)));
    const auto at = static_cast<size_t>(axis);
    if (begin == 0 && step == 1 && size == shape(value).at(at)) return value;
    if (size == 0) return empty_like(value, axis);
    Integers begins(shape(value).size()), sizes = shape(value), steps(sizes.size(), 1);
    begins[at] = begin;
    sizes[at] = size;
    steps[at] = step;
    return made(Operator::kSlice, {{"begin", begins}, {"size", sizes}, {"step", steps}}, {value},
                number_type(value));
}

/// Only constants have no elements: shapes, and lists of axes.
ValueName Maths::empty_like(const ValueName& value, int64_t axis) {
    if (graph_.constant(value) == nullptr) node_.fail("slice", "1 element or more", "none");
    Shape shape = this->shape(value);
    shape.at(static_cast<size_t>(axis)) = 0;
    return is_float(value) ? reals({}, shape) : integers({}, shape);
}

ValueName Maths::concatenate(const std::vector<ValueName>& values, int64_t axis) {
    constexpr size_t kMost = 64;
    if (values.empty()) node_.fail("inputs", "1 or more", "none");
    if (values.size() == 1) return values.front();
    if (values.size() > kMost) {
        std::vector<ValueName> parts;
        for (size_t i = 0; i < values.size(); i += kMost)
            parts.push_back(concatenate(
                {values.begin() + static_cast<ptrdiff_t>(i),
                 values.begin() + static_cast<ptrdiff_t>(std::min(i + kMost, values.size()))},
                axis));
        return concatenate(parts, axis);
    }
    return made(Operator::kConcatenation, {{"axis", axis}}, values, number_type(values.front()));
}

ValueName Maths::pad(const ValueName& value, const Integers& before, const Integers& behind,
                     float fill) {
    const auto none = [](int64_t count) { return count == 0; };
    if (std::ranges::all_of(before, none) && std::ranges::all_of(behind, none)) return value;
    return made(Operator::kPad, {{"before", before}, {"behind", behind}, {"fill", fill}}, {value},
                number_type(value));
}

ValueName Maths::broadcast_to(const ValueName& value, const Shape& shape) {
    if (this->shape(value) == shape) return value;
    return made(Operator::kBroadcastTo, {}, {value}, number_type(value), shape);
}

ValueName Maths::gather(const ValueName& value, const ValueName& indices, int64_t axis) {
    const Shape from = shape(value), of = shape(indices);
    if (axis < 0 || axis >= rank(value))
        node_.fail("input", "an axis " + std::to_string(axis), shape_text(from));
    Integers perm(from.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
    const ValueName rows = transpose(value, perm);
    const ValueName positive =
        formula("select(a < 0, a + b, a)", {indices, scalar(from.at(static_cast<size_t>(axis)))});
    const ValueName taken = made(Operator::kGather, {}, {positive, rows}, number_type(value));
    // Axes of the indices stand in front; they take the place of `axis`.
    Integers back(shape(taken).size());
    std::iota(back.begin(), back.end(), 0);
    const auto count = static_cast<ptrdiff_t>(of.size());
    std::rotate(back.begin(), back.begin() + count, back.begin() + count + axis);
    return transpose(taken, back);
}

ValueName Maths::matmul(const ValueName& a, const ValueName& b) {
    Shape of_a = shape(a), of_b = shape(b);
    if (of_a.size() < 2 || of_b.size() < 2)
        node_.fail("inputs", "2 axes or more", shape_text(of_a) + ", " + shape_text(of_b));
    if (!is_float(a) || !is_float(b))
        node_.fail("inputs", "real numbers on both sides", "integers");
    const Shape outer_a(of_a.begin(), of_a.end() - 2), outer_b(of_b.begin(), of_b.end() - 2);
    const auto outer = broadcast(outer_a, outer_b);
    if (!outer || of_a.back() != of_b[of_b.size() - 2])
        node_.fail("inputs", "shapes that can be multiplied",
                   shape_text(of_a) + ", " + shape_text(of_b));
    Shape out = *outer;
    out.push_back(of_a.at(of_a.size() - 2));
    out.push_back(of_b.back());
    const Tensor* const weights = graph_.constant(b);
    if (weights != nullptr && of_b.size() == 2) {
        const ValueName turned = transpose(b, {1, 0});
        Node node;
        node.op = Operator::kFullyConnected;
        node.inputs = {graph_.activation(a), graph_.plain(turned)};
        ValueName name = graph_.fresh();
        graph_.add_plain(name, std::move(node), kOnnxFloat, out);
        return name;
    }
    const auto wide = [&](const ValueName& value) {
        Shape full = *outer;
        const Shape& own = shape(value);
        full.insert(full.end(), own.end() - 2, own.end());
        return broadcast_to(value, full);
    };
    Node node;
    node.op = Operator::kBatchMatmul;
    node.inputs = {graph_.activation(wide(a)), graph_.activation(wide(b))};
    ValueName name = graph_.fresh();
    graph_.add_plain(name, std::move(node), kOnnxFloat, out);
    return name;
}

void Maths::result(const ValueName& value, int output) {
    if (!node_.has_output(output)) return;
    graph_.rename(value, node_.output(output));
}

void Maths::result(const ValueName& value, int output, int32_t type) {
    result(value, output);
    if (node_.has_output(output)) graph_.set_type(node_.output(output), type);
}

}  // namespace tandem::compiler
