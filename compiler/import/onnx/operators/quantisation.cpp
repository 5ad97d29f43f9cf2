// SPDX-License-Identifier: Apache-2.0
// Operators of quantised numbers: value = scale * (q - zero point).
#include "compiler/import/onnx/operators/windows.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

using onnx::TensorProto;

/// One number for each block of elements along the axis, as one for each element.
ValueName spread_blocks(Maths& m, const ValueName& value, const ValueName& numbers, int64_t axis) {
    Shape shape = m.shape(numbers), wide = shape;
    const auto at = static_cast<size_t>(axis);
    const int64_t extent = m.shape(value).at(at), blocks = shape.at(at);
    if (extent % blocks != 0) m.node().fail("scale", "blocks of equal size", shape_text(shape));
    if (blocks == extent) return numbers;
    shape.insert(shape.begin() + axis + 1, 1);
    Shape apart = shape;
    apart.at(at + 1) = extent / blocks;
    wide.at(at) = extent;
    return m.reshape(m.broadcast_to(m.reshape(numbers, shape), apart), wide);
}

/// Numbers of one axis, or of blocks along it, beside the other axes of `value`.
ValueName along(Maths& m, const ValueName& value, const ValueName& numbers, int64_t axis) {
    const bool single =
        m.rank(numbers) == 0 || (m.rank(numbers) == 1 && m.shape(numbers).at(0) == 1);
    if (single) return m.reshape(numbers, {});
    if (axis < 0 || axis >= m.rank(value))
        m.node().fail("axis", "an axis of " + shape_text(m.shape(value)), std::to_string(axis));
    if (m.rank(numbers) != 1 || m.rank(value) == 1) return spread_blocks(m, value, numbers, axis);
    Shape shape(m.shape(value).size(), 1);
    shape.at(static_cast<size_t>(axis)) = m.shape(numbers).at(0);
    return m.reshape(numbers, shape);
}

int64_t axis_of(Maths& m, const NodeReader& n) {
    const int64_t axis = n.integer("axis", 1);
    return m.rank(n.input(0)) <= axis ? 0 : m.axis_in(n.input(0), axis);
}

const char* within(const SourceNode& n, int32_t type) {
    switch (type) {
        case TensorProto::INT8:
            return "clip(a, -128, 127)";
        case TensorProto::UINT8:
            return "clip(a, 0, 255)";
        case TensorProto::INT16:
            return "clip(a, -32768, 32767)";
        case TensorProto::UINT16:
            return "clip(a, 0, 65535)";
        default:
            n.fail("zero point", "INT8, UINT8, INT16 or UINT16", std::to_string(type));
    }
}

/// Rounded half to even, then the zero point.
ValueName quantised(Maths& m, const ValueName& steps, const ValueName& zero, int32_t type) {
    if (is_float8(type)) return m.rounded_to_float8(steps, type);
    ValueName whole = m.formula("round(a)", {steps});
    if (!zero.empty()) whole = m.formula("a + b", {whole, zero});
    return m.formula(within(m.node(), type), {whole});
}

void quantize(Maths& m, const NodeReader& n) {
    const int64_t axis = axis_of(m, n);
    const ValueName steps =
        m.formula("a / b", {m.to_float(n.input(0)), along(m, n.input(0), n.input(1), axis)});
    const auto named = static_cast<int32_t>(n.integer("output_dtype", 0));
    const int32_t type = n.has_input(2) ? m.graph().type(n.input(2))
                         : named != 0   ? named
                                        : TensorProto::UINT8;
    const ValueName zero = n.has_input(2) ? along(m, n.input(0), n.input(2), axis) : ValueName();
    m.result(quantised(m, steps, zero, type), 0, type);
}

void dequantize(Maths& m, const NodeReader& n) {
    const int64_t axis = axis_of(m, n);
    const ValueName scale = along(m, n.input(0), n.input(1), axis);
    ValueName steps = n.input(0);
    if (n.has_input(2)) steps = m.formula("a - b", {steps, along(m, n.input(0), n.input(2), axis)});
    m.result(m.formula("a * b", {m.to_float(steps), scale}), 0, m.graph().type(n.input(1)));
}

/// uint8 whose range has the values and 0.
void dynamic_quantize(Maths& m, const NodeReader& n) {
    const ValueName& value = n.input(0);
    const Integers axes = all_axes(m, value);
    const ValueName most = m.formula("max(a, 0)", {m.reduce("MAX", value, axes, false)}),
                    least = m.formula("min(a, 0)", {m.reduce("MIN", value, axes, false)});
    const ValueName scale = m.formula("(a - b) / 255", {most, least});
    const ValueName zero = m.formula("clip(round(-a / b), 0, 255)", {least, scale});
    m.result(m.formula("clip(round(a / b) + c, 0, 255)", {value, scale, zero}), 0,
             TensorProto::UINT8);
    m.result(scale, 1);
    m.result(zero, 2, TensorProto::UINT8);
}

