// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/efficiency.h"

#include <fmt/format.h>

namespace tandem::benchmarks {
namespace {

tables::Workload one(tables::Layer layer) {
    tables::Workload kernel;
    kernel.name = layer.name;
    layer.where = layer.name;
    kernel.layers.push_back(std::move(layer));
    return kernel;
}

}  // namespace

tables::Workload gemm(uint64_t m, uint64_t k, uint64_t n) {
    tables::Layer layer;
    layer.name = fmt::format("{}x{}x{}", m, k, n);
    layer.kind = tables::LayerKind::kMatmul;
    layer.m = m;
    layer.k = k;
    layer.n = n;
    layer.input_elements = m * k;
    layer.output_elements = m * n;
    return one(layer);
}

tables::Workload convolution(uint64_t batch, uint64_t height, uint64_t width, uint64_t channels) {
    tables::Layer layer;
    layer.name = fmt::format("{}x{}x{}x{}", batch, height, width, channels);
    layer.kind = tables::LayerKind::kConvolution;
    layer.m = batch * height * width;
    layer.k = 9 * channels;
    layer.n = channels;
    layer.input_elements = layer.output_elements = layer.m * channels;
    layer.convolution = tables::Convolution{.images = batch,
                                            .height = height,
                                            .width = width,
                                            .channels = channels,
                                            .window = {.kernel_h = 3,
                                                       .kernel_w = 3,
                                                       .pad_top = 1,
                                                       .pad_left = 1,
                                                       .pad_bottom = 1,
                                                       .pad_right = 1}};
    return one(layer);
}

}  // namespace tandem::benchmarks
