// SPDX-License-Identifier: Apache-2.0
// tandem compile, tandem disasm: programs as files and as text.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "arch/disassembler.h"
#include "arch/program.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/terminal.h"
#include "compiler/explain.h"
#include "compiler/pipeline.h"
#include "jobs/model_file.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"
#include "tools/one_of.h"
#include "tools/output_files.h"

namespace tandem::tools {

using namespace jobs;

namespace {

struct CompileArguments {
    std::string model, output, dump, json;
    bool dump_bytes = false, explain = false;
    ChipArguments chip{.chip = "test_16x16"};
    ModelOptions options;
};

/// The program's form after each pass as a file of its own in the folder.
compiler::Dump dump_into(const CompileArguments& a) {
    const std::filesystem::path folder = a.dump;
    std::filesystem::create_directories(folder);
    return {.text =
                [folder](std::string_view form, const std::string& text) {
                    const auto file = folder / form;
                    base::write_file(file, text);
                    base::print("{}: {} lines\n", file.string(),
                                std::count(text.begin(), text.end(), '\n'));
                },
            .bytes = a.dump_bytes ? compiler::DumpBytes::kAll : compiler::DumpBytes::kNone};
}

/// What the plan is, on the terminal and as JSON, as far as they were asked for.
void explain(const CompileArguments& a, const compiler::Planned& planned) {
    const auto kernels = compiler::explain(planned);
    if (a.explain) base::print("{}", compiler::explanation_text(kernels));
    if (a.json.empty()) return;
    nlohmann::json report = {{"report_version", 1},
                             {"tandem_version", TANDEM_VERSION},
                             {"chip", planned.chip.name},
                             {"chip_overrides", planned.chip.overrides},
                             {"model", a.model},
                             {"plan", name_of(a.options.plan)},
                             {"kernels", nlohmann::json::array()}};
    for (const compiler::KernelExplanation& k : kernels)
        report["kernels"].push_back({{"index", k.index},
                                     {"op", k.op},
                                     {"name", k.name},
                                     {"cores", k.cores},
                                     {"split", k.split},
                                     {"arrays", k.arrays},
                                     {"pixels_per_row", k.pixels},
                                     {"chunks", k.chunks},
                                     {"blocks", k.blocks},
                                     {"block_rows", k.block_rows},
                                     {"in", k.in},
                                     {"out", k.out},
                                     {"gathers", k.gathers},
                                     {"in_cmem", k.in_cmem},
                                     {"out_cmem", k.out_cmem},
                                     {"bound", k.bounds.name()},
                                     {"bound_cycles", std::ceil(k.bounds.cycles())}});
    run::write_report(a.json, report);
}

int compile(const CompileArguments& a) {
    const bool explains = a.explain || !a.json.empty();
    if (a.output.empty() && a.dump.empty() && !explains)
        throw UserError(
            "compile: expected -o FILE.tpu, --dump FOLDER, --explain or --json FILE, found none");
    const bool list = is_list(a.model);
    const auto [graph, chip, dropped] = load_graph(a.model, a.chip.load(), a.options);
    check_output_files({{"--output", a.output}, {"--json", a.json}}, {{"MODEL", a.model}});
    compiler::CompileOptions options{.batch = list ? 1 : a.options.batch,
                                     .rounding = rounding_of(a.options),
                                     .plan = a.options.plan,
                                     .dump = {}};
    if (!a.dump.empty()) options.dump = dump_into(a);
    if (explains)
        options.on_plan =
            [&a, begin = std::chrono::steady_clock::now()](const compiler::Planned& planned) {
                const std::chrono::duration<double, std::milli> taken =
                    std::chrono::steady_clock::now() - begin;
                explain(a, planned);
                base::tell("planned in {:.1f} ms\n", taken.count());
            };
    if (a.output.empty()) {
        compiler::plan_graph(graph, chip, options);
        return kGood;
    }
    const auto program = compiler::compile(graph, chip, options);
    if (!a.dump.empty()) options.dump.text("program.txt", arch::disassemble(program));
    arch::write_program(program, a.output);
    const size_t cores = program.cores.size();
    base::print("{}: {} instructions on {} core{}, {} bytes of data, {} nodes, for {}\n", a.output,
                arch::instructions_of(program), cores, cores == 1 ? "" : "s", program.data.size(),
                program.nodes.size(), program.chip);
    return kGood;
}

}  // namespace

void add_compile_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("compile", "Compile a model for a chip");
    auto a = std::make_shared<CompileArguments>();
    command->add_option("MODEL", a->model, ".tflite, .onnx, .tgraph; but for -o also .csv, .yaml")
        ->required();
    a->chip.add_to(*command);
    command->add_option("-o,--output", a->output, "program file (.tpu)");
    command->add_option("--dump", a->dump,
                        "folder for the text of every form that the program takes: graph.tgraph "
                        "(a model again), kernels.txt, plan.txt, program.txt");
    command->add_flag("--dump-bytes", a->dump_bytes, "graph.tgraph with the constants' values");
    command->add_option("--batch", a->options.batch, "samples per inference")
        ->check(CLI::Range(1u, 65535u))
        ->capture_default_str();
    command->add_option("--rounding", a->options.rounding, "TFLite's convention for requantisation")
        ->check(OneOf({"single", "gemmlowp"}))
        ->capture_default_str();
    add_plan_option(*command, a->options.plan);
    add_precision_option(*command, a->options.precision);
    command->add_flag("--explain", a->explain,
                      "print the plan: a line for each kernel, beside its lower bound");
    command->add_option("--json", a->json, "write the plan of every kernel to this file");
    command->callback([&action, a] { action = [a] { return compile(*a); }; });
}

void add_disasm_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("disasm", "Show a compiled program as text");
    auto file = std::make_shared<std::string>();
    command->add_option("FILE", *file, "program file (.tpu)")->required();
    command->callback([&action, file] {
        action = [file] {
            base::print("{}", arch::disassemble(arch::read_program(*file)));
            return kGood;
        };
    });
}

}  // namespace tandem::tools
