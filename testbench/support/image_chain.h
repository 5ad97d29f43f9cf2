// SPDX-License-Identifier: Apache-2.0
// Convolutions of one image, one after the other: values that no round of a batch makes smaller.
#pragma once

#include "compiler/import/tables/layers.h"

namespace tandem::testbench {

/// So many of 3x3 with padding, `side` x `side` pixels of `channels` each.
inline tables::Workload image_chain(size_t layers, uint64_t side, uint64_t channels) {
    tables::Workload list;
    list.name = list.file = "chain.csv";
    list.chained = true;
    for (size_t i = 0; i < layers; ++i) {
        tables::Layer layer;
        layer.name = "conv" + std::to_string(i);
        layer.where = "chain.csv:" + std::to_string(i + 2);
        layer.kind = tables::LayerKind::kConvolution;
        tables::Convolution image;
        image.height = image.width = side;
        image.channels = channels;
        image.window.kernel_h = image.window.kernel_w = 3;
        image.window.pad_top = image.window.pad_bottom = 1;
        image.window.pad_left = image.window.pad_right = 1;
        layer.m = side * side;
        layer.k = 9 * channels;
        layer.n = channels;
        layer.input_elements = layer.output_elements = layer.m * channels;
        layer.convolution = image;
        list.layers.push_back(layer);
    }
    return list;
}

}  // namespace tandem::testbench
