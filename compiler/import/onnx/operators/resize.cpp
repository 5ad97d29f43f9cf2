// SPDX-License-Identifier: Apache-2.0
// Resize: along each axis every element is a weighted sum of some elements of the input.
#include <algorithm>
#include <cmath>

#include "compiler/import/compose/limits.h"
#include "compiler/import/onnx/operators/operators.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

/// For each element of the output: which elements of the input, and how much of each.
struct Taps {
    std::vector<Integers> places;
    std::vector<std::vector<float>> weights;
    std::vector<bool> outside;  ///< has the extrapolation value
};

struct Rule {
    std::string mode, coordinates, nearest;
    float cubic = -0.75f;
    bool exclude_outside = false;
};

/// `out_extent` need not be whole: what the scale says.
double source(const Rule& rule, double out, double in_extent, double out_extent, double scale,
              float begin, float end) {
    if (rule.coordinates == "asymmetric") return out / scale;
    if (rule.coordinates == "align_corners")
        return out_extent == 1 ? 0 : out * (in_extent - 1) / (out_extent - 1);
    if (rule.coordinates == "pytorch_half_pixel")
        return out_extent > 1 ? (out + 0.5) / scale - 0.5 : 0;
    if (rule.coordinates == "tf_half_pixel_for_nn") return (out + 0.5) / scale;
    if (rule.coordinates == "tf_crop_and_resize")
        return out_extent > 1 ? begin * (in_extent - 1) +
                                    out * (end - begin) * (in_extent - 1) / (out_extent - 1)
                              : 0.5 * (begin + end) * (in_extent - 1);
    return (out + 0.5) / scale - 0.5;
}

int64_t nearest(const Rule& rule, double at) {
    if (rule.nearest == "floor") return static_cast<int64_t>(std::floor(at));
    if (rule.nearest == "ceil") return static_cast<int64_t>(std::ceil(at));
    if (rule.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(at + 0.5));
    return static_cast<int64_t>(std::ceil(at - 0.5));
}

Taps taps_of(const Rule& rule, int64_t in, int64_t out, double scale, float begin, float end) {
    Taps taps;
    for (int64_t i = 0; i < out; ++i) {
        const double at = source(rule, static_cast<double>(i), static_cast<double>(in),
                                 static_cast<double>(in) * scale, scale, begin, end);
        taps.outside.push_back(rule.coordinates == "tf_crop_and_resize" &&
                               (at < 0 || at > static_cast<double>(in - 1)));
        Integers places;
        std::vector<double> weights;
        const double base = std::floor(at), part = at - base;
        const auto first = static_cast<int64_t>(base);
        if (rule.mode == "nearest") {
            places = {nearest(rule, at)};
            weights = {1};
        } else if (rule.mode == "linear") {
            places = {first, first + 1};
            weights = {1 - part, part};
        } else {
            const double a = double{rule.cubic};
            const auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
            const auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
            places = {first - 1, first, first + 1, first + 2};
            weights = {far(1 + part), near(part), near(1 - part), far(2 - part)};
        }
        double sum = 0;
        for (size_t k = 0; k < places.size(); ++k) {
            if (rule.exclude_outside && (places[k] < 0 || places[k] >= in)) weights[k] = 0;
            sum += weights[k];
            places[k] = std::clamp<int64_t>(places[k], 0, in - 1);
        }
        std::vector<float> shares;
        for (const double weight : weights) shares.push_back(static_cast<float>(weight / sum));
        taps.places.push_back(std::move(places));
        taps.weights.push_back(std::move(shares));
    }
    return taps;
}

