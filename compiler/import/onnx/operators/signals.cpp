// SPDX-License-Identifier: Apache-2.0
// Windows and transforms of signals, whose tables are constants.
#include <cmath>
#include <numbers>

#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

constexpr int64_t kMostSize = 1 << 20, kMostTransform = 1024;

/// Sums of cosines.
void window(Maths& m, const NodeReader& n) {
    const int64_t size = known_integer(m, n, 0, "size");
    if (size < 1 || size > kMostSize) n.fail("size", "1 to 2^20", std::to_string(size));
    const bool hann = n.type() == "HannWindow", hamming = n.type() == "HammingWindow";
    const double a0 = hann      ? 0.5
                      : hamming ? 25.0 / 46
                                : 0.42,
                 a1 = hann      ? 0.5
                      : hamming ? 21.0 / 46
                                : 0.5,
                 a2 = hann || hamming ? 0 : 0.08;
    const double length = static_cast<double>(n.integer("periodic", 1) != 0 ? size : size - 1);
    std::vector<float> values;
    for (int64_t i = 0; i < size; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / length;
        values.push_back(static_cast<float>(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle)));
    }
    m.result(m.reals(values, {size}), 0,
             static_cast<int32_t>(n.integer("output_datatype", kOnnxFloat)));
}

/// A product with cosines and one with sines; the last axis has the real and the imaginary part.
void discrete_fourier(Maths& m, const NodeReader& n) {
    ValueName value = n.input(0);
    const Shape shape = m.shape(value);
    if (shape.size() < 3 || (shape.back() != 1 && shape.back() != 2))
        n.fail("input", "an axis of signals and one of real and imaginary parts",
               shape_text(shape));
    const int64_t axis = m.axis_in(value, n.integer("axis", 1)), rank = m.rank(value),
                  extent = shape.at(static_cast<size_t>(axis));
    const bool inverse = n.integer("inverse", 0) != 0, one_sided = n.integer("onesided", 0) != 0;
    const int64_t length = n.has_input(1) ? known_integer(m, n, 1, "dft_length") : extent;
    if (length < 1 || std::max(length, extent) > kMostTransform)
        n.fail("dft_length", "1 to 1024", std::to_string(length));
    if (axis == rank - 1) n.fail("axis", "an axis of signals", std::to_string(axis));
    const int64_t read = std::min(length, extent), made = one_sided ? length / 2 + 1 : length;
    std::vector<float> cosines, sines;
    for (int64_t t = 0; t < read; ++t)
        for (int64_t k = 0; k < made; ++k) {
            const double angle = 2 * std::numbers::pi * static_cast<double>(t * k % length) /
                                 static_cast<double>(length);
            const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
            cosines.push_back(static_cast<float>(std::cos(angle) * scale));
            sines.push_back(
                static_cast<float>((inverse ? std::sin(angle) : -std::sin(angle)) * scale));
        }
    value = m.slice(value, axis, 0, read);
    Integers to_end = all_axes(m, value);
    to_end.erase(to_end.begin() + axis);
    to_end.insert(to_end.end() - 1, axis);  // signals, then the two parts
    const ValueName turned = m.transpose(value, to_end);
    const auto part = [&](int64_t which) {
        const ValueName one = m.slice(turned, rank - 1, which, 1);
        Shape flat{1, read};
        for (size_t i = 0; i + 2 < m.shape(one).size(); ++i) flat.at(0) *= m.shape(one).at(i);
        return m.reshape(one, flat);
    };
    const ValueName c = m.reals(cosines, {read, made}), s = m.reals(sines, {read, made});
    ValueName real = m.matmul(part(0), c), imaginary = m.matmul(part(0), s);
    if (shape.back() == 2) {
        real = m.formula("a - b", {real, m.matmul(part(1), s)});
        imaginary = m.formula("a + b", {imaginary, m.matmul(part(1), c)});
    }
    Shape out = m.shape(turned);
    out.at(out.size() - 2) = made;
    out.back() = 1;
    const ValueName together =
        m.concatenate({m.reshape(real, out), m.reshape(imaginary, out)}, rank - 1);
    Integers back(to_end.size());
    for (size_t i = 0; i < to_end.size(); ++i)
        back[static_cast<size_t>(to_end[i])] = static_cast<int64_t>(i);
    m.result(m.transpose(together, back));
}

}  // namespace

std::span<const OnnxOperator> signals() {
    static constexpr OnnxOperator kAll[] = {{"BlackmanWindow", window},
                                            {"DFT", discrete_fourier},
                                            {"HammingWindow", window},
                                            {"HannWindow", window}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
