// SPDX-License-Identifier: Apache-2.0
#include "run/findings.h"

#include <fmt/format.h>

#include "base/process.h"

namespace tandem::run {
namespace {

using nlohmann::json;

std::string first_wrong_text(const RunResult& result, const json& d) {
    const cosim::Divergence& what = result.divergence->what;
    if (what.pe)
        return fmt::format(
            "  {:<14}PE row {}, column {}, register {}, cycle {}, k step {}: expected {}, "
            "has {}\n",
            "first wrong", what.pe->pe_row, what.pe->pe_col, d["pe_register"].get<std::string>(),
            what.pe->cycle, d["k_step"].get<uint32_t>(), what.pe->expected, what.pe->actual);
    if (what.net) return fmt::format("  {:<14}{}\n", "first wrong", cosim::net_text(*what.net));
    if (!what.unit.empty()) return fmt::format("  {:<14}unit {}\n", "first wrong", what.unit);
    return {};
}

}  // namespace

std::string divergence_text(const RunResult& result, const RunReport& run) {
    const json d = divergence_json(result, run);
    const LocatedDivergence& found = *result.divergence;
    auto text = fmt::format("model and RTL part ({}):\n", found.what.what);
    const auto line = [&text](const char* key, const std::string& value) {
        text += fmt::format("  {:<14}{}\n", key, value);
    };
    if (result.cores * result.arrays > 1)
        line("array", fmt::format("{} of core {}", found.array, found.core));
    line("instruction", std::to_string(found.instruction));
    if (d["node"].is_object())
        line("node",
             fmt::format("#{} {} {}", d["node"]["index"].get<uint32_t>(),
                         d["node"]["op"].get<std::string>(), d["node"]["name"].get<std::string>()));
    line("tile", fmt::format("rows from {}, columns from {}, k from {}", found.source.m_start,
                             found.source.n_start, found.source.k_start));
    line("output", fmt::format("row {}, column {}", d["output_row"].get<uint32_t>(),
                               d["output_col"].get<uint32_t>()));
    line(found.what.unit == "requantise" ? "activation" : "partial sum",
         fmt::format("expected {}, RTL has {}", found.what.expected, found.what.actual));
    line("cycle", fmt::format("model {}, RTL {}", found.what.cycle_tlm, found.what.cycle_rtl));
    text += first_wrong_text(result, d);
    if (!found.what.difference.empty()) line("difference", found.what.difference);
    if (!found.what.hint.empty()) line("hint", found.what.hint);
    if (!found.what.note.empty()) line("note", found.what.note);
    line("again", run.rerun);
    if (found.what.wave.empty()) return text;
    line("wave", fmt::format("{} (cycles {} to {})", found.what.wave, found.what.wave_from,
                             found.what.wave_to));
    if (!found.gtkw.empty()) line("look", base::quoted({"gtkwave", found.gtkw}));
    return text;
}

std::string assertion_text(const RunResult& result) {
    if (result.assertion.empty()) return {};
    return "an assertion of the RTL failed: " + result.assertion;
}

std::string layer_mismatch_text(const RunResult& result) {
    if (!result.layer_mismatch) return {};
    const LayerMismatch& m = *result.layer_mismatch;
    const LayerResult& layer = result.layers[m.node];
    return fmt::format("layer #{} {} {}: byte {} expected {}, found {}", layer.index, layer.op,
                       layer.name, m.offset, m.expected, m.actual);
}

std::string output_mismatch_text(const RunReport& run) {
    if (run.check.mismatches == 0) return {};
    return fmt::format(
        "outputs: {} of {} bytes differ; first: sample {}, element {}: expected {}, found {}",
        run.check.mismatches, run.check.bytes_compared, run.check.first_sample,
        run.check.first_offset, run.check.first_expected, run.check.first_actual);
}

std::string float_mismatch_text(const RunReport& run) {
    if (!run.floats || run.floats->beyond == 0) return {};
    const FloatCheck& f = *run.floats;
    return fmt::format(
        "outputs: {} of {} values differ by more than {}; "
        "worst: sample {}, element {}: expected {}, found {}",
        f.beyond, f.values, f.tolerance.text(), f.worst_sample, f.worst_element, f.worst_expected,
        f.worst_actual);
}

}  // namespace tandem::run
