// SPDX-License-Identifier: Apache-2.0
// Random workloads and random small chips for tests of the workload path: buffers and accumulators
// so small that layers go through them in pieces. The same seed gives the same pair.
#pragma once

#include <string>

#include "arch/chip_config.h"
#include "compiler/import/tables/layers.h"
#include "testbench/support/seeded.h"

namespace tandem::testbench {

inline uint32_t pick(Seeded& random, uint64_t low, uint64_t high) {
    return static_cast<uint32_t>(
        random.between(static_cast<int64_t>(low), static_cast<int64_t>(high)));
}

inline arch::ChipConfig random_chip(Seeded& random) {
    arch::ChipConfig chip;
    chip.name = "random";
    chip.clock_hz = random.chance(50) ? 500'000'000 : 100'000'000 + random.below(1'900'000'000);
    chip.cores = pick(random, 1, 2);
    chip.mxu.rows = pick(random, 4, 16);
    chip.mxu.cols = pick(random, 4, 16);
    chip.mxu.dtype = random.chance(30) ? arch::Dtype::kBf16 : arch::Dtype::kInt8;
    chip.mxu.accumulator_rows = pick(random, 2, random.chance(50) ? 32 : 512);
    chip.mxu.weight_fifo_tiles = pick(random, 1, 4);
    chip.mxu.count = pick(random, 1, 3);
    chip.unified_buffer_bytes = uint64_t{512} << random.below(8);
    chip.unified_buffer_bytes += random.below(100);
    if (random.chance(30)) chip.buffer_ports = {pick(random, 2, 64), pick(random, 2, 64)};
    chip.memory.bytes = 16 << 20;
    chip.memory.bytes_per_second =
        100'000'000 + random.below(random.chance(50) ? 4'000'000'000 : 100'000'000'000);
    chip.memory.latency_ps = random.below(500'000);
    chip.memory.channels = pick(random, 1, 8);
    chip.memory.channel_interleave = 16u << random.below(6);
    chip.memory.efficiency_percent = pick(random, 50, 100);
    if (random.chance(30)) {
        chip.memory.refresh_interval_ps = 1'000'000 + random.below(7'000'000);
        chip.memory.refresh_duration_ps = 1 + random.below(300'000);
    }
    if (random.chance(20)) chip.cmem = {1 << 20, 50'000'000'000, random.below(50'000)};
    chip.vector.lanes = pick(random, 1, 32);
    chip.vector.latency_cycles = pick(random, 1, 20);
    chip.host = {100'000'000 + random.below(10'000'000'000), random.below(1'000'000), 500'000'000};
    chip.sequencer.queue_entries = pick(random, 1, 16);
    chip.sequencer.watchdog_cycles = 100'000'000;
    chip.sequencer.layer_sync = random.chance(40);
    chip.sequencer.sync_latency_ps = random.chance(40) ? pick(random, 1, 600'000) : 0;
    chip.sequencer.program_launch_ps = random.chance(40) ? pick(random, 1, 1'000'000) : 0;
    chip.sequencer.kernel_launch_ps = random.chance(40) ? pick(random, 1, 600'000) : 0;
    return chip;
}

/// An image of which every row and column is read: the windows overlap or touch, and the last one
/// ends with the padding.
inline void make_convolution(Seeded& random, tables::Layer& layer) {
    layer.kind = tables::LayerKind::kConvolution;
    const bool small = random.chance(50);
    tables::Convolution image;
    compiler::WindowAttributes& w = image.window;
    const auto axis = [&](int64_t& kernel, int64_t& stride, int64_t& before, int64_t& after,
                          uint64_t& extent) {
        kernel = pick(random, 1, 3), stride = pick(random, 1, static_cast<uint64_t>(kernel));
        before = pick(random, 0, static_cast<uint64_t>(kernel) - 1);
        after = pick(random, 0, static_cast<uint64_t>(kernel) - 1);
        const int64_t outputs = 1 + before + after + pick(random, 0, small ? 3 : 14);
        extent = static_cast<uint64_t>((outputs - 1) * stride + kernel - before - after);
        return static_cast<uint64_t>(outputs);
    };
    image.images = pick(random, 1, 3);
    const uint64_t out_h = axis(w.kernel_h, w.stride_h, w.pad_top, w.pad_bottom, image.height);
    const uint64_t out_w = axis(w.kernel_w, w.stride_w, w.pad_left, w.pad_right, image.width);
    image.channels = pick(random, 1, random.chance(50) ? 4 : 30);
    const auto taps = static_cast<uint64_t>(w.kernel_h * w.kernel_w);
    const bool depthwise = image.channels > 1 && random.chance(30);
    layer.m = image.images * out_h * out_w;
    layer.groups = depthwise ? image.channels : 1;
    layer.k = depthwise ? taps : taps * image.channels;
    layer.n = depthwise ? 1 : pick(random, 1, random.chance(50) ? 20 : 100);
    layer.input_elements = image.images * image.height * image.width * image.channels;
    layer.output_elements = layer.m * layer.n * layer.groups;
    layer.convolution = image;
}

inline tables::Layer random_layer(Seeded& random, size_t index) {
    tables::Layer layer;
    layer.name = "layer" + std::to_string(index);
    layer.where = "random.csv:" + std::to_string(index + 2);
    layer.repeat = random.chance(20) ? pick(random, 2, 3) : 1;
    if (random.chance(20)) {
        layer.kind = random.chance(50) ? tables::LayerKind::kVector : tables::LayerKind::kPool;
        layer.elements = layer.input_elements = pick(random, 1, 3000);
        layer.output_elements = layer.kind == tables::LayerKind::kPool && random.chance(50)
                                    ? (layer.elements + 3) / 4
                                    : layer.elements;
        return layer;
    }
    if (random.chance(40)) {
        make_convolution(random, layer);
        return layer;
    }
    layer.kind = tables::LayerKind::kMatmul;
    layer.m = pick(random, 1, random.chance(50) ? 30 : 300);
    layer.k = pick(random, 1, random.chance(50) ? 20 : 200);
    layer.n = pick(random, 1, random.chance(50) ? 20 : 100);
    if (random.chance(20)) layer.groups = pick(random, 2, 5);
    layer.input_elements = layer.m * layer.k;  // groups read the same rows
    layer.output_elements = layer.m * layer.n * layer.groups;
    return layer;
}

inline tables::Workload random_workload(Seeded& random, const arch::ChipConfig& chip) {
    tables::Workload workload;
    workload.name = "random";
    workload.file = "random.csv";
    workload.chained = random.chance(50);
    const uint64_t passes = chip.mxu.dtype == arch::Dtype::kInt8 && random.chance(15) ? 2 : 1;
    const size_t layers = 1 + random.below(5);
    for (size_t i = 0; i < layers; ++i) {
        workload.layers.push_back(random_layer(random, i));
        workload.layers.back().passes = passes;
    }
    if (workload.chained && random.chance(40)) {
        workload.host_input_elements = workload.layers.front().input_elements;
        workload.host_output_elements = workload.layers.back().output_elements;
    }
    return workload;
}

struct RandomRun {
    arch::ChipConfig chip;
    tables::Workload workload;
};

inline RandomRun random_run(uint64_t seed) {
    Seeded random(seed);
    RandomRun run;
    run.chip = random_chip(random);
    run.workload = random_workload(random, run.chip);
    return run;
}

}  // namespace tandem::testbench
