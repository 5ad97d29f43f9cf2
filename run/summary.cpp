// SPDX-License-Identifier: Apache-2.0
// What a run says on the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/output_file.h"
#include "base/process.h"
#include "base/terminal.h"
#include "run/findings.h"
#include "run/report.h"

namespace tandem::run {
namespace {

using nlohmann::json;

void print_layers(const RunResult& result, const RunReport& run) {
    if (run.layer_sizes.empty()) return;
    base::print("{:<22} {:>28} {:>12} {:>9} {:>7} {:>12} {}\n", "layer", "rows x k x columns",
                "cycles", "us", "of peak", "at least", "for");
    for (size_t i = 0; i < result.layers.size(); ++i) {
        const LayerResult& layer = result.layers[i];
        const double cycles = static_cast<double>(layer.cycles);
        const double peak = cycles * result.peak_macs_per_cycle;
        base::print("{:<22.22} {:>28} {:>12} {:>9.2f} {:>5.1f} %", layer.name, run.layer_sizes[i],
                    layer.cycles, cycles * 1e6 / static_cast<double>(result.clock_hz),
                    peak == 0 ? 0 : 100 * static_cast<double>(layer.macs) / peak);
        if (layer.bounds)
            base::print(" {:>12.0f} {}", std::ceil(layer.bounds->cycles()), layer.bounds->name());
        base::print("\n");
    }
    base::print("\n");
}

void print_heading(const arch::ChipConfig& chip, const RunResult& result, const RunReport& run) {
    const uint32_t arrays = result.cores * result.arrays;
    std::string machine =
        fmt::format("{} array{} of {}x{} {}", arrays, arrays == 1 ? "" : "s", chip.mxu.rows,
                    chip.mxu.cols, arch::to_string(chip.mxu.dtype));
    if (result.cores != chip.cores)
        machine += result.cores == 1 ? fmt::format(", the first of {} cores", chip.cores)
                                     : fmt::format(", {} of {} cores", result.cores, chip.cores);
    base::print("{} on {} ({}), mode {}{}, backend {}", run.name.empty() ? run.model : run.name,
                chip.name, machine, run.mode, result.level == "lt" ? ", level lt" : "",
                run.backend);
    if (!result.rtl_arrays.empty() && result.rtl_arrays.size() < arrays)
        base::print(" behind array{} {}, tlm behind the others",
                    result.rtl_arrays.size() == 1 ? "" : "s", fmt::join(result.rtl_arrays, ", "));
    if (run.host != "none") base::print(", host {}", run.host);
    base::print(": {} sample{}\n", run.samples, run.samples == 1 ? "" : "s");
}

void print_cycles(const RunResult& result, const RunReport& run) {
    const double seconds = result.seconds();
    const double tops = seconds == 0 ? 0 : 2e-12 * static_cast<double>(result.macs) / seconds;
    base::print(
        "  {}{} cycles ({:.3f} ms at {:.0f} MHz), {:.0f} per sample; {} MACs, {:.2f} TOPS, "
        "utilization {:.1f} %\n",
        result.level == "lt" ? "approximately " : "", result.cycles, seconds * 1e3,
        static_cast<double>(result.clock_hz) / 1e6,
        static_cast<double>(result.cycles) / static_cast<double>(run.samples), result.macs, tops,
        result.utilization() * 100);
    base::print(
        "  {} weight tiles, {} bytes read from memory, {} written, {} from the host, {} to "
        "it\n",
        result.tiles, result.traffic.memory_read, result.traffic.memory_write,
        result.traffic.host_to_chip, result.traffic.chip_to_host);
    for (const UnitResult& unit : result.units) {
        const uint64_t all = std::max<uint64_t>(1, result.core_cycles[unit.core]);
        std::string text;
        for (size_t cause = 0; cause < sim::kCauses; ++cause)
            if (unit.cycles[cause] != 0)
                text += fmt::format(
                    "  {} {:.1f} %", sim::kCauseNames[cause],
                    100 * static_cast<double>(unit.cycles[cause]) / static_cast<double>(all));
        base::print("  {:<16}{}\n", unit.name, text);
    }
}

void print_floats(const FloatCheck& floats) {
    base::print(
        "  outputs: {} float32 values, largest difference {:.3g} ({:.2f} % of the largest expected "
        "magnitude {:.4g}, allowed {}), {} of {} samples with the expected class\n",
        floats.values, floats.largest_difference,
        floats.largest == 0 ? 0 : floats.largest_difference / floats.largest * 100, floats.largest,
        floats.tolerance.text(), floats.same_class, floats.samples);
}

void print_checks(const RunResult& result, const RunReport& run) {
    if (result.rows_compared != 0 && !result.divergence)
        base::print("  model and RTL agree: {} accumulator rows, every value and every cycle\n",
                    result.rows_compared);
    if (result.values_requantised != 0 && !result.divergence)
        base::print("  requantisation agrees: {} activations, every value and every cycle\n",
                    result.values_requantised);
    if (result.injected)
        base::print(
            "  injected {}{}\n", result.injected->to_string(),
            result.divergence || result.rows_compared == 0 ? "" : ": no output row changed");
    if (result.wave.record.any)
        base::print("  wave: cycles {} to {}{}\n", result.wave.record.from, result.wave.record.to,
                    result.wave.gtkw.empty()
                        ? ""
                        : "; look: " + base::quoted({"gtkwave", result.wave.gtkw}));
    if (!result.wave.note.empty()) base::print("  no whole wave: {}\n", result.wave.note);
    if (result.layer_bytes_compared != 0 && !result.layer_mismatch)
        base::print("  layers: {} bytes equal\n", result.layer_bytes_compared);
    if (run.check.compared && run.check.mismatches == 0)
        // What floats are expected to be is the next line's.
        base::print("  outputs: all {} bytes as {}\n", run.check.bytes_compared,
                    run.floats ? "plain loops have them" : "expected");
    if (run.floats) print_floats(*run.floats);
    if (run.accuracy) base::print("  accuracy: {:.2f} %\n", *run.accuracy * 100);
}

}  // namespace

Verdict judge(const RunResult& result, const RunReport& run) {
    if (result.divergence) base::print("\n{}", divergence_text(result, run));
    if (!result.assertion.empty()) {
        base::print("{}\n", assertion_text(result));
        return Verdict::kMismatch;
    }
    if (!result.failure.empty()) {
        base::tell("tandem: the run failed: {}\n", result.failure);
        return Verdict::kFault;
    }
    Verdict verdict = result.divergence ? Verdict::kMismatch : Verdict::kGood;
    for (const std::string& text :
         {layer_mismatch_text(result), output_mismatch_text(run), float_mismatch_text(run)}) {
        if (text.empty()) continue;
        base::print("{}\n", text);
        verdict = Verdict::kMismatch;
    }
    for (const auto& law : result.laws_broken) base::tell("tandem: internal fault: {}\n", law);
    return result.laws_broken.empty() ? verdict : Verdict::kFault;
}

namespace {

/// Returns why some are not there. Before anything is printed: who reads it may go away.
std::vector<std::string> write_files(const arch::ChipConfig& chip, const RunResult& result,
                                     const RunReport& run, const std::string& json_path) {
    std::vector<std::string> not_written = result.not_written;
    const auto attempt = [&](const std::string& path, const auto& write) {
        if (path.empty()) return;
        try {
            write(path);
        } catch (const UserError& error) {
            not_written.push_back(error.what());
        }
    };
    attempt(run.output, [&](const auto& path) { base::write_file(path, result.outputs); });
    if (run.csv.empty() && json_path.empty()) return not_written;
    const json report = make_report(chip, result, run);
    attempt(run.csv,
            [&](const auto& path) { base::write_file(path, layers_csv(report["layers"])); });
    attempt(json_path, [&](const auto& path) { write_report(path, report); });
    return not_written;
}

}  // namespace

void print_summary(const arch::ChipConfig& chip, const RunResult& result, const RunReport& run) {
    if (result.completed()) print_layers(result, run);
    print_heading(chip, result, run);
    if (result.divergence || !result.assertion.empty())
        base::print("  stopped at the first difference\n");
    else
        print_cycles(result, run);
    print_checks(result, run);
    base::print("  {:.3f} s, {:.0f} MB peak memory", run.wall_seconds,
                static_cast<double>(peak_rss_bytes()) / 1e6);
    if (run.host != "none") base::print(", {} firmware instructions", result.host_instructions);
    constexpr double kWorthTelling = 1;
    if (result.array_seconds >= kWorthTelling)
        base::print("; before that, {:.1f} s for the array", result.array_seconds);
    base::print("\n");
}

Verdict conclude(const arch::ChipConfig& chip, const RunResult& result, const RunReport& run,
                 const std::string& json_path) {
    const auto not_written = write_files(chip, result, run, json_path);
    print_summary(chip, result, run);
    const Verdict how = judge(result, run);
    if (!not_written.empty())
        throw UserError(fmt::format("{}", fmt::join(not_written, "\ntandem: ")));
    return how;
}

}  // namespace tandem::run