ValueName along_axis(Maths& m, const ValueName& value, int64_t axis, const Taps& taps) {
    const size_t count = taps.places.size();
    ValueName sum;
    for (size_t k = 0; k < taps.places[0].size(); ++k) {
        Integers places;
        std::vector<float> weights;
        for (size_t i = 0; i < count; ++i) {
            places.push_back(taps.places[i][k]);
            weights.push_back(taps.weights[i][k]);
        }
        Shape shape(m.shape(value).size(), 1);
        shape.at(static_cast<size_t>(axis)) = static_cast<int64_t>(count);
        ValueName taken = m.gather(value, m.integers(places, {static_cast<int64_t>(count)}), axis);
        if (taps.places[0].size() == 1) return taken;
        const ValueName factor = m.reals(weights, shape);
        sum = sum.empty() ? m.formula("a * b", {taken, factor})
                          : m.formula("a + b * c", {sum, taken, factor});
    }
    return sum;
}

void resize(Maths& m, const NodeReader& n) {
    const ValueName input = n.input(0);
    const Shape from = m.shape(input);
    const size_t rank = from.size();
    const bool old = n.opset() < 11 || n.type() == "Upsample";
    Rule rule{n.word("mode", "nearest"),
              old ? "asymmetric" : n.word("coordinate_transformation_mode", "half_pixel"),
              old ? "floor" : n.word("nearest_mode", "round_prefer_floor"),
              n.real("cubic_coeff_a", -0.75f), n.integer("exclude_outside", 0) != 0};
    if (rule.mode == "bilinear") rule.mode = "linear";
    if (rule.mode != "nearest" && rule.mode != "linear" && rule.mode != "cubic")
        n.fail("mode", "nearest, linear or cubic", rule.mode);
    const auto numbers = [&](int i, const char* role) -> std::vector<float> {
        if (!n.has_input(i)) return {};
        const Tensor* const known = m.graph().known(n.input(i));
        if (known == nullptr)
            n.fail(role, "a constant, or an input whose values are given (--input)",
                   "a value that is computed");
        if (known->type == ElementType::kFloat32) return reals_of(*known);
        const Integers whole = integers_of(*known);
        return {whole.begin(), whole.end()};
    };
    std::vector<float> scales =
        n.opset() < 9 && n.has("scales") ? n.reals("scales", {}) : numbers(old ? 1 : 2, "scales");
    const std::vector<float> sizes = old ? std::vector<float>{} : numbers(3, "sizes");
    const std::vector<float> region = old ? std::vector<float>{} : numbers(1, "roi");
    if (scales.size() != rank && sizes.size() != rank)
        n.fail("scales, sizes", "a number per axis", std::to_string(scales.size()));
    const bool crops = rule.coordinates == "tf_crop_and_resize";
    if (crops && region.size() != 2 * rank)
        n.fail("roi", "two numbers per axis", std::to_string(region.size()));
    ValueName value = m.to_float(input), outside;
    for (size_t i = 0; i < rank; ++i) {
        const double extent = static_cast<double>(from.at(i));
        const auto out = static_cast<int64_t>(
            sizes.size() == rank ? double{sizes[i]} : std::floor(extent * double{scales[i]}));
        if (out < 1 || out > kMostMade)
            n.fail("scales, sizes", "1 element or more", std::to_string(out));
        const double scale =
            sizes.size() == rank ? static_cast<double>(out) / extent : double{scales[i]};
        if (out == from.at(i) && scale == 1 && !crops) continue;
        const Taps taps = taps_of(rule, from.at(i), out, scale, crops ? region[i] : 0,
                                  crops ? region[rank + i] : 1);
        value = along_axis(m, value, static_cast<int64_t>(i), taps);
        if (std::ranges::none_of(taps.outside, [](bool one) { return one; })) continue;
        Shape shape(rank, 1);
        shape.at(i) = out;
        const ValueName here = m.integers({taps.outside.begin(), taps.outside.end()}, shape);
        outside = outside.empty() ? here : m.formula("or(a, b)", {outside, here});
    }
    if (!outside.empty())
        value = m.formula("select(a, b, c)",
                          {outside, m.scalar(n.real("extrapolation_value", 0)), value});
    if (!m.is_float(input)) value = m.formula("truncate(a)", {value});
    m.result(value, 0, m.graph().type(input));
}

}  // namespace

std::span<const OnnxOperator> resizing() {
    static constexpr OnnxOperator kAll[] = {{"Resize", resize}, {"Upsample", resize}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
