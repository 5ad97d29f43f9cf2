// SPDX-License-Identifier: Apache-2.0
// tandem gemm: one product C[M,N] = A[M,K] x B[K,N] of seeded random matrices of the chip's type,
// through the same compiler back end, firmware and chip as a network.
#include <fmt/format.h>

#include <chrono>

#include "arch/error.h"
#include "tools/command.h"
#include "tools/gemm_product.h"
#include "tools/output_files.h"
#include "tools/paths.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/session.h"
#include "tools/workload_command.h"

namespace tandem::tools {
namespace {

struct GemmArguments {
    GemmSize size;
    std::string chip = "test_16x16", dtype, mode = "functional", arrays = "first", json, trace;
    uint64_t seed = 0;
    SessionOptions session;
};

void check_dtype(const GemmArguments& a, const arch::ChipConfig& chip) {
    const auto own = arch::to_string(chip.mxu.dtype);
    if (!a.dtype.empty() && a.dtype != own)
        throw UserError(
            fmt::format("--dtype {}: the array of chip {} is {}", a.dtype, a.chip, own));
}

/// The product as a layer without data, from device memory and back, on the whole chip.
int gemm_on_all_arrays(const GemmArguments& a, const arch::ChipConfig& chip) {
    if (a.mode != "timing" || a.session.backend != "tlm" || !a.trace.empty() ||
        !a.session.inject.empty() || !a.session.wave.path.empty())
        throw UserError(
            "--arrays all goes with --mode timing, --backend tlm, and without --trace, "
            "--wave and --inject: data and firmware use the first array");
    check_output_files({{"--json", a.json}}, {});
    workload::Layer layer;
    layer.name = layer.where = a.size.to_string();
    layer.m = a.size.m;
    layer.k = a.size.k;
    layer.n = a.size.n;
    layer.input_elements = layer.m * layer.k;
    layer.output_elements = layer.m * layer.n;
    workload::Workload product;
    product.name = product.file = layer.name;
    product.layers = {layer};
    return run_layers_on_chip(product, chip, a.json);
}

int gemm(GemmArguments a) {
    const auto chip = arch::find_chip(a.chip, chips_dir());
    check_dtype(a, chip);
    if (a.arrays == "all") return gemm_on_all_arrays(a, chip);
    a.session.functional = a.mode == "functional";
    a.session.trace_path = a.trace;
    a.session.wave_path = "tandem_divergence_gemm.fst";
    if (a.session.backend == "tlm" && !a.session.wave.path.empty())
        throw UserError("--wave needs --backend rtl or tandem: the RTL's signals are recorded");
    check_output_files({{"--json", a.json}, {"--trace", a.trace}, {"--wave", a.session.wave.path}},
                       {});
    const auto product = make_gemm(a.size, chip, a.seed);
    Progress progress("instructions");
    a.session.progress = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
    const auto start = std::chrono::steady_clock::now();
    const auto result = run_session(chip, product.program, product.inputs, 1, a.session);
    RunReport report;
    report.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.peak_rss_bytes = peak_rss_bytes();
    report.seed = a.seed;
    report.backend = a.session.backend;
    report.host = a.session.host;
    report.mode = a.mode;
    report.model = a.size.to_string();
    report.samples = 1;
    report.rerun =
        fmt::format("tandem gemm {} {} {} --chip {} --backend {} --host {} --seed {}", a.size.m,
                    a.size.k, a.size.n, a.chip, a.session.backend, a.session.host, a.seed);
    report.rerun += a.session.array.to_string();
    if (result.injected) report.rerun += " --inject '" + result.injected->to_string() + "'";
    if (a.session.functional && !result.divergence && result.failure.empty()) {
        const auto expected = plain_product(product);
        report.check = compare_outputs(result.outputs, expected, expected.size());
    }
    report.gtkw = result.gtkw;
    return conclude(chip, product.program, result, report, a.json);
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
    command->add_option("--chip", a->chip, "name of a shipped chip, or a chip file")
        ->capture_default_str();
    command->add_option("--dtype", a->dtype, "element type, which must be the chip's [its own]")
        ->check(CLI::IsMember({"int8", "bf16"}));
    command->add_option("--backend", a->session.backend, "what computes the MAC array")
        ->check(CLI::IsMember({"tlm", "rtl", "tandem"}))
        ->capture_default_str();
    command->add_option("--host", a->session.host, "what runs the firmware")
        ->check(CLI::IsMember({"riscv", "native"}))
        ->capture_default_str();
    command->add_option("--mode", a->mode, "functional: data and time; timing: time only")
        ->check(CLI::IsMember({"functional", "timing"}))
        ->capture_default_str();
    command
        ->add_option(
            "--arrays", a->arrays,
            "first: the first array of the first core; all: every array, matrices in device "
            "memory, time only")
        ->check(CLI::IsMember({"first", "all"}))
        ->capture_default_str();
    add_rtl_options(*command, a->session.array);
    add_wave_options(*command, a->session.wave);
    command->add_option("--seed", a->seed, "of the matrices")->capture_default_str();
    command->add_option("--inject", a->session.inject,
                        "flip a bit of the RTL: pe[R][C].psum:bitB@cycle=T, or seed=N");
    command->add_option("--json", a->json, "write the report to this file");
    command->add_option("--trace", a->trace, "write a timeline for Perfetto or chrome://tracing");
    command->callback([&action, a] { action = [a] { return gemm(*a); }; });
}

}  // namespace tandem::tools
