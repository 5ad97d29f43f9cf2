// SPDX-License-Identifier: Apache-2.0
// tandem gemm: one product C[M,N] = A[M,K] x B[K,N] of seeded random matrices of the chip's type,
// through the same compiler back end, firmware and chip as a network.
#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "jobs/chip_for.h"
#include "jobs/gemm_product.h"
#include "jobs/model_file.h"
#include "jobs/progress.h"
#include "jobs/run_report.h"
#include "run/paths.h"
#include "run/report.h"
#include "run/run.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"
#include "tools/graph_command.h"
#include "tools/one_of.h"
#include "tools/output_files.h"

namespace tandem::tools {

using namespace jobs;
namespace {

struct GemmArguments {
    GemmSize size;
    ChipArguments chip{.chip = "test_16x16"};
    std::string dtype, mode = "functional", arrays = "first", json, trace;
    uint64_t seed = 0;
    compiler::PlanMode plan = compiler::PlanMode::kSearch;
    run::RunOptions options;
};

arch::ChipConfig load_chip(const GemmArguments& a) {
    const auto chip = a.chip.load();
    const auto dtype = arch::parse_dtype(a.dtype);
    return dtype ? chip_for(chip, *dtype, a.size.to_string(), "--dtype " + a.dtype) : chip;
}

std::string rerun_of(const GemmArguments& a) {
    return fmt::format("tandem gemm {} {} {}{}{}{}", a.size.m, a.size.k, a.size.n,
                       a.chip.to_string(), a.dtype.empty() ? "" : " --dtype " + a.dtype,
                       plan_option(a.plan));
}

/// From device memory and back, on the whole chip, without firmware.
int gemm_on_all_arrays(const GemmArguments& a, const arch::ChipConfig& chip) {
    check_output_files({{"--json", a.json}, {"--trace", a.trace}, {"--wave", a.options.wave.path}},
                       {});
    tables::Layer layer;
    layer.name = layer.where = a.size.to_string();
    layer.m = a.size.m;
    layer.k = a.size.k;
    layer.n = a.size.n;
    layer.input_elements = layer.m * layer.k;
    layer.output_elements = layer.m * layer.n;
    tables::Workload product;
    product.name = product.file = layer.name;
    product.layers = {layer};
    GraphArguments g;
    g.model = a.size.to_string();
    g.json = a.json;
    g.options = a.options;
    g.options.functional = a.mode == "functional";
    if (!g.options.functional && a.options.backend != "tlm")
        throw UserError("--mode timing moves no data: it goes with --backend tlm only");
    g.options.trace_path = a.trace;
    g.options.divergence_wave = "tandem_divergence_gemm.fst";
    g.how.seed = a.seed;
    g.how.plan = a.plan;
    g.rerun = fmt::format("{} --arrays all --mode {} --backend {} --seed {}{}", rerun_of(a), a.mode,
                          a.options.backend, a.seed,
                          inject_option(a.options.inject) + a.options.array.to_string() +
                              array_places_option(a.options.rtl_arrays) +
                              requantise_option(a.options.requantise));
    return run_graph_on_chip(tables::graph_of(product, run::element_type_of(chip)), chip, g);
}

int gemm(GemmArguments a) {
    const auto chip = load_chip(a);
    if (a.arrays == "all") return gemm_on_all_arrays(a, chip);
    a.options.functional = a.mode == "functional";
    a.options.trace_path = a.trace;
    a.options.divergence_wave = "tandem_divergence_gemm.fst";
    if (a.options.backend == "tlm" && !a.options.wave.path.empty())
        throw UserError("--wave needs --backend rtl or tandem: the RTL's signals are recorded");
    check_output_files({{"--json", a.json}, {"--trace", a.trace}, {"--wave", a.options.wave.path}},
                       {});
    const auto product = make_gemm(a.size, chip, a.seed, a.plan);
    Progress progress("instructions");
    a.options.progress = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
    const base::Stopwatch watch;
    const run::ImageJob job{product.program, product.inputs, 1, {}, product.bounds};
    const auto result = run::run_image(chip, job, a.options);
    auto report =
        report_of_image(product.program, a.size.to_string(), a.options, a.seed, result, watch);
    report.plan = name_of(a.plan);
    report.rerun = fmt::format("{} --backend {} --host {} --seed {}", rerun_of(a),
                               a.options.backend, a.options.cpu, a.seed);
    report.rerun += a.options.array.to_string() + array_places_option(a.options.rtl_arrays) +
                    requantise_option(a.options.requantise) + level_option(a.options);
    if (result.injected) report.rerun += inject_option(result.injected->to_string());
    if (a.options.functional && result.completed()) {
        const auto expected = plain_product(product);
        report.check = run::compare_outputs(result.outputs, expected, expected.size());
    }
    return conclude_run(chip, result, report, a.json, a.options.inject);
}

}  // namespace

void add_gemm_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("gemm", "One matrix product, checked against plain loops");
    auto a = std::make_shared<GemmArguments>();
    command->add_option("M", a->size.m, "rows of A and C")
        ->required()
        ->check(CLI::Range(1u, 65535u));
    command->add_option("K", a->size.k, "columns of A, rows of B")
        ->required()
        ->check(CLI::Range(1u, 65535u));
    command->add_option("N", a->size.n, "columns of B and C")
        ->required()
        ->check(CLI::Range(1u, 65535u));
    a->chip.add_to(*command);
    command->add_option("--dtype", a->dtype, "element type, one that the chip has [its own]")
        ->check(OneOf({"int8", "bf16"}));
    command->add_option("--backend", a->options.backend, "what computes the MAC array")
        ->check(OneOf({"tlm", "rtl", "tandem"}))
        ->capture_default_str();
    add_requantise_option(*command, a->options.requantise);
    command->add_option("--host", a->options.cpu, "what runs the firmware")
        ->check(OneOf({"riscv", "native"}))
        ->capture_default_str();
    command->add_option("--mode", a->mode, "functional: data and time; timing: time only")
        ->check(OneOf({"functional", "timing"}))
        ->capture_default_str();
    command
        ->add_option(
            "--arrays", a->arrays,
            "first: the first core with its arrays, by firmware; all: every core and array without "
            "firmware, matrices in device memory")
        ->check(OneOf({"first", "all"}))
        ->capture_default_str();
    add_level_options(*command, a->options);
    add_plan_option(*command, a->plan);
    add_rtl_options(*command, a->options.array);
    add_array_places(*command, a->options.rtl_arrays);
    add_wave_options(*command, a->options.wave);
    command->add_option("--seed", a->seed, "of the matrices")->capture_default_str();
    add_inject_option(*command, a->options.inject,
                      "flip a bit of the RTL: pe[R][C].psum:bitB@cycle=T (T from the start of the "
                      "program), or seed=N");
    command->add_option("--json", a->json, "write the report to this file");
    command->add_option("--trace", a->trace, "write a timeline for Perfetto or chrome://tracing");
    command->callback([&action, a] { action = [a] { return gemm(*a); }; });
}

}  // namespace tandem::tools
