// SPDX-License-Identifier: Apache-2.0
// How good the compiler's plans are: kernels against lower bounds, tables against fixed rules,
// ResNet-50 by batch, the closed-form cost against simulated cycles, and what planning costs.
// Tables come from TANDEM_SHAPES.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "benchmarks/plan/parts.h"
#include "benchmarks/plan/shortfalls.h"
#include "benchmarks/study.h"
#include "run/paths.h"

// The library's main() is not used, but it refers to this.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;
using namespace tandem::benchmarks;

constexpr const char* kCommand = "build/release/benchmarks/plan_study --markdown docs/plans.md";

struct Options {
    std::vector<std::string> chips = {"tpu_v1",  "tpu_v2",  "tpu_v3",  "tpu_v4",  "tpu_v4i",
                                      "tpu_v5e", "tpu_v5p", "tpu_v6e", "edge_tpu"};
    std::vector<std::string> parts = {"kernels", "tables",   "throughput",
                                      "cost",    "planning", "napkin"};
    bool quick = false, check = false, update = false;
    uint32_t jobs = 2;
};

nlohmann::json to_json(const Measured& run) {
    nlohmann::json json = {{"name", run.name},
                           {"chip", run.chip},
                           {"bound", run.bound.name()},
                           {"bound_cycles", run.bound.cycles()},
                           {"least_bytes", run.bound.least_bytes},
                           {"cycles", run.cycles()}};
    if (run.estimate) json["estimate"] = *run.estimate;
    return json;
}

class Study {
  public:
    Study(StudyOptions study, Options options)
        : study_(std::move(study)),
          options_(std::move(options)),
          known_(run::data_dir() / "benchmarks/plan/shortfalls.yaml",
                 options_.quick ? "reduced" : "full") {
        setup_.quick = options_.quick;
        setup_.jobs = options_.jobs;
        setup_.tables = load_public_tables();
        for (const std::string& chip : options_.chips)
            setup_.chips.push_back(arch::find_chip(chip, run::chips_dir()));
    }

    int go() {
        const std::string self = std::filesystem::read_symlink("/proc/self/exe");
        const std::vector<std::pair<std::string, std::function<Part()>>> parts = {
            {"kernels", [&] { return kernels_part(setup_, runs_); }},
            {"tables", [&] { return tables_part(setup_, runs_); }},
            {"throughput", [&] { return throughput_part(setup_); }},
            {"cost", [&] { return cost_part(setup_, runs_); }},
            {"planning", [&] { return planning_part(setup_, self); }},
            {"napkin", [&] { return napkin_part(setup_); }}};
        std::string text;
        for (const auto& [name, measure] : parts) {
            if (std::ranges::find(options_.parts, name) == options_.parts.end()) continue;
            fmt::print(stderr, "{}\n", name);
            const Part part = measure();
            text += part.text;
            targets_.insert(targets_.end(), part.targets.begin(), part.targets.end());
        }
        const std::string page = head() + text;
        write_markdown(study_, command(), page);
        if (!study_.json.empty()) write_file("--json", study_.json, json().dump(1) + "\n");
        if (!options_.check) fmt::print("{}", page);
        for (const Target& target : targets_)
            if (!options_.check || !target.good()) fmt::print("{}\n", target.line());
        if (options_.update) known_.update(targets_, is_complete());
        return options_.check ? check() : 0;
    }

  private:
    /// All exact targets are there.
    bool is_complete() const {
        const auto has = [&](const char* part) {
            return std::ranges::find(options_.parts, part) != options_.parts.end();
        };
        return options_.chips == Options().chips && has("kernels") && has("tables") &&
               has("throughput");
    }

    int check() const {
        const std::vector<std::string> faults = known_.faults(targets_, is_complete());
        fmt::print("{} targets, {} not as benchmarks/plan/shortfalls.yaml says\n", targets_.size(),
                   faults.size());
        for (const std::string& fault : faults) fmt::print("FAILED {}\n", fault);
        return faults.empty() ? 0 : 1;
    }

    std::string command() const { return kCommand + std::string(options_.quick ? " --quick" : ""); }

    std::string head() const {
        std::string text = "# How good the plans are\n\n";
        if (options_.quick) text += "**Reduced form (`--quick`): a sample.**\n\n";
        text += fmt::format(
            R"(Repeat with `{}` and TANDEM_SHAPES set ([tables](workloads.md#public-tables)); everything in
timing mode. No random numbers: every run gives the same cycles. A layer that repeats does so twice.

**Bound**: the larger of what the arrays compute (weight tiles x max(rows, R + 1) / arrays of the
chip, of R rows each; vector kernels: elements / lanes) and what the memory moves (the least bytes
for this buffer and these accumulators / bandwidth x efficiency; [formulas](bounds.md)),
plus launch and synchronisation. It is a true lower bound: no plan reaches it everywhere. Of a
chained table the two are added up over its layers, with no activation ever leaving the buffer, and
the host's bytes over its bus are a third.

)",
            command());
        for (const std::string& why : setup_.tables.unreadable)
            text += fmt::format("Not readable: {}.\n\n", why);
        return text +
               "## Targets\n\nWhat is missed stands with its cause, from "
               "`benchmarks/plan/shortfalls.yaml`: `--check` fails for a target that is missed and "
               "not there, or further than there, and for an entry that is not needed.\n\n" +
               target_table(targets_, known_);
    }

    nlohmann::json json() const {
        nlohmann::json json = {{"quick", options_.quick}, {"targets", targets_}};
        for (const Measured& run : runs_)
            if (run.result) json["runs"].push_back(to_json(run));
        return json;
    }

    const StudyOptions study_;
    const Options options_;
    Shortfalls known_;
    Setup setup_;
    std::vector<Measured> runs_;
    Targets targets_;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "How good the compiler's plans are, on the tables of TANDEM_SHAPES. A line per target.\n"
        "What is known to be missed stands in benchmarks/plan/shortfalls.yaml."};
    StudyOptions study;
    Options options;
    std::string work;
    add_study_options(app, study);
    app.add_option("--chips", options.chips, "on these")->delimiter(',')->capture_default_str();
    app.add_option("--parts", options.parts, "only these parts")
        ->delimiter(',')
        ->check(CLI::IsMember(options.parts))
        ->capture_default_str();
    app.add_option("--jobs", options.jobs, "simulations at a time")->check(CLI::Range(1, 64));
    app.add_flag("--quick", options.quick, "a sample of all parts");
    app.add_flag("--check", options.check,
                 "exit status 1 when the known shortfalls are not those that are measured; times "
                 "may be longer, the machine may be busy");
    app.add_flag("--update", options.update, "write the known shortfalls' figures");
    app.add_option("--time", work, "planning of a list in this process")
        ->check(CLI::IsMember({"resnet50", "resnet50-run", "bert", "bert-run"}))
        ->group("Internal");
    return run_study(app, argc, argv, [&] {
        if (work.empty()) return Study(study, options).go();
        time_here(work, options.chips.front());
        return 0;
    });
}
