// SPDX-License-Identifier: Apache-2.0
#include "tools/workload_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "arch/error.h"
#include "cosim/rtl_mxu_engine.h"
#include "explore/workload_run.h"
#include "systemc/kernel/cycle_account.h"
#include "tools/command.h"
#include "tools/output_files.h"
#include "tools/paths.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "workload/scalesim.h"

namespace tandem::tools {
namespace {

using nlohmann::json;
using workload::Layer;

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

double percent(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

json layer_json(size_t index, const Layer& layer, uint64_t cycles) {
    return {{"index", index}, {"name", layer.name}, {"where", layer.where}, {"m", layer.m},
            {"k", layer.k},   {"n", layer.n},       {"macs", layer.macs()}, {"cycles", cycles}};
}

// The whole chip.

json layers_json(const workload::Workload& workload, const explore::WorkloadResult& result) {
    json layers = json::array();
    for (size_t i = 0; i < workload.layers.size(); ++i) {
        const Layer& layer = workload.layers[i];
        json entry = layer_json(i, layer, result.layers[i].cycles);
        entry["groups"] = layer.groups;
        entry["repeat"] = layer.repeat;
        entry["input_elements"] = layer.input_elements;
        entry["output_elements"] = layer.output_elements;
        layers.push_back(entry);
    }
    return layers;
}

json chip_report(const workload::Workload& workload, const explore::WorkloadResult& result,
                 double wall_seconds) {
    json report = {{"report_version", kReportVersion},
                   {"tandem_version", TANDEM_VERSION},
                   {"chip", result.chip},
                   {"backend", "tlm"},
                   {"mode", "timing"},
                   {"timing", "chip"},
                   {"model", workload.file},
                   {"batch", workload.batch},
                   {"cycles", result.cycles},
                   {"time_ns", result.seconds() * 1e9},
                   {"macs", result.macs},
                   {"weight_tiles", result.tiles},
                   {"instructions", result.instructions},
                   {"utilization", result.utilization()},
                   {"peak_buffer_bytes", result.peak_buffer_bytes},
                   {"traffic", result.traffic_bytes},
                   {"laws_broken", json::array()}};
    for (const auto& unit : result.units) report["units"][unit.name] = unit.causes;
    report["layers"] = layers_json(workload, result);
    report["host"] = {{"wall_seconds", wall_seconds}, {"peak_rss_bytes", peak_rss_bytes()}};
    return report;
}

void print_layers(const workload::Workload& workload, const explore::WorkloadResult& result) {
    fmt::print("{:<28} {:>34} {:>12} {:>9} {:>7}\n", "layer", "rows x k x columns", "cycles", "us",
               "of peak");
    for (size_t i = 0; i < workload.layers.size(); ++i) {
        const auto cycles = static_cast<double>(result.layers[i].cycles);
        const auto macs = static_cast<double>(workload.layers[i].macs());
        fmt::print("{:<28.28} {:>34} {:>12} {:>9.2f} {:>5.1f} %\n", workload.layers[i].name,
                   size_text(workload.layers[i]), result.layers[i].cycles,
                   cycles * 1e6 / static_cast<double>(result.clock_hz),
                   percent(macs, cycles * result.peak_macs_per_cycle));
    }
}

void print_chip_summary(const workload::Workload& workload, const arch::ChipConfig& chip,
                        const explore::WorkloadResult& result, double wall_seconds) {
    const double tops = 2e-12 * static_cast<double>(result.macs) / result.seconds();
    fmt::print("\n{} on {} ({} array{} of {}x{} {}), mode timing\n", workload.name, chip.name,
               chip.arrays(), chip.arrays() == 1 ? "" : "s", chip.mxu.rows, chip.mxu.cols,
               arch::to_string(chip.mxu.dtype));
    fmt::print(
        "  {} cycles ({:.3f} ms at {:.0f} MHz); {} MACs, {:.2f} TOPS, utilization {:.1f} %\n",
        result.cycles, result.seconds() * 1e3, static_cast<double>(chip.clock_hz) / 1e6,
        result.macs, tops, 100 * result.utilization());
    fmt::print(
        "  {} weight tiles, {} bytes read from memory, {} written, {} from the host, {} to "
        "it\n",
        result.tiles, result.traffic_bytes.at("memory_read"),
        result.traffic_bytes.at("memory_write"), result.traffic_bytes.at("host_to_chip"),
        result.traffic_bytes.at("chip_to_host"));
    for (const auto& unit : result.units) {
        std::string text;
        for (const auto& cause : sim::kCauseNames) {
            const uint64_t cycles = unit.causes.at(std::string(cause));
            if (cycles != 0)
                text += fmt::format(
                    "  {} {:.1f} %", cause,
                    percent(static_cast<double>(cycles), static_cast<double>(result.cycles)));
        }
        fmt::print("  {:<16}{}\n", unit.name, text);
    }
    fmt::print("  {:.3f} s, {:.0f} MB peak memory\n", wall_seconds,
               static_cast<double>(peak_rss_bytes()) / 1e6);
}

// The array alone, as SCALE-Sim counts it and as ours has it.

/// Edges that a run of one layer on the RTL takes, about.
uint64_t rtl_edges(const Layer& layer, const mxu::MxuShape& shape) {
    return workload::weight_tiles(layer, shape.rows, shape.cols) *
           std::max<uint64_t>(layer.m * layer.passes, shape.rows + 1);
}

/// The edge of the last commit on the RTL when everything stands at its ports from edge 0.
uint64_t last_commit(const Layer& layer, const LoadedArray& array) {
    const mxu::MxuShape& shape = array.shape;
    cosim::RtlMxuEngine engine(shape, array.library);
    const std::vector<std::byte> weights(shape.tile_bytes());
    const auto m = static_cast<uint32_t>(layer.m * layer.passes);
    const std::vector<std::byte> rows(m * shape.row_bytes());
    const uint64_t tiles = workload::weight_tiles(layer, shape.rows, shape.cols);
    for (uint64_t tile = 0; tile < tiles; ++tile) {
        engine.push_weights({tile, 0, weights});
        engine.push_rows({tile, 0, m, shape.rows, 0, true, tile != 0, rows});
    }
    uint64_t edge = 0;
    while (const auto event = engine.advance(~uint64_t{0} >> 1))
        if (event->kind == mxu::MxuEvent::Kind::kBlockCommitted) edge = event->cycle;
    return edge;
}

/// The layers that cost the RTL least, among those that it can take as one block.
std::vector<size_t> cheapest_layers(const workload::Workload& workload, const mxu::MxuShape& shape,
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
uint32_t confirm(const WorkloadArguments& a, const workload::Workload& workload,
                 const arch::ChipConfig& chip, json& report) {
    const LoadedArray array = load_array(chip, a.array);
    uint32_t differ = 0;
    report["rtl"] = json::array();
    for (const size_t index : cheapest_layers(workload, array.shape, kConfirmedLayers)) {
        const Layer& layer = workload.layers[index];
        Layer once = layer;
        once.repeat = 1;
        const uint64_t ours = workload::double_buffered_cycles(once, chip.mxu.rows, chip.mxu.cols);
        const uint64_t rtl = last_commit(once, array);
        fmt::print("RTL {:<28.28} {:>12} edges, our count {:>12}: {}\n", layer.name, rtl, ours,
                   rtl == ours ? "equal" : "DIFFERENT");
        report["rtl"].push_back({{"index", index}, {"rtl", rtl}, {"double_buffered", ours}});
        differ += rtl != ours;
    }
    if (report["rtl"].empty()) fmt::print("RTL: no layer fits the accumulators as one block\n");
    return differ;
}

json count_layers(const workload::Workload& workload, const arch::ChipConfig& chip) {
    json layers = json::array();
    fmt::print("{:<28} {:>34} {:>16} {:>16}\n", "layer", "rows x k x columns", "scalesim-ws",
               "double-buffered");
    for (size_t i = 0; i < workload.layers.size(); ++i) {
        const Layer& layer = workload.layers[i];
        const uint64_t scalesim = workload::scalesim_ws_cycles(layer, chip.mxu.rows, chip.mxu.cols);
        const uint64_t ours = workload::double_buffered_cycles(layer, chip.mxu.rows, chip.mxu.cols);
        fmt::print("{:<28.28} {:>34} {:>16} {:>16}\n", layer.name, size_text(layer), scalesim,
                   ours);
        layers.push_back(layer_json(i, layer, scalesim));
        layers.back()["double_buffered_cycles"] = ours;
    }
    return layers;
}

int run_scalesim(const WorkloadArguments& a, const workload::Workload& workload,
                 const arch::ChipConfig& chip) {
    if (chip.mxu.pipeline != 1)
        throw UserError("--timing scalesim-ws", "chip " + chip.name,
                        "an array with a register in every PE (mxu.pipeline 1)",
                        fmt::format("mxu.pipeline {}", chip.mxu.pipeline));
    json report = {{"report_version", kReportVersion},
                   {"tandem_version", TANDEM_VERSION},
                   {"chip", chip.name},
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
    fmt::print(
        "\n{} on one {}x{} array of {}: {} cycles as SCALE-Sim counts (weight stationary, no "
        "stalls),\n  {} with double-buffered weights ({:.3f} times as fast)\n",
        workload.name, chip.mxu.rows, chip.mxu.cols, chip.name, scalesim, ours,
        ours == 0 ? 0 : static_cast<double>(scalesim) / static_cast<double>(ours));
    const uint32_t differ = a.backend == "rtl" ? confirm(a, workload, chip, report) : 0;
    write_report(a.json, report);
    return differ == 0 ? kGood : kMismatch;
}

}  // namespace

int run_layers_on_chip(const workload::Workload& workload, const arch::ChipConfig& chip,
                       const std::string& json_path) {
    const auto start = std::chrono::steady_clock::now();
    std::optional<Progress> progress(std::in_place, "waves");
    const auto result = explore::run_workload(
        workload, chip, [&](uint64_t done, uint64_t total) { progress->update(done, total); });
    progress.reset();  // ends its line
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    print_layers(workload, result);
    print_chip_summary(workload, chip, result, seconds);
    write_report(json_path, chip_report(workload, result, seconds));
    return kGood;
}

bool is_workload(const std::string& file) {
    return file.ends_with(".csv") || file.ends_with(".yaml") || file.ends_with(".yml");
}

int run_workload_file(const WorkloadArguments& a) {
    const auto chip = arch::find_chip(a.chip, chips_dir());
    const auto workload = a.file.ends_with(".csv") ? workload::load_table(a.file, a.batch)
                                                   : workload::load_application(a.file);
    if (!a.file.ends_with(".csv") && a.batch != 1)
        throw UserError("--batch goes with tables; an application file has its own");
    check_output_files({{"--json", a.json}}, {{"MODEL", a.file}});
    return a.timing == "scalesim-ws" ? run_scalesim(a, workload, chip)
                                     : run_layers_on_chip(workload, chip, a.json);
}

}  // namespace tandem::tools
