// SPDX-License-Identifier: Apache-2.0
#include "run/run_junit.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "run/findings.h"

namespace tandem::run {
namespace {

using Outcome = JunitCase::Outcome;

JunitCase passed(const char* name, std::string text) {
    return {.group = "", .name = name, .text = std::move(text)};
}

JunitCase skipped(const char* name, std::string why) {
    return {.group = "", .name = name, .outcome = Outcome::kSkipped, .message = std::move(why)};
}

JunitCase wrong(const char* name, const std::string& text, Outcome outcome = Outcome::kFailed) {
    return {.group = "",
            .name = name,
            .outcome = outcome,
            .message = junit_headline(text),
            .text = text};
}

/// A line that is empty when all is right.
JunitCase judged(const char* name, const std::string& mistake, std::string good) {
    return mistake.empty() ? passed(name, std::move(good)) : wrong(name, mistake);
}

JunitCase end_of(const RunResult& result) {
    if (!result.failure.empty())
        return wrong(kJunitEnd, "the run failed: " + result.failure, Outcome::kError);
    if (!result.laws_broken.empty())
        return wrong(kJunitEnd,
                     fmt::format("internal fault: {}", fmt::join(result.laws_broken, "\n")),
                     Outcome::kError);
    if (!result.completed()) return skipped(kJunitEnd, "ended at the first difference");
    return passed(kJunitEnd, fmt::format("{} cycles", result.cycles));
}

/// Model beside RTL, by what is compared; a run ends at the first difference.
void add_comparison(const RunResult& result, const RunReport& run, std::vector<JunitCase>& cases) {
    struct Compared {
        const char *kind, *name;
    };
    static constexpr Compared kCompared[] = {{"value", "model and RTL: every value"},
                                             {"cycle", "model and RTL: every cycle"},
                                             {"order", "model and RTL: order of the commits"},
                                             {"assertion", "model and RTL: assertions of the RTL"}};
    for (const Compared& compared : kCompared) {
        if (result.divergence && result.divergence->what.what == compared.kind)
            cases.push_back(wrong(compared.name, divergence_text(result, run)));
        else if (!result.completed())
            cases.push_back(skipped(compared.name, "the run ended before its end"));
        else if (result.rows_compared == 0)
            cases.push_back(skipped(compared.name, "no accumulator row was compared"));
        else
            cases.push_back(
                passed(compared.name, fmt::format("{} accumulator rows", result.rows_compared)));
    }
}

JunitCase outputs_of(const RunResult& result, const RunReport& run) {
    constexpr const char* kName = "outputs";
    if (!result.completed()) return skipped(kName, "the run ended before its end");
    if (!run.check.compared && !run.floats)
        return skipped(kName, "nothing to compare with (--expect, --check plain)");
    std::string mistakes = output_mismatch_text(run);
    const std::string floats = float_mismatch_text(run);
    if (!mistakes.empty() && !floats.empty()) mistakes += '\n';
    mistakes += floats;
    std::string good;
    if (run.check.compared) good = fmt::format("{} bytes equal", run.check.bytes_compared);
    if (run.floats)
        good += fmt::format("{}{} float32 values within {}", good.empty() ? "" : ", ",
                            run.floats->values, run.floats->tolerance.text());
    return judged(kName, mistakes.empty() ? mistakes : mistakes + "\nagain: " + run.rerun,
                  std::move(good));
}

}  // namespace

JunitSuite run_suite(const arch::ChipConfig& chip, const std::string& model,
                     const std::string& mode, const std::string& backend, uint64_t seed) {
    const std::string stem = std::filesystem::path(model).stem().string();
    JunitSuite suite{.name = fmt::format("run.{}.{}", junit_part(stem), junit_part(chip.name))};
    suite.add_property("tandem_version", TANDEM_VERSION);
    suite.add_property("model", model);
    suite.add_property("chip", chip.name);
    for (const std::string& changed : chip.overrides) suite.add_property("set", changed);
    suite.add_property("array", fmt::format("{}x{} {}", chip.mxu.rows, chip.mxu.cols,
                                            arch::to_string(chip.mxu.dtype)));
    suite.add_property("backend", backend);
    suite.add_property("mode", mode);
    suite.add_property("seed", std::to_string(seed));
    return suite;
}

void add_cases(JunitFile& file, const RunResult& result, const RunReport& run) {
    std::vector<JunitCase> cases;
    cases.push_back(end_of(result));
    cases.back().seconds = run.wall_seconds;
    if (run.backend == "tandem") add_comparison(result, run, cases);
    if (run.backend == "rtl")
        cases.push_back(judged("assertions of the RTL", assertion_text(result), "none failed"));
    cases.push_back(outputs_of(result, run));
    if (result.layer_bytes_compared != 0 || result.layer_mismatch)
        cases.push_back(judged("outputs of every layer", layer_mismatch_text(result),
                               fmt::format("{} bytes equal", result.layer_bytes_compared)));
    for (JunitCase& one : cases) {
        one.group = file.name();
        file.add(std::move(one));
    }
}

}  // namespace tandem::run
