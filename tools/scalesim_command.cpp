// SPDX-License-Identifier: Apache-2.0
#include "tools/scalesim_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/terminal.h"
#include "compiler/import/tables/layers.h"
#include "compiler/import/tables/scalesim.h"
#include "cosim/rtl_mxu_engine.h"
#include "run/report.h"
#include "tools/command.h"
#include "tools/output_files.h"

namespace tandem::tools {
namespace {

using nlohmann::json;
using tables::Layer;

/// Layers that the RTL confirms.
constexpr uint32_t kConfirmedLayers = 3;

bool product(const Layer& layer) { return layer.m != 0; }

std::string size_text(const Layer& layer) {
    if (!product(layer)) return fmt::format("{} elements", layer.elements);
    std::string text = fmt::format("{} x {} x {}", layer.m, layer.k, layer.n);
    if (layer.groups != 1) text += fmt::format(" x {} groups", layer.groups);
    if (layer.repeat != 1) text += fmt::format(", {} times", layer.repeat);
    return text;
}

json layer_json(size_t index, const Layer& layer, uint64_t cycles) {
    return {{"index", index}, {"name", layer.name}, {"where", layer.where}, {"m", layer.m},
            {"k", layer.k},   {"n", layer.n},       {"macs", layer.macs()}, {"cycles", cycles}};
}

// The array alone, as SCALE-Sim counts it and as ours has it.

/// Edges that a run of one layer on the RTL takes, about.
uint64_t rtl_edges(const Layer& layer, const engine::MxuShape& shape) {
    return tables::weight_tiles(layer, shape.rows, shape.cols) *
           std::max<uint64_t>(layer.m * layer.passes, shape.rows + 1);
}

/// The edge of the last commit on the RTL when everything stands at its ports from edge 0.
uint64_t last_commit(const Layer& layer, const run::LoadedArray& array) {
    const engine::MxuShape& shape = array.shape;
    cosim::RtlMxuEngine engine(shape, array.library);
    const std::vector<std::byte> weights(shape.tile_bytes());
    const auto m = static_cast<uint32_t>(layer.m * layer.passes);
    const std::vector<std::byte> rows(m * shape.row_bytes());
    const uint64_t tiles = tables::weight_tiles(layer, shape.rows, shape.cols);
    for (uint64_t tile = 0; tile < tiles; ++tile) {
        engine.push_weights({tile, 0, weights});
        engine.push_rows({tile, 0, m, shape.rows, 0, true, tile != 0, rows});
    }
    uint64_t edge = 0;
    while (const auto event = engine.advance(~uint64_t{0} >> 1))
        if (event->kind == engine::MxuEvent::Kind::kBlockCommitted) edge = event->cycle;
    return edge;
}

/// The layers that cost the RTL least, among those that it can take as one block.
std::vector<size_t> cheapest_layers(const tables::Workload& workload, const engine::MxuShape& shape,
                                    uint32_t count) {
    std::vector<size_t> layers;
    for (size_t i = 0; i < workload.layers.size(); ++i)
        if (product(workload.layers[i]) &&
            workload.layers[i].m * workload.layers[i].passes <= shape.accumulator_rows)
            layers.push_back(i);
    std::stable_sort(layers.begin(), layers.end(), [&](size_t a, size_t b) {
        return rtl_edges(workload.layers[a], shape) < rtl_edges(workload.layers[b], shape);
    });
    layers.resize(std::min<size_t>(layers.size(), count));
    return layers;
}

/// Runs the sample on the RTL; returns the number of layers in which it does not have our count.
uint32_t confirm(const ScalesimArguments& a, const tables::Workload& workload,
                 const arch::ChipConfig& chip, json& report) {
    const run::LoadedArray array = run::load_array(chip, a.array);
    uint32_t differ = 0;
    report["rtl"] = json::array();
    for (const size_t index : cheapest_layers(workload, array.shape, kConfirmedLayers)) {
        const Layer& layer = workload.layers[index];
        Layer once = layer;
        once.repeat = 1;
        const uint64_t ours = tables::double_buffered_cycles(once, chip.mxu.rows, chip.mxu.cols);
        const uint64_t rtl = last_commit(once, array);
        base::print("RTL {:<28.28} {:>12} edges, our count {:>12}: {}\n", layer.name, rtl, ours,
                    rtl == ours ? "equal" : "DIFFERENT");
        report["rtl"].push_back({{"index", index}, {"rtl", rtl}, {"double_buffered", ours}});
        differ += rtl != ours;
    }
    if (report["rtl"].empty()) base::print("RTL: no layer fits the accumulators as one block\n");
    return differ;
}

json count_layers(const tables::Workload& workload, const arch::ChipConfig& chip) {
    json layers = json::array();
    base::print("{:<28} {:>34} {:>16} {:>16}\n", "layer", "rows x k x columns", "scalesim-ws",
                "double-buffered");
    for (size_t i = 0; i < workload.layers.size(); ++i) {
        const Layer& layer = workload.layers[i];
        const uint64_t scalesim = tables::scalesim_ws_cycles(layer, chip.mxu.rows, chip.mxu.cols);
        const uint64_t ours = tables::double_buffered_cycles(layer, chip.mxu.rows, chip.mxu.cols);
        base::print("{:<28.28} {:>34} {:>16} {:>16}\n", layer.name, size_text(layer), scalesim,
                    ours);
        layers.push_back(layer_json(i, layer, scalesim));
        layers.back()["double_buffered_cycles"] = ours;
    }
    return layers;
}

int count(const ScalesimArguments& a, const tables::Workload& workload,
          const arch::ChipConfig& chip) {
    if (chip.mxu.pipeline != 1)
        throw UserError("--timing scalesim-ws", "chip " + chip.name,
                        "an array with a register in every PE (mxu.pipeline 1)",
                        fmt::format("mxu.pipeline {}", chip.mxu.pipeline));
    json report = {{"report_version", run::kReportVersion},
                   {"tandem_version", TANDEM_VERSION},
                   {"chip", chip.name},
                   {"chip_overrides", chip.overrides},
                   {"backend", a.backend},
                   {"mode", "timing"},
                   {"timing", "scalesim-ws"},
                   {"model", a.file}};
    report["layers"] = count_layers(workload, chip);
    uint64_t scalesim = 0, ours = 0, macs = 0;
    for (const auto& layer : report["layers"]) {
        scalesim += layer["cycles"].get<uint64_t>();
        ours += layer["double_buffered_cycles"].get<uint64_t>();
        macs += layer["macs"].get<uint64_t>();
    }
    report["cycles"] = scalesim;
    report["double_buffered_cycles"] = ours;
    report["macs"] = macs;
    report["time_ns"] = static_cast<double>(scalesim) * 1e9 / static_cast<double>(chip.clock_hz);
    base::print(
        "\n{} on one {}x{} array of {}: {} cycles as SCALE-Sim counts (weight stationary, no "
        "stalls),\n  {} with double-buffered weights ({:.3f} times as fast)\n",
        workload.name, chip.mxu.rows, chip.mxu.cols, chip.name, scalesim, ours,
        ours == 0 ? 0 : static_cast<double>(scalesim) / static_cast<double>(ours));
    const uint32_t differ = a.backend == "rtl" ? confirm(a, workload, chip, report) : 0;
    run::write_report(a.json, report);
    return differ == 0 ? kGood : kMismatch;
}

}  // namespace

int run_scalesim(const ScalesimArguments& a) {
    const auto chip = a.chip.load();
    if (!a.file.ends_with(".csv") && a.batch != 1)
        throw UserError("--batch goes with tables; an application file has its own");
    const auto workload = a.file.ends_with(".csv") ? tables::load_table(a.file, a.batch)
                                                   : tables::load_application(a.file);
    check_output_files({{"--json", a.json}}, {{"MODEL", a.file}});
    return count(a, workload, chip);
}

}  // namespace tandem::tools
