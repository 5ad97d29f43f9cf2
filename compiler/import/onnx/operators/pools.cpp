// SPDX-License-Identifier: Apache-2.0
// Pools: of two axes as the vector unit reads windows, others tap by tap.
#include <algorithm>
#include <limits>
#include <numeric>

#include "compiler/import/compose/limits.h"
#include "compiler/import/onnx/operators/windows.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

Window read(Maths& m, const NodeReader& n) {
    const Shape& shape = m.shape(n.input(0));
    if (shape.size() < 3) n.fail("input", "3 axes or more", shape_text(shape));
    return window_of(n, spatial_of(shape), n.integers("kernel_shape", {}));
}

/// The unit's own window: padding is left out, and less than the window on each side.
bool on_images(Maths& m, const NodeReader& n, const Window& w, bool counts_padding) {
    if (w.axes() != 2 || !m.is_float(n.input(0)) || n.has_output(1)) return false;
    for (size_t i = 0; i < 2; ++i)
        if (w.dilations[i] != 1 || w.beyond[i] != 0 || w.before[i] >= w.kernel[i] ||
            w.behind[i] >= w.kernel[i] || (counts_padding && w.before[i] + w.behind[i] != 0))
            return false;
    return true;
}

void pool_image(Maths& m, const NodeReader& n, const Window& w, Operator op) {
    Node node;
    node.op = op;
    node.inputs = {m.graph().image(n.input(0))};
    node.attributes["filter"] = w.kernel;
    set_window(node, attributes_of(w));
    const ValueName name = m.graph().fresh();
    m.graph().add_image(name, std::move(node), kOnnxFloat);
    m.result(name, 0, m.graph().type(n.input(0)));
}

/// Over the taps of all windows of a padded value, one axis after the other.
ValueName over_taps(Maths& m, ValueName value, const Window& w, const char* formula) {
    for (size_t i = 0; i < w.axes(); ++i) {
        m.need_at_most(w.kernel[i], kMostParts, "kernel", "taps along an axis");
        const auto tap = [&, from = value](int64_t at) {
            return m.slice(from, static_cast<int64_t>(i) + 2, at * w.dilations[i], w.out[i],
                           w.strides[i]);
        };
        value = tap(0);
        for (int64_t at = 1; at < w.kernel[i]; ++at) value = m.formula(formula, {value, tap(at)});
    }
    return value;
}

/// Where the largest elements stand in the whole tensor, the last axis fastest, or the first one.
ValueName places_of_largest(Maths& m, const NodeReader& n, const Window& w, const ValueName& wide) {
    const Shape shape = m.shape(n.input(0));
    const int64_t count = product(shape);
    m.need_at_most(count, kMostMade, "input", "elements whose places are asked for");
    m.need_at_most(w.taps(), kMostParts, "kernel", "taps");
    Integers all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    ValueName numbers = m.integers(all, shape);
    if (n.integer("storage_order", 0) != 0) {
        Shape turned(shape.begin(), shape.begin() + 2);
        turned.insert(turned.end(), shape.rbegin(), shape.rend() - 2);
        Integers perm{0, 1};
        for (auto axis = static_cast<int64_t>(shape.size()) - 1; axis >= 2; --axis)
            perm.push_back(axis);
        numbers = m.transpose(m.integers(all, turned), perm);
    }
    const ValueName places = padded(m, numbers, w, 0);
    ValueName best = tap_of(m, wide, w, 0), place = tap_of(m, places, w, 0);
    for (int64_t tap = 1; tap < w.taps(); ++tap) {
        const ValueName one = tap_of(m, wide, w, tap);
        place = m.formula("select(a, b, c)",
                          {m.formula("a < b", {best, one}), tap_of(m, places, w, tap), place});
        best = m.formula("max(a, b)", {best, one});
    }
    return place;
}

void max_pool(Maths& m, const NodeReader& n) {
    const Window w = read(m, n);
    if (on_images(m, n, w, false)) return pool_image(m, n, w, Operator::kMaxPool2d);
    const ValueName& input = n.input(0);
    const float lowest = m.is_float(input) ? std::numeric_limits<float>::lowest() : -2147483648.0f;
    const ValueName wide = padded(m, input, w, lowest);
    m.result(over_taps(m, wide, w, "max(a, b)"), 0, m.graph().type(input));
    if (n.has_output(1)) m.result(places_of_largest(m, n, w, wide), 1, kOnnxInt64);
}

void average_pool(Maths& m, const NodeReader& n) {
    const Window w = read(m, n);
    const bool counts_padding = n.integer("count_include_pad", 0) != 0;
    if (on_images(m, n, w, counts_padding)) return pool_image(m, n, w, Operator::kAveragePool2d);
    const Shape& shape = m.shape(n.input(0));
    Shape one{1, 1};
    for (size_t i = 2; i < shape.size(); ++i)
        one.push_back(shape.at(i) + (counts_padding ? w.before[i - 2] + w.behind[i - 2] : 0));
    Window of_counts = w;
    if (counts_padding)
        std::ranges::fill(of_counts.before, 0), std::ranges::fill(of_counts.behind, 0);
    const ValueName counts =
        over_taps(m, padded(m, m.broadcast_to(m.scalar(1.0f), one), of_counts, 0), w, "a + b");
    const ValueName sum = over_taps(m, padded(m, n.input(0), w, 0), w, "a + b");
    m.result(m.formula("a / b", {sum, counts}), 0, m.graph().type(n.input(0)));
}

void global(Maths& m, const NodeReader& n) {
    const ValueName& input = n.input(0);
    const Integers axes = axes_from(m, input, 2);
    if (axes.empty()) n.fail("input", "3 axes or more", shape_text(m.shape(input)));
    if (n.type() == "GlobalMaxPool")
        return m.result(m.reduce("MAX", input, axes), 0, m.graph().type(input));
    if (axes.size() != 2) return m.result(m.mean(input, axes), 0, m.graph().type(input));
    Node node;
    node.op = Operator::kMean;
    node.inputs = {m.graph().image(input)};
    node.attributes["keep_dims"] = int64_t{1};
    const ValueName name = m.graph().fresh();
    m.graph().add_image(name, std::move(node), kOnnxFloat);
    m.result(name, 0, m.graph().type(input));
}

}  // namespace

std::span<const OnnxOperator> pools() {
    static constexpr OnnxOperator kAll[] = {{"AveragePool", average_pool},
                                            {"GlobalAveragePool", global},
                                            {"GlobalMaxPool", global},
                                            {"MaxPool", max_pool}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
