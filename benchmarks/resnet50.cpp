// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/resnet50.h"

#include <fmt/format.h>

namespace tandem::benchmarks {
namespace {

struct Stage {
    uint64_t blocks, width, stride;
};
constexpr Stage kStages[] = {{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}};
constexpr uint64_t kExpansion = 4;

class Builder {
  public:
    tables::Workload build() {
        net_.name = "resnet50";
        uint64_t image = 224, channels = 3;
        convolve("stem", image, channels, 64, 7, 2);
        image = 56, channels = 64;  // behind the pooling layer
        for (const Stage& stage : kStages)
            for (uint64_t block = 0; block < stage.blocks; ++block) {
                const uint64_t stride = block == 0 ? stage.stride : 1;
                bottleneck(image, channels, stage.width, stride, block == 0);
                image /= stride;
                channels = stage.width * kExpansion;
            }
        product("full", 1, channels, 1000, channels);
        return net_;
    }

  private:
    void bottleneck(uint64_t image, uint64_t channels, uint64_t width, uint64_t stride,
                    bool first) {
        const uint64_t wide = width * kExpansion;
        convolve("reduce", image, channels, width, 1, 1);
        convolve("middle", image, width, width, 3, stride);
        convolve("expand", image / stride, width, wide, 1, 1);
        if (first) convolve("shortcut", image, channels, wide, 1, stride);
    }

    void convolve(const char* name, uint64_t image, uint64_t channels, uint64_t filters,
                  uint64_t kernel, uint64_t stride) {
        const uint64_t out = image / stride;
        product(name, out * out, kernel * kernel * channels, filters, image * image * channels);
        tables::Layer& layer = net_.layers.back();
        layer.kind = tables::LayerKind::kConvolution;
        // As much padding as the outputs need, the odd line below and on the right.
        const auto side = static_cast<int64_t>(kernel), step = static_cast<int64_t>(stride);
        const int64_t padding = compiler::same_padding(static_cast<int64_t>(image), side, step, 1);
        layer.convolution = tables::Convolution{.images = 1,
                                                .height = image,
                                                .width = image,
                                                .channels = channels,
                                                .window = {.kernel_h = side,
                                                           .kernel_w = side,
                                                           .stride_h = step,
                                                           .stride_w = step,
                                                           .pad_top = padding / 2,
                                                           .pad_left = padding / 2,
                                                           .pad_bottom = padding - padding / 2,
                                                           .pad_right = padding - padding / 2}};
    }

    void product(const char* name, uint64_t m, uint64_t k, uint64_t n, uint64_t input) {
        tables::Layer layer;
        layer.name = fmt::format("{}_{}", net_.layers.size(), name);
        layer.where = net_.name;
        layer.m = m;
        layer.k = k;
        layer.n = n;
        layer.input_elements = input;
        layer.output_elements = m * n;
        net_.layers.push_back(layer);
    }

    tables::Workload net_;
};

}  // namespace

tables::Workload resnet50() { return Builder().build(); }

}  // namespace tandem::benchmarks
