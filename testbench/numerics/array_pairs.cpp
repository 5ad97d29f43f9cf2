// SPDX-License-Identifier: Apache-2.0
#include "testbench/numerics/array_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/terminal.h"
#include "run/report.h"
#include "testbench/numerics/array_judge.h"
#include "tools/output_files.h"

namespace tandem::testbench {
namespace {

using Counts = ArrayVerdict::Counts;
using Json = nlohmann::ordered_json;

/// After so many results there has to be one of every kind.
constexpr uint64_t kEnough = 100'000;

struct Kind {
    const char* name;
    uint64_t Counts::*count;
};
constexpr Kind kKinds[] = {{"exact", &Counts::exact},
                           {"rounded", &Counts::rounded},
                           {"zero", &Counts::zero},
                           {"infinity", &Counts::infinite},
                           {"NaN", &Counts::not_a_number}};

void print(const char* name, const Counts& counts) {
    base::print("{}: {}, mismatches {}\n    results:", name, counts.results, counts.mismatches);
    for (const Kind& kind : kKinds)
        base::print("{} {} {}", &kind == kKinds ? "" : ",", kind.name, counts.*kind.count);
    base::print("\n");
}

Json report(const Counts& counts) {
    Json json{{"operands", counts.results}, {"mismatches", counts.mismatches}};
    for (const Kind& kind : kKinds) json["results"][kind.name] = counts.*kind.count;
    return json;
}

}  // namespace

void ArrayPairs::add_options(CLI::App& app) {
    const std::vector<CLI::Option*> before = app.get_options();
    add_to(app);
    options_ = app.get_options();
    options_.erase(options_.begin(), options_.begin() + static_cast<ptrdiff_t>(before.size()));
    for (CLI::Option* option : options_) option->group("An array, in place of the functions");
}

bool ArrayPairs::asked() const {
    return std::ranges::any_of(options_, [](const auto* option) { return option->count() != 0; });
}

int ArrayPairs::run(uint64_t results, uint64_t seed, const std::string& json) const {
    if (dtype != "bf16")
        throw UserError("--dtype", "bf16_pairs", "bf16: tandem verify judges int8", dtype);
    tools::check_output_files({{"--json", json}},
                              {{"--rtl", choice.rtl}, {"--rtl-timing", choice.rtl_timing}});
    const run::LoadedArray array = run::load_array(shape(), choice);
    const base::Stopwatch watch;
    ArrayJudge judge(array.shape, array.library, seed);
    const ArrayVerdict verdict = judge.run(results);
    const Counts all = verdict.all();
    const std::string title =
        fmt::format("{} {}x{} bf16{}", choice.other() ? choice.rtl_top : "tpu_mxu", rows, cols,
                    sum4 ? ", sum4" : "");
    base::print("{}: seed {}, {} results at {} edges\n", title, seed, all.results, verdict.edges);
    Json file{{"array", title}, {"seed", seed}, {"pairs", all.results}, {"edges", verdict.edges}};
    for (size_t i = 0; i < kMeetings; ++i) {
        const char* const name = name_of(static_cast<Meeting>(i));
        print(name, verdict.by_meeting[i]);
        file["functions"][name] = report(verdict.by_meeting[i]);
    }
    for (const std::string& text : verdict.shown) base::print("MISMATCH {}\n", text);
    if (all.mismatches > verdict.shown.size()) base::print("further mismatches are only counted\n");
    if (!verdict.stopped.empty())
        base::print("MISMATCH {}: tandem verify tells more\n", verdict.stopped);
    bool complete = verdict.stopped.empty();
    for (const Kind& kind : kKinds) {
        if (all.results < kEnough || all.*kind.count != 0) continue;
        base::print("no result was {}\n", kind.name);
        complete = false;
    }
    base::print("mismatches {}, {:.1f} s\n", all.mismatches, watch.seconds());
    file["mismatches"] = all.mismatches;
    file["seconds"] = watch.seconds();
    if (!verdict.stopped.empty()) file["stopped"] = verdict.stopped;
    if (all.mismatches != 0 || !verdict.stopped.empty())
        base::print("again: bf16_pairs{} --pairs {} --seed {}\n", to_string(), results, seed);
    run::write_report(json, file);
    return all.mismatches == 0 && complete ? 0 : 1;
}

}  // namespace tandem::testbench