/// Of integers, which the vector unit multiplies and adds in 32 bits.
ValueName integer_product(Maths& m, const ValueName& a, const ValueName& b) {
    Shape left = m.shape(a), right = m.shape(b);
    if (left.size() < 2 || right.size() < 2)
        m.node().fail("inputs", "2 axes or more", shape_text(left) + ", " + shape_text(right));
    left.push_back(1);
    right.insert(right.end() - 2, 1);
    const ValueName products = m.formula("a * b", {m.reshape(a, left), m.reshape(b, right)});
    return m.reduce("SUM", products, {m.rank(products) - 2}, false);
}

/// One number, or one per row of the first matrix, or per column of the second.
ValueName without_zero(Maths& m, const ValueName& value, const ValueName& zero, bool of_rows) {
    if (zero.empty()) return value;
    ValueName point = zero;
    if (m.rank(zero) == 1 && m.shape(zero).at(0) > 1 && of_rows)
        point = m.reshape(zero, {m.shape(zero).at(0), 1});
    return m.formula("a - b", {value, point});
}

ValueName optional(const NodeReader& n, int input) {
    return n.has_input(input) ? n.input(input) : ValueName();
}

void matmul_integer(Maths& m, const NodeReader& n) {
    m.result(integer_product(m, without_zero(m, n.input(0), optional(n, 2), true),
                             without_zero(m, n.input(1), optional(n, 3), false)),
             0, kOnnxInt32);
}

/// Sums in steps of the output.
void requantised(Maths& m, const NodeReader& n, const ValueName& sums, const ValueName& factor,
                 int zero) {
    const int32_t type = m.graph().type(n.input(zero));
    const ValueName steps = m.formula("float(a) * b", {sums, factor});
    m.result(quantised(m, steps, m.reshape(n.input(zero), {}), type), 0, type);
}

void qlinear_matmul(Maths& m, const NodeReader& n) {
    const ValueName sums = integer_product(m, without_zero(m, n.input(0), n.input(2), true),
                                           without_zero(m, n.input(3), n.input(5), false));
    requantised(m, n, sums, m.formula("a * b / c", {n.input(1), n.input(4), n.input(6)}), 7);
}

/// [samples, outputs, windows]: what each window reads, times weights.
ValueName integer_convolution(Maths& m, const NodeReader& n, const ValueName& image,
                              const ValueName& weights) {
    const Shape of = m.shape(weights), from = m.shape(image);
    const int64_t groups = n.integer("group", 1);
    if (from.size() < 3 || of.size() != from.size() || groups < 1 ||
        of.at(1) * groups != from.at(1) || of.at(0) % groups != 0)
        n.fail("inputs", "an image and weights of its channels",
               shape_text(from) + ", " + shape_text(of));
    const Window w = window_of(n, spatial_of(from), spatial_of(of));
    return windows_times(m, image, weights, groups, w, integer_product);
}

void conv_integer(Maths& m, const NodeReader& n) {
    const ValueName image = without_zero(m, n.input(0), optional(n, 2), false);
    ValueName weights = n.input(1);
    if (n.has_input(3)) weights = m.formula("a - b", {weights, along(m, weights, n.input(3), 0)});
    m.result(integer_convolution(m, n, image, weights), 0, kOnnxInt32);
}

void qlinear_conv(Maths& m, const NodeReader& n) {
    const ValueName image = m.formula("a - b", {n.input(0), m.reshape(n.input(2), {})});
    const ValueName weights = m.formula("a - b", {n.input(3), along(m, n.input(3), n.input(5), 0)});
    ValueName sums = integer_convolution(m, n, image, weights);
    if (n.has_input(8)) sums = m.formula("a + b", {sums, along(m, sums, n.input(8), 1)});
    const ValueName factor = m.formula(
        "a * b / c",
        {m.reshape(n.input(1), {}), along(m, sums, n.input(4), 1), m.reshape(n.input(6), {})});
    requantised(m, n, sums, factor, 7);
}

}  // namespace

std::span<const OnnxOperator> quantisation() {
    static constexpr OnnxOperator kAll[] = {{"ConvInteger", conv_integer},
                                            {"DequantizeLinear", dequantize},
                                            {"DynamicQuantizeLinear", dynamic_quantize},
                                            {"MatMulInteger", matmul_integer},
                                            {"QLinearConv", qlinear_conv},
                                            {"QLinearMatMul", qlinear_matmul},
                                            {"QuantizeLinear", quantize}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
