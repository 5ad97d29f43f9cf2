// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/efficiency.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::benchmarks {
namespace {

workload::Workload one(workload::Layer layer) {
    workload::Workload kernel;
    kernel.name = layer.name;
    layer.where = layer.name;
    kernel.layers.push_back(std::move(layer));
    return kernel;
}

uint64_t bytes_of(uint64_t elements, const arch::ChipConfig& chip) {
    return elements * arch::element_bytes(chip.mxu.dtype);
}

}  // namespace

workload::Workload gemm(uint64_t m, uint64_t k, uint64_t n) {
    workload::Layer layer;
    layer.name = fmt::format("{}x{}x{}", m, k, n);
    layer.kind = workload::LayerKind::kMatmul;
    layer.m = m;
    layer.k = k;
    layer.n = n;
    layer.input_elements = m * k;
    layer.output_elements = m * n;
    return one(layer);
}

workload::Workload convolution(uint64_t batch, uint64_t height, uint64_t width, uint64_t channels) {
    workload::Layer layer;
    layer.name = fmt::format("{}x{}x{}x{}", batch, height, width, channels);
    layer.kind = workload::LayerKind::kConvolution;
    layer.m = batch * height * width;
    layer.k = 9 * channels;
    layer.n = channels;
    layer.input_elements = layer.output_elements = layer.m * channels;
    layer.convolution = workload::Convolution{.images = batch,
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

double roofline_seconds(const workload::Workload& kernel, const arch::ChipConfig& chip) {
    const double computing =
        2 * static_cast<double>(kernel.layers.front().macs()) / chip.peak_ops_per_second();
    const double moving = static_cast<double>(compulsory_bytes(kernel, chip)) /
                          static_cast<double>(chip.memory.bytes_per_second);
    return std::max(computing, moving);
}

uint64_t compulsory_bytes(const workload::Workload& kernel, const arch::ChipConfig& chip) {
    const workload::Layer& layer = kernel.layers.front();
    return bytes_of(layer.input_elements + layer.weights() + layer.output_elements, chip);
}

}  // namespace tandem::benchmarks
