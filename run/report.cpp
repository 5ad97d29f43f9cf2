// SPDX-License-Identifier: Apache-2.0
#include "run/report.h"

#include <sys/resource.h>

#include <cmath>

#include "base/output_file.h"

namespace tandem::run {
namespace {

using nlohmann::json;

json optional_text(const std::string& text) { return text.empty() ? json() : json(text); }

json traffic_json(const Traffic& traffic) {
    return {{"memory_read", traffic.memory_read},
            {"memory_write", traffic.memory_write},
            {"cmem", traffic.cmem},
            {"host_to_chip", traffic.host_to_chip},
            {"chip_to_host", traffic.chip_to_host}};
}

json units_json(const RunResult& result) {
    json units = json::object();
    for (const UnitResult& unit : result.units) {
        json& causes = units[unit.name];
        for (size_t cause = 0; cause < sim::kCauses; ++cause)
            causes[std::string(sim::kCauseNames[cause])] = unit.cycles[cause];
    }
    return units;
}

uint64_t whole(double cycles) { return static_cast<uint64_t>(std::ceil(cycles)); }

void add_bounds(json& entry, const LayerResult& layer) {
    entry["bytes"] = {{"moved", layer.moved_bytes}};
    if (!layer.bounds) return;
    const compiler::Bounds& bounds = *layer.bounds;
    entry["bytes"]["compulsory"] = bounds.compulsory;
    entry["bytes"]["least"] = bounds.least();
    entry["bound"] = bounds.name();
    entry["bound_cycles"] = whole(bounds.cycles());
    entry["bounds"] = {{"compute", whole(bounds.compute())},
                       {"weights", whole(bounds.weights)},
                       {"activations", whole(bounds.activations)},
                       {"drain", whole(bounds.drain)},
                       {"host", whole(bounds.host())},
                       {"synchronisation", whole(bounds.synchronisation)},
                       {"launch", whole(bounds.launch)}};
}

json layers_json(const RunResult& result, const RunReport& run) {
    json layers = json::array();
    for (size_t i = 0; i < result.layers.size(); ++i) {
        const LayerResult& layer = result.layers[i];
        json entry = {{"index", layer.index}, {"op", layer.op},
                      {"name", layer.name},   {"cycles", layer.cycles},
                      {"macs", layer.macs},   {"output_bytes", layer.output_bytes}};
        add_bounds(entry, layer);
        if (i < run.layer_details.size()) entry.update(run.layer_details[i]);
        layers.push_back(std::move(entry));
    }
    return layers;
}

/// JSON has no infinity.
json finite(double value) { return std::isfinite(value) ? json(value) : json(); }

json checks_json(const RunResult& result, const RunReport& run) {
    json checks = {{"compared", run.check.bytes_compared},
                   {"mismatches", run.check.mismatches},
                   {"layer_bytes_compared", result.layer_bytes_compared},
                   {"layer_mismatches", result.layer_mismatch ? 1 : 0},
                   {"rows_compared", result.rows_compared},
                   {"values_requantised", result.values_requantised}};
    if (run.accuracy) checks["accuracy"] = *run.accuracy;
    if (run.floats) {
        checks["floats"] = {{"compared", run.floats->values},
                            {"beyond_tolerance", run.floats->beyond},
                            {"tolerance", run.floats->tolerance.of_largest},
                            {"largest_expected", run.floats->largest},
                            {"largest_difference", finite(run.floats->largest_difference)},
                            {"samples", run.floats->samples},
                            {"same_class", run.floats->same_class}};
        if (run.floats->tolerance.is_of_each) {
            checks["floats"]["rtol"] = run.floats->tolerance.relative;
            checks["floats"]["atol"] = run.floats->tolerance.absolute;
        }
    }
    return checks;
}

json node_json(const RunResult& result, int32_t node) {
    if (node < 0 || static_cast<size_t>(node) >= result.layers.size()) return nullptr;
    const LayerResult& layer = result.layers[static_cast<size_t>(node)];
    return {{"index", layer.index}, {"op", layer.op}, {"name", layer.name}};
}

void add_pe(json& out, const LocatedDivergence& found) {
    for (const char* key :
         {"pe_row", "pe_col", "pe_register", "pe_cycle", "k_step", "pe_expected", "pe_actual"})
        out[key] = nullptr;
    if (!found.what.pe) return;
    out["pe_row"] = found.what.pe->pe_row;
    out["pe_col"] = found.what.pe->pe_col;
    out["pe_register"] = cosim::to_string(found.what.pe->which);
    out["pe_cycle"] = found.what.pe->cycle;
    out["pe_expected"] = found.what.pe->expected;
    out["pe_actual"] = found.what.pe->actual;
    out["k_step"] = found.source.k_start + found.what.pe->pe_row;
}

}  // namespace

json divergence_json(const RunResult& result, const RunReport& run) {
    const LocatedDivergence& found = *result.divergence;
    const auto& source = found.source;
    json out = {
        {"kind", found.what.what},
        {"core", found.core},
        {"array", found.array},
        {"instruction", found.instruction},
        {"node", node_json(result, source.node)},
        {"cycle_tlm", found.what.cycle_tlm},
        {"cycle_rtl", found.what.cycle_rtl},
        {"expected", found.what.expected},
        {"actual", found.what.actual},
        {"output_row", source.m_start + found.what.row},
        {"output_col", source.n_start + found.what.col},
        {"tile",
         {{"m_start", source.m_start}, {"n_start", source.n_start}, {"k_start", source.k_start}}},
        {"unit", optional_text(found.what.unit)},
        {"signal", optional_text(found.what.signal)},
        {"seed", run.seed},
        {"rerun", run.rerun},
        {"wave", found.what.wave},
        {"gtkw", found.gtkw},
        {"note", found.what.note},
        {"difference", optional_text(found.what.difference)},
        {"hint", optional_text(found.what.hint)}};
    add_pe(out, found);
    if (!found.what.wave.empty())
        out["wave_window"] = {{"from_cycle", found.what.wave_from},
                              {"to_cycle", found.what.wave_to}};
    return out;
}

json make_report(const arch::ChipConfig& chip, const RunResult& result, const RunReport& run) {
    json report = {{"report_version", kReportVersion},
                   {"tandem_version", TANDEM_VERSION},
                   {"chip", chip.name},
                   {"chip_overrides", chip.overrides},
                   {"cores", result.cores},
                   {"arrays", result.arrays},
                   {"array",
                    {{"rows", chip.mxu.rows},
                     {"cols", chip.mxu.cols},
                     {"dtype", arch::to_string(chip.mxu.dtype)}}},
                   {"backend", run.backend},
                   {"rtl_arrays", result.rtl_arrays},
                   {"requantise", result.requantise},
                   {"mode", run.mode},
                   {"level", result.level},
                   {"timing", "chip"},
                   {"host_cpu", run.host},
                   {"model", run.model},
                   {"batch", run.batch},
                   {"samples", run.samples},
                   {"cycles", result.cycles},
                   {"time_ns", result.seconds() * 1e9},
                   {"macs", result.macs},
                   {"array_macs", result.array_macs},
                   {"weight_tiles", result.tiles},
                   {"instructions", result.instructions},
                   {"utilization", result.utilization()},
                   {"traffic", traffic_json(result.traffic)},
                   {"units", units_json(result)},
                   {"layers", layers_json(result, run)},
                   {"checks", checks_json(result, run)},
                   {"laws_broken", result.laws_broken}};
    report["host"] = {{"wall_seconds", run.wall_seconds},
                      {"array_seconds", result.array_seconds},
                      {"peak_rss_bytes", peak_rss_bytes()},
                      {"firmware_instructions", result.host_instructions},
                      {"simulated_seconds", result.simulated_seconds}};
    if (!run.plan.empty()) report["plan"] = run.plan;
    if (!run.rounding.empty()) report["rounding"] = run.rounding;
    if (result.peak_buffer_bytes) report["peak_buffer_bytes"] = *result.peak_buffer_bytes;
    if (result.injected) report["injected"] = result.injected->to_string();
    if (result.wave.record.any || !result.wave.note.empty())
        report["wave"] = {{"from_cycle", result.wave.record.from},
                          {"to_cycle", result.wave.record.to},
                          {"gtkw", result.wave.gtkw},
                          {"note", result.wave.note}};
    if (result.divergence) report["first_divergence"] = divergence_json(result, run);
    return report;
}

std::string json_text(const json& value) {
    return value.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

void write_report(const std::string& path, const json& report) {
    if (!path.empty()) base::write_file(path, json_text(report));
}

uint64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

OutputCheck compare_outputs(const std::vector<uint8_t>& outputs,
                            const std::vector<uint8_t>& expected, uint64_t sample_bytes) {
    OutputCheck check;
    check.compared = true;
    check.samples = outputs.size() / sample_bytes;
    check.bytes_compared = outputs.size();
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] == expected[i]) continue;
        if (check.mismatches++ == 0) {
            check.first_sample = i / sample_bytes;
            check.first_offset = i % sample_bytes;
            check.first_expected = static_cast<int8_t>(expected[i]);
            check.first_actual = static_cast<int8_t>(outputs[i]);
        }
    }
    return check;
}

}  // namespace tandem::run
