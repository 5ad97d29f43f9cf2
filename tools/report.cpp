// SPDX-License-Identifier: Apache-2.0
#include "tools/report.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>

#include "arch/file.h"
#include "tools/command.h"

namespace tandem::tools {
namespace {

using nlohmann::json;

/// Of the first array, the one that is used.
double utilization(const arch::ChipConfig& chip, const arch::Program& program,
                   const SessionResult& result, uint64_t runs) {
    const double peak = static_cast<double>(result.cycles) * chip.mxu.rows * chip.mxu.cols;
    return peak == 0 ? 0 : static_cast<double>(useful_macs(program, runs)) / peak;
}

uint64_t runs_of(const arch::Program& program, const RunReport& run) {
    return (run.samples + program.batch - 1) / program.batch;
}

json divergence_json(const arch::Program& program, const SessionResult& result,
                     const RunReport& run) {
    const auto& divergence = *result.divergence;
    const uint32_t instruction = result.divergence_instruction.value_or(0);
    const auto& source = program.sources.at(instruction);
    json out = {
        {"kind", divergence.what},
        {"instruction", instruction},
        {"cycle_tlm", divergence.cycle_tlm},
        {"cycle_rtl", divergence.cycle_rtl},
        {"expected", divergence.expected},
        {"actual", divergence.actual},
        {"output_row", source.m_start + divergence.row},
        {"output_col", source.n_start + divergence.col},
        {"tile",
         {{"m_start", source.m_start}, {"n_start", source.n_start}, {"k_start", source.k_start}}},
        {"rerun", run.rerun},
        {"wave", divergence.wave},
        {"gtkw", run.gtkw},
        {"note", divergence.note}};
    if (source.node >= 0) {
        const auto& node = program.nodes.at(static_cast<size_t>(source.node));
        out["node"] = {{"index", node.index}, {"op", node.op}, {"name", node.name}};
    } else {
        out["node"] = nullptr;
    }
    out["seed"] = run.seed;
    for (const char* key :
         {"pe_row", "pe_col", "pe_register", "pe_cycle", "k_step", "pe_expected", "pe_actual"})
        out[key] = nullptr;
    out["unit"] = divergence.unit.empty() ? json() : json(divergence.unit);
    out["signal"] = divergence.signal.empty() ? json() : json(divergence.signal);
    if (divergence.pe) {
        out["pe_row"] = divergence.pe->pe_row;
        out["pe_col"] = divergence.pe->pe_col;
        out["pe_register"] = cosim::to_string(divergence.pe->which);
        out["pe_cycle"] = divergence.pe->cycle;
        out["pe_expected"] = divergence.pe->expected;
        out["pe_actual"] = divergence.pe->actual;
        out["k_step"] = source.k_start + divergence.pe->pe_row;
    }
    if (!divergence.wave.empty())
        out["wave_window"] = {{"from_cycle", divergence.wave_from},
                              {"to_cycle", divergence.wave_to}};
    return out;
}

json checks_json(const SessionResult& result, const RunReport& run) {
    json checks = {{"compared", run.check.bytes_compared},
                   {"mismatches", run.check.mismatches},
                   {"layer_bytes_compared", result.layer_bytes_compared},
                   {"layer_mismatches", result.layer_mismatch ? 1 : 0},
                   {"rows_compared", result.rows_compared}};
    if (run.check.accuracy) checks["accuracy"] = *run.check.accuracy;
    return checks;
}

void print_cycles(const arch::ChipConfig& chip, const arch::Program& program,
                  const SessionResult& result, const RunReport& run, uint64_t runs) {
    const double seconds = static_cast<double>(result.cycles) / static_cast<double>(chip.clock_hz);
    fmt::print(
        "  {} cycles ({:.3f} ms at {:.0f} MHz), {:.0f} per sample; {} MACs, utilization {:.1f} %\n",
        result.cycles, seconds * 1e3, static_cast<double>(chip.clock_hz) / 1e6,
        static_cast<double>(result.cycles) / run.samples, useful_macs(program, runs),
        utilization(chip, program, result, runs) * 100);
    const double percent = 100.0 / static_cast<double>(std::max<uint64_t>(1, result.cycles));
    for (const auto& unit : result.units) {
        std::string text;
        for (size_t cause = 0; cause < sim::kCauses; ++cause)
            if (unit.cycles[cause] != 0)
                text += fmt::format("  {} {:.1f} %", sim::kCauseNames[cause],
                                    percent * static_cast<double>(unit.cycles[cause]));
        fmt::print("  {:<10}{}\n", unit.name, text);
    }
}

}  // namespace

uint64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

uint64_t useful_macs(const arch::Program& program, uint64_t runs) {
    return runs * std::accumulate(
                      program.nodes.begin(), program.nodes.end(), uint64_t{0},
                      [](uint64_t sum, const arch::ProgramNode& node) { return sum + node.macs; });
}

std::vector<std::string> broken_laws(const arch::ChipConfig& chip, const arch::Program& program,
                                     const SessionResult& result, uint64_t runs) {
    std::vector<std::string> broken;
    if (result.divergence || !result.failure.empty() || !result.assertion.empty()) return broken;
    for (const auto& unit : result.units) {
        const uint64_t sum = std::accumulate(unit.cycles.begin(), unit.cycles.end(), uint64_t{0});
        if (sum != result.cycles)
            broken.push_back(fmt::format("unit {}: its causes add up to {} cycles of {}", unit.name,
                                         sum, result.cycles));
    }
    if (result.array_macs < useful_macs(program, runs))
        broken.push_back(fmt::format("{} MACs were issued, the model needs {}", result.array_macs,
                                     useful_macs(program, runs)));
    uint64_t rows = 0, weight_bytes = 0;
    for (const auto& words : program.instructions) {
        if ((words[0] & 0xff) == static_cast<uint32_t>(isa::Opcode::kMatmul))
            rows += isa::Matmul::decode(words).rows;
        if ((words[0] & 0xff) == static_cast<uint32_t>(isa::Opcode::kReadWeights))
            weight_bytes += isa::ReadWeights::decode(words).tiles * chip.tile_bytes();
    }
    const auto at_least = [&](const char* path, uint64_t bytes) {
        if (result.traffic_bytes.at(path) < bytes)
            broken.push_back(fmt::format("{}: {} bytes were moved, {} are compulsory", path,
                                         result.traffic_bytes.at(path), bytes));
    };
    at_least("memory_read", weight_bytes * runs);
    at_least("host_to_chip", arch::bytes_of(program.inputs) * runs);
    at_least("chip_to_host", arch::bytes_of(program.outputs) * runs);
    if (result.mxu_busy_cycles != rows * runs)
        broken.push_back(fmt::format("the array took {} rows, the program has {}",
                                     result.mxu_busy_cycles, rows * runs));
    return broken;
}

json make_report(const arch::ChipConfig& chip, const arch::Program& program,
                 const SessionResult& result, const RunReport& run) {
    const uint64_t runs = runs_of(program, run);
    json report = {
        {"report_version", kReportVersion},
        {"tandem_version", TANDEM_VERSION},
        {"chip", chip.name},
        {"backend", run.backend},
        {"mode", run.mode},
        {"host_cpu", run.host},
        {"model", run.model},
        {"batch", program.batch},
        {"samples", run.samples},
        {"rounding", program.rounding},
        {"cycles", result.cycles},
        {"time_ns", static_cast<double>(result.cycles) * 1e9 / static_cast<double>(chip.clock_hz)},
        {"macs", useful_macs(program, runs)},
        {"array_macs", result.array_macs},
        {"weight_tiles", result.tiles},
        {"instructions", result.instructions},
        {"utilization", utilization(chip, program, result, runs)},
        {"traffic", result.traffic_bytes}};
    for (const auto& unit : result.units)
        for (size_t cause = 0; cause < sim::kCauses; ++cause)
            report["units"][unit.name][std::string(sim::kCauseNames[cause])] = unit.cycles[cause];
    report["layers"] = json::array();
    for (size_t i = 0; i < program.nodes.size(); ++i) {
        const auto& node = program.nodes[i];
        report["layers"].push_back({{"index", node.index},
                                    {"op", node.op},
                                    {"name", node.name},
                                    {"cycles", result.layers[i].cycles},
                                    {"macs", node.macs * runs},
                                    {"output_bytes", node.output_bytes * runs}});
    }
    report["host"] = {{"wall_seconds", run.wall_seconds},
                      {"peak_rss_bytes", run.peak_rss_bytes},
                      {"firmware_instructions", result.host_instructions},
                      {"simulated_seconds", result.host_seconds}};
    report["checks"] = checks_json(result, run);
    report["laws_broken"] = broken_laws(chip, program, result, runs);
    if (result.injected) report["injected"] = result.injected->to_string();
    if (result.wave.record.any || !result.wave.note.empty())
        report["wave"] = {{"from_cycle", result.wave.record.from},
                          {"to_cycle", result.wave.record.to},
                          {"gtkw", result.wave.gtkw},
                          {"note", result.wave.note}};
    if (result.divergence) report["first_divergence"] = divergence_json(program, result, run);
    return report;
}

namespace {

void print_divergence(const arch::Program& program, const SessionResult& result,
                      const RunReport& run) {
    const json d = divergence_json(program, result, run);
    const auto line = [](const char* key, const std::string& value) {
        fmt::print("  {:<14}{}\n", key, value);
    };
    fmt::print("\nmodel and RTL part ({}):\n", d["kind"].get<std::string>());
    line("instruction", fmt::format("{}", d["instruction"].get<uint32_t>()));
    if (d["node"].is_object())
        line("node",
             fmt::format("#{} {} {}", d["node"]["index"].get<uint32_t>(),
                         d["node"]["op"].get<std::string>(), d["node"]["name"].get<std::string>()));
    line("tile",
         fmt::format("rows from {}, columns from {}, k from {}",
                     d["tile"]["m_start"].get<uint32_t>(), d["tile"]["n_start"].get<uint32_t>(),
                     d["tile"]["k_start"].get<uint32_t>()));
    line("output", fmt::format("row {}, column {}", d["output_row"].get<uint32_t>(),
                               d["output_col"].get<uint32_t>()));
    line("partial sum", fmt::format("expected {}, RTL has {}", d["expected"].get<int64_t>(),
                                    d["actual"].get<int64_t>()));
    line("cycle", fmt::format("model {}, RTL {}", d["cycle_tlm"].get<uint64_t>(),
                              d["cycle_rtl"].get<uint64_t>()));
    if (result.divergence->pe)
        line("first wrong",
             fmt::format(
                 "PE row {}, column {}, register {}, cycle {}, k step {}: expected {}, has {}",
                 d["pe_row"].get<uint32_t>(), d["pe_col"].get<uint32_t>(),
                 d["pe_register"].get<std::string>(), d["pe_cycle"].get<uint64_t>(),
                 d["k_step"].get<uint32_t>(), d["pe_expected"].get<int64_t>(),
                 d["pe_actual"].get<int64_t>()));
    if (result.divergence->net)
        line("first wrong", cosim::net_text(*result.divergence->net));
    else if (!result.divergence->pe && !result.divergence->unit.empty())
        line("first wrong", "unit " + result.divergence->unit);
    if (!result.divergence->note.empty()) line("note", result.divergence->note);
    line("again", run.rerun);
    if (!result.divergence->wave.empty()) {
        line("wave", fmt::format("{} (cycles {} to {})", result.divergence->wave,
                                 result.divergence->wave_from, result.divergence->wave_to));
        line("look", fmt::format("gtkwave {}", run.gtkw));
    }
}

void print_summary(const arch::ChipConfig& chip, const arch::Program& program,
                   const SessionResult& result, const RunReport& run) {
    const uint64_t runs = runs_of(program, run);
    const std::string array = fmt::format(
        "{}x{}{}", chip.mxu.rows, chip.mxu.cols,
        chip.arrays() == 1 ? "" : fmt::format(", the first of {} arrays", chip.arrays()));
    fmt::print("{} on {} ({}), backend {}, host {}: {} sample{}\n", program.model, chip.name, array,
               run.backend, run.host, run.samples, run.samples == 1 ? "" : "s");
    if (result.divergence || !result.assertion.empty())
        fmt::print("  stopped at the first difference\n");
    else
        print_cycles(chip, program, result, run, runs);
    if (result.rows_compared != 0 && !result.divergence)
        fmt::print("  model and RTL agree: {} accumulator rows, every value and every cycle\n",
                   result.rows_compared);
    if (result.injected)
        fmt::print("  injected {}{}\n", result.injected->to_string(),
                   result.divergence || result.rows_compared == 0 ? "" : ": no output row changed");
    if (result.wave.record.any)
        fmt::print("  wave: cycles {} to {}{}\n", result.wave.record.from, result.wave.record.to,
                   result.wave.gtkw.empty() ? "" : "; look: gtkwave " + result.wave.gtkw);
    if (!result.wave.note.empty()) fmt::print("  no whole wave: {}\n", result.wave.note);
    if (result.layer_bytes_compared != 0 && !result.layer_mismatch)
        fmt::print("  layers: {} bytes equal\n", result.layer_bytes_compared);
    if (run.check.compared && run.check.mismatches == 0)
        fmt::print("  outputs: all {} bytes as expected\n", run.check.bytes_compared);
    if (run.check.accuracy) fmt::print("  accuracy: {:.2f} %\n", *run.check.accuracy * 100);
    fmt::print("  {:.2f} s, {:.0f} MB peak memory, {} firmware instructions\n", run.wall_seconds,
               static_cast<double>(run.peak_rss_bytes) / 1e6, result.host_instructions);
}

int verdict(const arch::ChipConfig& chip, const arch::Program& program, const SessionResult& result,
            const RunReport& run) {
    const uint64_t runs = (run.samples + program.batch - 1) / program.batch;
    int status = kGood;
    if (result.divergence) status = kMismatch;
    if (!result.assertion.empty()) {
        fmt::print("an assertion of the RTL failed: {}\n", result.assertion);
        return kMismatch;
    }
    if (!result.failure.empty()) {
        fmt::print(stderr, "tandem: the run failed: {}\n", result.failure);
        return kFault;
    }
    if (result.layer_mismatch) {
        const auto& m = *result.layer_mismatch;
        const auto& node = program.nodes[m.node];
        fmt::print("layer #{} {} {}: byte {} expected {}, found {}\n", node.index, node.op,
                   node.name, m.offset, m.expected, m.actual);
        status = kMismatch;
    }
    if (run.check.mismatches != 0) {
        fmt::print(
            "outputs: {} of {} bytes differ; first: sample {}, element {}: expected {}, found {}\n",
            run.check.mismatches, run.check.bytes_compared, run.check.first_sample,
            run.check.first_offset, run.check.first_expected, run.check.first_actual);
        status = kMismatch;
    }
    const auto broken = broken_laws(chip, program, result, runs);
    for (const auto& law : broken) fmt::print(stderr, "tandem: internal fault: {}\n", law);
    return broken.empty() ? status : kFault;
}

}  // namespace

void write_report(const std::string& path, const json& report) {
    if (path.empty()) return;
    const std::string text = report.dump(2) + "\n";
    arch::write_file(path, {text.begin(), text.end()});
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

int conclude(const arch::ChipConfig& chip, const arch::Program& program,
             const SessionResult& result, const RunReport& run, const std::string& json_path) {
    print_summary(chip, program, result, run);
    if (result.divergence) print_divergence(program, result, run);
    const int status = verdict(chip, program, result, run);
    if (!json_path.empty()) write_report(json_path, make_report(chip, program, result, run));
    return status;
}

}  // namespace tandem::tools
