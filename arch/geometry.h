// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/generated/isa.h"

namespace tandem::isa {

/// The smallest valid window: one pixel of one channel. What units hold before a program sets
/// theirs.
inline constexpr Geometry kSinglePixel{.in_height = 1,
                                       .in_width = 1,
                                       .pixel_stride = 1,
                                       .channels = 1,
                                       .kernel_h = 1,
                                       .kernel_w = 1,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .dilation_h = 1,
                                       .dilation_w = 1,
                                       .pad_top = 0,
                                       .pad_left = 0,
                                       .out_height = 1,
                                       .out_width = 1,
                                       .image_stride = 0,
                                       .pad_value = 0};

}  // namespace tandem::isa
