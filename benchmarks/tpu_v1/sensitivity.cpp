// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/sensitivity.h"

#include <fmt/format.h>

#include <cmath>

#include "benchmarks/tpu_v1/derivation.h"

namespace tandem::tpu_v1 {
namespace {

using arch::ChipConfig;
using tables::Layer;
using tables::LayerKind;
using tables::Workload;

constexpr uint64_t kGi = uint64_t{1} << 30;

Variant with(std::string name, std::function<void(ChipConfig&)> change) {
    return {std::move(name), std::move(change), {}};
}

/// Only for the application of that name.
Variant of(const std::string& application, const std::string& name,
           const std::function<void(Workload&)>& change) {
    return {application + ": " + name, {}, [application, change](Workload& workload) {
                if (workload.name == application) change(workload);
            }};
}

bool begins(const Layer& layer, const std::string& name) { return layer.name.starts_with(name); }

/// Sizes of a fully connected layer.
void resize(Layer& layer, uint64_t inputs, uint64_t outputs) {
    layer.k = inputs;
    layer.n = outputs;
    layer.input_elements = layer.m * inputs;
    layer.output_elements = layer.m * outputs * layer.groups;
}

void resize_elements(Layer& layer, uint64_t elements) {
    layer.elements = layer.input_elements = layer.output_elements = elements;
}

/// Fully connected from `edge` over layers of `width` to `edge`.
void make_mlp(Workload& workload, uint64_t edge, uint64_t width) {
    auto& layers = workload.layers;
    for (Layer& layer : layers) resize(layer, width, width);
    resize(layers.front(), edge, width);
    resize(layers.back(), width, edge);
    workload.host_input_elements = workload.host_output_elements = workload.batch * edge;
}

void make_gates(Workload& workload, uint64_t inputs, uint64_t outputs) {
    for (Layer& layer : workload.layers)
        if (layer.m != 0)
            resize(layer, inputs, outputs);
        else
            resize_elements(layer, workload.batch * outputs);
    workload.host_input_elements = workload.batch * inputs;
    workload.host_output_elements = workload.batch * outputs;
}

/// What follows from a convolution's image and window.
void recount(Layer& layer) {
    const tables::Convolution& c = *layer.convolution;
    const auto& w = c.window;
    const auto extent = [](uint64_t size, int64_t kernel, int64_t stride, int64_t padding) {
        return static_cast<uint64_t>(
            compiler::output_extent(static_cast<int64_t>(size), kernel, stride, 1, padding));
    };
    layer.m = c.images * extent(c.height, w.kernel_h, w.stride_h, w.pad_top + w.pad_bottom) *
              extent(c.width, w.kernel_w, w.stride_w, w.pad_left + w.pad_right);
    layer.k = static_cast<uint64_t>(w.kernel_h * w.kernel_w) * c.channels;
    layer.input_elements = c.images * c.height * c.width * c.channels;
    layer.output_elements = layer.m * layer.n;
}

/// A convolution's maps, and a pool's, with `times` as many positions.
void scale_maps(Layer& layer, double times) {
    if (layer.convolution) {
        for (uint64_t* side : {&layer.convolution->height, &layer.convolution->width})
            *side =
                static_cast<uint64_t>(std::llround(static_cast<double>(*side) * std::sqrt(times)));
        return recount(layer);
    }
    const auto scaled = [&](uint64_t count) {
        return static_cast<uint64_t>(std::llround(static_cast<double>(count) * times));
    };
    layer.m = scaled(layer.m);
    layer.input_elements = scaled(layer.input_elements);
    layer.output_elements = scaled(layer.output_elements);
    layer.elements = scaled(layer.elements);
}

void eight_bit_activations(Workload& workload) {
    for (Layer& layer : workload.layers) layer.passes = 1;
}

/// One product as wide as all groups together.
void fuse_groups(Workload& workload) {
    for (Layer& layer : workload.layers) {
        layer.n *= layer.groups;
        layer.groups = 1;
    }
}

/// One 3 x 3 layer becomes a 1 x 1 layer: still sixteen.
void twelve_body_layers(Workload& workload) {
    auto& layers = workload.layers;
    for (size_t i = layers.size(); i-- > 0;) {
        if (!begins(layers[i], "body")) continue;
        layers[i] = layers.back();
        return;
    }
}

/// 1750 MACs per weight by larger maps: 23 x 23 positions instead of 14 x 14.
void maps_for_table_1(Workload& workload) {
    for (Layer& layer : workload.layers)
        if (layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kPool)
            scale_maps(layer, 23.0 * 23 / (14 * 14));
}

/// 1750 MACs per weight with activations that stay in the buffer: 29 x 29 positions for the 3 x 3
/// layers alone, which have few channels.
void expanded_maps(Workload& workload) {
    for (Layer& layer : workload.layers)
        if (begins(layer, "expand")) scale_maps(layer, 29.0 * 29 / (14 * 14));
}

/// Maps that shrink while channels grow, as Inception's do: of 36 pairs of convolutions four have
/// maps of 28 x 28 and 512 channels, sixteen 14 x 14 and sixteen 7 x 7 with 1024.
void shrinking_maps(Workload& workload) {
    size_t pairs = 0;
    double positions = 1, channels = 1;
    for (Layer& layer : workload.layers) {
        if (begins(layer, "reduce")) {
            positions = pairs < 4 ? 4 : pairs < 20 ? 1 : 0.25;
            channels = pairs < 4 ? 0.5 : 1;
            ++pairs;
            scale_maps(layer, positions);
            layer.convolution->channels =
                static_cast<uint64_t>(static_cast<double>(layer.convolution->channels) * channels);
            recount(layer);
        } else if (begins(layer, "expand")) {
            scale_maps(layer, positions);
        } else if (layer.kind == LayerKind::kPool) {
            scale_maps(layer, positions * channels);
        }
    }
}

void double_pools(Workload& workload) {
    for (Layer& layer : workload.layers)
        if (layer.kind == LayerKind::kPool) scale_maps(layer, 2);
}

void double_vectors(Workload& workload) {
    for (Layer& layer : workload.layers)
        if (layer.kind == LayerKind::kVector) scale_maps(layer, 2);
}

bool same(const Workload& a, const Workload& b) {
    const auto sizes = [](const Layer& layer) {
        return std::array{layer.m,
                          layer.k,
                          layer.n,
                          layer.groups,
                          layer.passes,
                          layer.elements,
                          layer.input_elements,
                          layer.output_elements};
    };
    if (a.layers.size() != b.layers.size()) return false;
    for (size_t i = 0; i < a.layers.size(); ++i)
        if (sizes(a.layers[i]) != sizes(b.layers[i])) return false;
    return a.host_input_elements == b.host_input_elements &&
           a.host_output_elements == b.host_output_elements;
}

}  // namespace

void set_sync_cycles(arch::ChipConfig& chip, uint64_t cycles) {
    chip.sequencer.sync_latency_ps = cycles * 1'000'000'000'000 / chip.clock_hz;
}

std::vector<Variant> chip_variants() {
    std::vector<Variant> all;
    for (const uint32_t cycles : {0u, 1250u, 2000u, 3000u, 5000u})
        all.push_back(with(fmt::format("sync_latency {} cycles", cycles),
                           [=](ChipConfig& c) { set_sync_cycles(c, cycles); }));
    all.push_back(with(kNoLayerSync, [](ChipConfig& c) { c.sequencer.layer_sync = false; }));
    all.push_back(with("layer_sync off, sync_latency 0", [](ChipConfig& c) {
        c.sequencer.layer_sync = false;
        c.sequencer.sync_latency_ps = 0;
    }));
    all.push_back(with("memory 30 GiB/s (label in Figure 1)",
                       [](ChipConfig& c) { c.memory.bytes_per_second = 30 * kGi; }));
    all.push_back(with("memory refresh 260 ns each 7.8 us (3.3 %)", [](ChipConfig& c) {
        c.memory.refresh_interval_ps = 7'800'000;
        c.memory.refresh_duration_ps = 260'000;
    }));
    for (const uint64_t ns : {75, 300})
        all.push_back(with(fmt::format("memory latency {} ns", ns),
                           [=](ChipConfig& c) { c.memory.latency_ps = ns * 1000; }));
    for (const uint32_t tiles : {1u, 8u})
        all.push_back(with(fmt::format("weight FIFO {} tiles", tiles),
                           [=](ChipConfig& c) { c.mxu.weight_fifo_tiles = tiles; }));
    all.push_back(with("host bus 12.5 GB/s",
                       [](ChipConfig& c) { c.host.bytes_per_second = 12'500'000'000; }));
    all.push_back(with("host bus 14 GiB/s (label in Figure 1)",
                       [](ChipConfig& c) { c.host.bytes_per_second = 14 * kGi; }));
    for (const uint64_t ns : {500, 2000})
        all.push_back(with(fmt::format("host latency {} us", static_cast<double>(ns) / 1000),
                           [=](ChipConfig& c) { c.host.latency_ps = ns * 1000; }));
    all.push_back(with("buffer ports without limit", [](ChipConfig& c) { c.buffer_ports = {}; }));
    all.push_back(with("vector lanes 128", [](ChipConfig& c) { c.vector.lanes = 128; }));
    return all;
}

std::vector<Variant> workload_variants() {
    std::vector<Variant> all;
    all.push_back({"MLPs: all layers square (2000, 1118)", {}, [](Workload& w) {
                       if (w.name == "MLP0") make_mlp(w, 2000, 2000);
                       if (w.name == "MLP1") make_mlp(w, 1118, 1118);
                   }});
    all.push_back(of("MLP1", "hidden layers 1280 wide, inputs 672",
                     [](Workload& w) { make_mlp(w, 672, 1280); }));
    all.push_back({"LSTMs: 8-bit activations", {}, [](Workload& w) {
                       if (w.name.starts_with("LSTM")) eight_bit_activations(w);
                   }});
    all.push_back(
        of("LSTM0", "24 gates of 1472 x 1472", [](Workload& w) { make_gates(w, 1472, 1472); }));
    all.push_back(
        of("LSTM0", "24 gates of 2816 x 768", [](Workload& w) { make_gates(w, 2816, 768); }));
    all.push_back({"LSTMs: vector layers double", {}, [](Workload& w) {
                       if (w.name.starts_with("LSTM")) double_vectors(w);
                   }});
    all.push_back(of("LSTM1", "fused products, 600 x 1800 and 600 x 1200", fuse_groups));
    all.push_back(of("CNN0", "12 layers of 3 x 3, 3 of 1 x 1", twelve_body_layers));
    all.push_back(of("CNN1", "1750 MACs per weight (all maps 23 x 23)", maps_for_table_1));
    all.push_back(of("CNN1", "1750 MACs per weight (3 x 3 on 29 x 29)", expanded_maps));
    all.push_back(of("CNN1", "maps of 28 x 28, 14 x 14, 7 x 7", shrinking_maps));
    all.push_back(of("CNN1", "pooling layers double", double_pools));
    return all;
}

Measurements measure_variant(const Variant& variant, const Measurements& shipped,
                             const arch::ChipConfig& chip) {
    ChipConfig changed = chip;
    if (variant.chip) variant.chip(changed);
    Measurements measurements;
    for (const Measured& before : shipped) {
        Workload workload = before.workload;
        if (variant.workload) variant.workload(workload);
        const bool untouched = !variant.chip && same(workload, before.workload);
        measurements.push_back(untouched ? before : measure(workload, changed));
    }
    return measurements;
}

}  // namespace tandem::tpu_v1
