// SPDX-License-Identifier: Apache-2.0
// Convolutions: of two axes with constant weights as the array has them, others as products of
// what each window reads.
#include <algorithm>

#include "compiler/import/onnx/operators/windows.h"
#include "compiler/import/onnx/tensors.h"

namespace tandem::compiler::onnx_operators {
namespace {

struct Convolution {
    ValueName image;    ///< batch, channels, spatial axes
    ValueName weights;  ///< outputs, channels of a group, kernel
    ValueName bias;     ///< may be empty
    int64_t groups = 1;
    Window window;
};

bool on_array(Maths& m, const Convolution& c) {
    const auto none = [](int64_t beyond) { return beyond == 0; };
    return c.window.axes() == 2 && m.graph().constant(c.weights) != nullptr &&
           std::ranges::all_of(c.window.beyond, none) &&
           (c.bias.empty() || m.graph().constant(c.bias) != nullptr);
}

ValueName convolve_on_array(Maths& m, const Convolution& c) {
    const Shape of = m.shape(c.weights);
    const bool depthwise = c.groups > 1 && of.at(1) == 1;
    Node node;
    node.op = depthwise ? Operator::kDepthwiseConv2d : Operator::kConv2d;
    if (depthwise) node.attributes["depth_multiplier"] = of.at(0) / c.groups;
    set_window(node, attributes_of(c.window));
    const ValueName laid =
        m.transpose(c.weights, depthwise ? Integers{1, 2, 3, 0} : Integers{0, 2, 3, 1});
    node.inputs = {m.graph().image(c.image), m.graph().plain(laid)};
    if (!c.bias.empty()) node.inputs.push_back(m.graph().plain(c.bias));
    ValueName name = m.graph().fresh();
    m.graph().add_image(name, std::move(node), kOnnxFloat);
    return name;
}

ValueName convolve_as_products(Maths& m, const Convolution& c) {
    const auto multiply = [](Maths& maths, const ValueName& a, const ValueName& b) {
        return maths.matmul(a, b);
    };
    ValueName product = windows_times(m, c.image, c.weights, c.groups, c.window, multiply);
    if (c.bias.empty()) return product;
    Shape of_bias(m.shape(product).size(), 1);
    of_bias.at(1) = m.shape(product).at(1);
    return m.formula("a + b", {product, m.reshape(c.bias, of_bias)});
}

ValueName convolve(Maths& m, const Convolution& c) {
    return on_array(m, c) ? convolve_on_array(m, c) : convolve_as_products(m, c);
}

Convolution read(Maths& m, const NodeReader& n, bool transposed) {
    Convolution c;
    c.image = n.input(0);
    c.weights = n.input(1);
    if (n.has_input(2)) c.bias = n.input(2);
    c.groups = n.integer("group", 1);
    const Shape &image = m.shape(c.image), &of = m.shape(c.weights);
    if (image.size() < 3 || of.size() != image.size())
        n.fail("inputs", "3 axes or more, as many of image and weights",
               shape_text(image) + ", " + shape_text(of));
    const int64_t channels = transposed ? of.at(0) : of.at(1) * c.groups;
    if (c.groups < 1 || channels != image.at(1) || of.at(0) % c.groups != 0)
        n.fail("weights",
               "channels of the image, " + std::to_string(image.at(1)) + ", in " +
                   std::to_string(c.groups) + " groups",
               shape_text(of));
    const Integers kernel = spatial_of(of);
    if (n.integers("kernel_shape", kernel) != kernel)
        n.fail("kernel_shape", shape_text(kernel), shape_text(n.integers("kernel_shape", kernel)));
    return c;
}

void conv(Maths& m, const NodeReader& n) {
    Convolution c = read(m, n, false);
    c.window = window_of(n, spatial_of(m.shape(c.image)), spatial_of(m.shape(c.weights)));
    m.result(convolve(m, c), 0, m.graph().type(c.image));
}

/// Zeros between neighbours along one axis.
ValueName spread(Maths& m, const ValueName& value, int64_t axis, int64_t stride) {
    if (stride == 1) return value;
    Shape apart = m.shape(value);
    const auto at = static_cast<size_t>(axis);
    const int64_t extent = apart.at(at);
    apart.insert(apart.begin() + axis + 1, 1);
    Integers before(apart.size()), behind(apart.size());
    behind[at + 1] = stride - 1;
    Shape together = m.shape(value);
    together.at(at) = extent * stride;
    const ValueName wide = m.reshape(m.pad(m.reshape(value, apart), before, behind, 0), together);
    return m.slice(wide, axis, 0, (extent - 1) * stride + 1);
}

/// A convolution, with the kernel turned round, of the image with zeros between its pixels.
void conv_transpose(Maths& m, const NodeReader& n) {
    Convolution c = read(m, n, true);
    const Shape of = m.shape(c.weights), image = m.shape(c.image);
    const Integers kernel = spatial_of(of), spatial = spatial_of(image);
    const size_t axes = kernel.size();
    const Integers strides = n.integers("strides", Integers(axes, 1)),
                   dilations = n.integers("dilations", Integers(axes, 1)),
                   more = n.integers("output_padding", Integers(axes, 0)),
                   wanted = n.integers("output_shape", {});
    Integers pads = n.integers("pads", Integers(2 * axes, 0));
    if (strides.size() != axes || dilations.size() != axes || more.size() != axes ||
        pads.size() != 2 * axes)
        n.fail("strides, dilations, output_padding, pads",
               "a number per axis, and of pads per side", "others");
    const std::string automatic = n.word("auto_pad", "NOTSET");
    Window& w = c.window;
    w.kernel = kernel;
    w.dilations = dilations;
    w.strides.assign(axes, 1);
    w.beyond.assign(axes, 0);
    ValueName turned = c.weights;
    for (size_t i = 0; i < axes; ++i) {
        const auto axis = static_cast<int64_t>(i) + 2;
        const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
        const int64_t full = strides[i] * (spatial[i] - 1) + more[i] + reach;
        int64_t out = full - pads[i] - pads[axes + i];
        const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
        if (same) out = spatial[i] * strides[i];
        if (!wanted.empty()) out = wanted[wanted.size() - axes + i];
        if (same || !wanted.empty()) {
            const int64_t total = std::max<int64_t>(0, full - out);
            const int64_t half = total / 2;
            pads[i] = automatic == "SAME_UPPER" ? half : total - half;
            pads[axes + i] = total - pads[i];
        }
        w.before.push_back(reach - 1 - pads[i]);
        w.behind.push_back(reach - 1 - pads[axes + i] + more[i] + std::max<int64_t>(0, out - full));
        w.out.push_back(out);
        if (w.before[i] < 0 || w.behind[i] < 0 || out < 1)
            n.fail("pads", "less than the kernel reaches",
                   std::to_string(std::max(pads[i], pads[axes + i])));
        c.image = spread(m, c.image, axis, strides[i]);
        turned = m.slice(turned, axis, kernel[i] - 1, kernel[i], -1);
    }
    const int64_t taps = w.taps(), inputs = of.at(0) / c.groups;
    Shape laid{of.at(1) * c.groups, inputs};
    laid.insert(laid.end(), kernel.begin(), kernel.end());
    c.weights = m.reshape(
        m.transpose(m.reshape(turned, {c.groups, inputs, of.at(1), taps}), {0, 2, 1, 3}), laid);
    m.result(convolve(m, c), 0, m.graph().type(n.input(0)));
}

}  // namespace

std::span<const OnnxOperator> convolutions() {
    static constexpr OnnxOperator kAll[] = {{"Conv", conv}, {"ConvTranspose", conv_transpose}};
    return kAll;
}

}  // namespace tandem::compiler::onnx_operators
