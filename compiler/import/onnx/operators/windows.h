// SPDX-License-Identifier: Apache-2.0
// Windows over any number of axes behind batch and channels: what convolutions and pools share.
#pragma once

#include "compiler/graph/operators.h"
#include "compiler/import/onnx/operators/operators.h"

namespace tandem::compiler::onnx_operators {

/// Each has one number per spatial axis.
struct Window {
    Integers kernel, strides, dilations;
    Integers before, behind;  ///< padding
    Integers beyond;          ///< behind that, reached by windows alone (ceil_mode)
    Integers out;             ///< windows

    size_t axes() const { return kernel.size(); }
    int64_t taps() const;
    /// The tap's place along each axis.
    Integers tap(int64_t number) const;
};

/// auto_pad, or pads; `spatial`: extents of the image.
Window window_of(const NodeReader& node, const Integers& spatial, const Integers& kernel);

/// Extents behind batch and channels.
Integers spatial_of(const Shape& shape);

/// Of two axes, as operators of images have them.
WindowAttributes attributes_of(const Window& window);

/// `value`, batch and channels in front, with padding.
ValueName padded(Maths& maths, const ValueName& value, const Window& window, float fill);
/// What one tap of all windows reads of a padded value: batch, channels, windows.
ValueName tap_of(Maths& maths, const ValueName& padded, const Window& window, int64_t tap);

/// A product of the last two axes.
using Multiply = ValueName (*)(Maths& maths, const ValueName& a, const ValueName& b);
/// What each window reads of each group's channels, times weights [outputs, channels of a group,
/// kernel]: batch, outputs, windows.
ValueName windows_times(Maths& maths, const ValueName& image, const ValueName& weights,
                        int64_t groups, const Window& window, Multiply multiply);

}  // namespace tandem::compiler::onnx_operators
