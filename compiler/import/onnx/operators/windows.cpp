// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/operators/windows.h"

#include <algorithm>

#include "compiler/graph/operators.h"
#include "compiler/import/compose/limits.h"

namespace tandem::compiler::onnx_operators {

Integers spatial_of(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

int64_t Window::taps() const {
    int64_t count = 1;
    for (const int64_t one : kernel) count = std::min(count * one, int64_t{INT32_MAX});
    return count;
}

Integers Window::tap(int64_t number) const {
    Integers at(axes());
    for (size_t i = axes(); i-- > 0;) {
        at[i] = number % kernel[i];
        number /= kernel[i];
    }
    return at;
}

Window window_of(const NodeReader& n, const Integers& spatial, const Integers& kernel) {
    const size_t axes = spatial.size();
    if (axes == 0 || kernel.size() != axes)
        n.fail("kernel", std::to_string(axes) + " axes", std::to_string(kernel.size()));
    Window w;
    w.kernel = kernel;
    w.strides = n.integers("strides", Integers(axes, 1));
    w.dilations = n.integers("dilations", Integers(axes, 1));
    const Integers pads = n.integers("pads", Integers(2 * axes, 0));
    if (w.strides.size() != axes || w.dilations.size() != axes || pads.size() != 2 * axes)
        n.fail("strides, dilations, pads", "a number per axis, and of pads per side",
               std::to_string(w.strides.size()) + ", " + std::to_string(w.dilations.size()) + ", " +
                   std::to_string(pads.size()));
    constexpr int64_t kMost = INT32_MAX;
    for (const Integers* const numbers : {&w.kernel, &w.strides, &w.dilations})
        for (const int64_t one : *numbers)
            if (one < 1 || one > kMost)
                n.fail("kernel, strides, dilations", "positive numbers", std::to_string(one));
    for (const int64_t one : pads)
        if (one < 0 || one > kMost) n.fail("pads", "numbers from 0 on", std::to_string(one));
    const std::string automatic = n.word("auto_pad", "NOTSET");
    const bool ceil = n.integer("ceil_mode", 0) != 0;
    for (size_t i = 0; i < axes; ++i) {
        int64_t before = pads[i], behind = pads[axes + i];
        if (automatic == "VALID") before = behind = 0;
        if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
            const int64_t missing =
                same_padding(spatial[i], w.kernel[i], w.strides[i], w.dilations[i]);
            before = automatic == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
            behind = missing - before;
        } else if (automatic != "NOTSET" && automatic != "VALID") {
            n.fail("auto_pad", "NOTSET, VALID, SAME_UPPER or SAME_LOWER", automatic);
        }
        const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
        const int64_t free = spatial[i] + before + behind - reach;
        if (free < 0) n.fail("kernel", "at most the padded image", std::to_string(reach));
        int64_t out = free / w.strides[i] + 1;
        // A window begins within the image or the padding in front of it.
        if (ceil && free % w.strides[i] != 0 && out * w.strides[i] < spatial[i] + before) ++out;
        w.before.push_back(before);
        w.behind.push_back(behind);
        w.out.push_back(out);
        w.beyond.push_back(std::max<int64_t>(
            0, (out - 1) * w.strides[i] + reach - (spatial[i] + before + behind)));
    }
    return w;
}

WindowAttributes attributes_of(const Window& w) {
    return {.kernel_h = w.kernel.at(0),
            .kernel_w = w.kernel.at(1),
            .stride_h = w.strides.at(0),
            .stride_w = w.strides.at(1),
            .dilation_h = w.dilations.at(0),
            .dilation_w = w.dilations.at(1),
            .pad_top = w.before.at(0),
            .pad_left = w.before.at(1),
            .pad_bottom = w.behind.at(0),
            .pad_right = w.behind.at(1)};
}

ValueName padded(Maths& m, const ValueName& value, const Window& w, float fill) {
    Integers before{0, 0}, behind{0, 0};
    for (size_t i = 0; i < w.axes(); ++i) {
        before.push_back(w.before[i]);
        behind.push_back(w.behind[i] + w.beyond[i]);
    }
    return m.pad(value, before, behind, fill);
}

ValueName tap_of(Maths& m, const ValueName& padded, const Window& w, int64_t tap) {
    const Integers at = w.tap(tap);
    ValueName value = padded;
    for (size_t i = 0; i < w.axes(); ++i)
        value = m.slice(value, static_cast<int64_t>(i) + 2, at[i] * w.dilations[i], w.out[i],
                        w.strides[i]);
    return value;
}

ValueName windows_times(Maths& m, const ValueName& image, const ValueName& weights, int64_t groups,
                        const Window& w, Multiply multiply) {
    const Shape of = m.shape(weights), from = m.shape(image);
    const int64_t channels = of.at(1), outputs = of.at(0) / groups, taps = w.taps();
    m.need_at_most(taps, kMostParts, "kernel", "taps");
    const ValueName wide = padded(m, image, w, 0);
    std::vector<ValueName> columns;
    for (int64_t tap = 0; tap < taps; ++tap)
        columns.push_back(
            m.reshape(tap_of(m, wide, w, tap), {from.at(0), groups, channels, product(w.out)}));
    const ValueName left =
        m.reshape(m.transpose(m.reshape(weights, {groups, outputs, channels, taps}), {0, 1, 3, 2}),
                  {1, groups, outputs, taps * channels});
    Shape shape{from.at(0), of.at(0)};
    shape.insert(shape.end(), w.out.begin(), w.out.end());
    return m.reshape(multiply(m, left, m.concatenate(columns, 2)), shape);
}

}  // namespace tandem::compiler::onnx_operators
