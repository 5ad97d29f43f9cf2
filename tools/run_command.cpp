// SPDX-License-Identifier: Apache-2.0
// tandem run: a network, on a chip, to a checked answer.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "base/terminal.h"
#include "compiler/pipeline.h"
#include "jobs/graph_job.h"
#include "jobs/model_file.h"
#include "jobs/progress.h"
#include "jobs/run_report.h"
#include "jobs/samples.h"
#include "run/paths.h"
#include "run/report.h"
#include "run/run.h"
#include "run/run_junit.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"
#include "tools/graph_command.h"
#include "tools/one_of.h"
#include "tools/output_files.h"
#include "tools/scalesim_command.h"

namespace tandem::tools {

using namespace jobs;
namespace {

struct RunArguments {
    std::string model;
    ChipArguments chip{.chip = "test_16x16"};
    std::string mode = "functional", dtype;
    SampleFiles samples;
    std::string layers, output, json, csv, trace, junit, check = "none";
    uint64_t seed = 0;
    bool verbose = false;
    ModelOptions model_options;
    std::string timing = "chip";
    run::RunOptions options;
};

std::string rerun_command(const RunArguments& a, const run::RunResult& result) {
    std::string text =
        fmt::format("tandem run {}{} --backend {} --host {}", base::shell_word(a.model),
                    a.chip.to_string(), a.options.backend, a.options.cpu);
    for (const auto& file : a.samples.inputs) text += " --input " + base::shell_word(file);
    if (a.samples.count != 0) text += fmt::format(" --count {}", a.samples.count);
    if (a.model_options.batch != 1) text += fmt::format(" --batch {}", a.model_options.batch);
    if (a.model_options.rounding != "single") text += " --rounding " + a.model_options.rounding;
    text += plan_option(a.model_options.plan);
    if (a.model_options.precision != "bf16") text += " --precision " + a.model_options.precision;
    if (a.samples.inputs.empty()) text += fmt::format(" --seed {}", a.seed);
    text += a.options.array.to_string() + array_places_option(a.options.rtl_arrays);
    text += requantise_option(a.options.requantise);
    text += level_option(a.options);
    return text + (result.injected ? inject_option(result.injected->to_string()) : "");
}

void check_written_files(const RunArguments& a) {
    std::vector<NamedFile> inputs = {
        {"MODEL", a.model}, {"--layers", a.layers}, {"--labels", a.samples.labels}};
    for (const std::string& file : a.samples.inputs) inputs.push_back({"--input", file});
    for (const std::string& file : a.samples.expects) inputs.push_back({"--expect", file});
    check_output_files({{"--output", a.output},
                        {"--json", a.json},
                        {"--csv", a.csv},
                        {"--junit", a.junit},
                        {"--trace", a.trace},
                        {"--wave", a.options.wave.path}},
                       inputs);
}

std::vector<uint8_t> load_layers(const RunArguments& arguments) {
    return arguments.layers.empty() ? std::vector<uint8_t>{} : base::read_file(arguments.layers);
}

/// A plain name, whatever the model is called.
std::string divergence_wave(const RunArguments& a) {
    std::string name = std::filesystem::path(a.model).stem().string();
    constexpr size_t kMost = 200;
    name.resize(std::min(name.size(), kMost));
    std::ranges::replace_if(
        name,
        [](const unsigned char c) {
            return std::isalnum(c) == 0 &&
                   std::string_view("._-+").find(static_cast<char>(c)) == std::string_view::npos;
        },
        '_');
    return fmt::format("tandem_divergence_{}.fst", name);
}

void check_data_options(const RunArguments& a, const arch::Program& program,
                        const compiler::Graph* graph) {
    if (a.check == "plain" && graph == nullptr)
        throw UserError(a.model, "--check",
                        "a model that plain loops can follow (.tflite, .onnx, .tgraph)",
                        "a compiled program");
    if (a.check == "plain" && program.rounding != "single")
        throw UserError(a.model, "--check plain", "--rounding single, as the plain loops have it",
                        program.rounding);
    const bool floats = program.outputs.front().type != "INT8";
    if (floats && !a.layers.empty())
        throw UserError(a.model, "--layers", "an int8 network", "a float network");
    if (!floats && a.check == "plain" && !a.samples.expects.empty())
        throw UserError(a.model, "--check plain", "no --expect beside it: both are byte by byte",
                        "both");
}

void check_waves(const RunArguments& a) {
    if (a.options.backend == "tlm" && !a.options.wave.path.empty())
        throw UserError("--wave needs --backend rtl or tandem: the RTL's signals are recorded");
}

/// What follows from the other arguments. Throws UserError for those that do not go together.
void prepare_options(RunArguments& arguments) {
    arguments.options.functional = arguments.mode == "functional";
    const bool wants_data = !arguments.samples.expects.empty() || !arguments.layers.empty() ||
                            !arguments.samples.labels.empty() || !arguments.output.empty() ||
                            arguments.check != "none";
    if (!arguments.options.functional && wants_data)
        throw UserError(
            "--mode timing moves no data: --expect, --check, --layers, --labels and --output need "
            "--mode functional");
    arguments.options.trace_path = arguments.trace;
    arguments.options.divergence_wave = divergence_wave(arguments);
    check_waves(arguments);
    if (arguments.verbose)
        arguments.options.console = [](std::string_view text) {
            base::tell("firmware: {}\n", text);
        };
}

/// What a program was compiled from, and how; nothing: not known.
struct Origin {
    const compiler::Graph* graph = nullptr;
    std::vector<compiler::Bounds> bounds{};  ///< by node
};

int run_network(RunArguments arguments, const arch::ChipConfig& chip, const arch::Program& program,
                const Origin& origin, run::JunitFile& junit) {
    const Samples samples(program, arguments.samples, arguments.seed);
    check_data_options(arguments, program, origin.graph);
    const uint32_t runs = samples.runs();
    const auto& inputs = samples.inputs();
    const run::ImageJob job{program, inputs, runs, load_layers(arguments), origin.bounds};
    prepare_options(arguments);
    Progress progress("instructions");
    arguments.options.progress = [&](uint64_t done, uint64_t total) {
        if (done % 256 == 0) progress.update(done, total);
    };
    const base::Stopwatch watch;
    auto result = run::run_image(chip, job, arguments.options);
    auto report =
        report_of_image(program, arguments.model, arguments.options, arguments.seed, result, watch);
    report.samples = samples.count();
    if (origin.graph != nullptr) {
        report.plan = name_of(arguments.model_options.plan);
        describe_nodes(*origin.graph, program, report);
    }
    report.csv = arguments.csv;
    report.rerun = rerun_command(arguments, result);

    const bool answers = arguments.options.functional && result.completed();
    if (answers && arguments.check == "plain")
        report.check = samples.compare_with_plain_loops(*origin.graph, chip, result.outputs);
    result.outputs.resize(samples.output_bytes() * report.samples);
    report.output = arguments.output;
    if (answers) samples.compare_with_files(result.outputs, report);

    run::add_cases(junit, result, report);
    return conclude_run(chip, result, report, arguments.json, arguments.options.inject);
}

int run_network(const RunArguments& a, const arch::ChipConfig& chip, const arch::Program& program,
                const Origin& origin) {
    check_written_files(a);
    run::JunitFile junit(a.junit, run::run_suite(chip, a.model, a.mode, a.options.backend, a.seed));
    return junit.finish_after([&] { return run_network(a, chip, program, origin, junit); });
}

std::string rerun_of_graph(const RunArguments& a, bool functional) {
    std::string text =
        fmt::format("tandem run {}{} --backend {} --mode {}", base::shell_word(a.model),
                    a.chip.to_string(), a.options.backend, functional ? "functional" : "timing");
    if (!a.dtype.empty()) text += " --dtype " + a.dtype;
    if (a.model_options.batch != 1) text += fmt::format(" --batch {}", a.model_options.batch);
    if (a.model_options.rounding != "single") text += " --rounding " + a.model_options.rounding;
    text += plan_option(a.model_options.plan);
    if (functional) text += fmt::format(" --seed {}", a.seed);
    return text + inject_option(a.options.inject) + a.options.array.to_string() +
           array_places_option(a.options.rtl_arrays) + requantise_option(a.options.requantise);
}

void refuse_options(const CLI::App& command, const std::string& model,
                    std::initializer_list<const char*> options, const char* expected,
                    const char* found) {
    for (const char* const option : options)
        if (command.get_option(option)->count() != 0)
            throw UserError(model, option, expected, found);
}

/// What is about a network's data.
void refuse_data_options(const CLI::App& command, const RunArguments& a) {
    refuse_options(command, a.model,
                   {"--input", "--expect", "--tolerance", "--rtol", "--atol", "--check", "--layers",
                    "--output", "--labels", "--count", "--host", "--firmware-budget", "--verbose"},
                   "a model with data (.tflite, .onnx, .tpu)", "layers, whose data are seeded");
}

/// Closed forms: nothing is run but, of the array alone, what confirms our count.
int run_counts(const CLI::App& command, const RunArguments& a) {
    if (!is_list(a.model))
        throw UserError(a.model, "--timing", "chip, or a list of layers (.csv, .yaml)", a.timing);
    refuse_data_options(command, a);
    refuse_options(command, a.model,
                   {"--seed", "--dtype", "--rounding", "--plan", "--csv", "--junit", "--trace",
                    "--inject", "--wave", "--rtl-arrays"},
                   "--timing chip", "--timing scalesim-ws, which counts");
    if (command.get_option("--mode")->count() != 0 && a.mode != "timing")
        throw UserError(a.model, "--mode", "timing, or --timing chip", a.mode);
    if (a.options.backend == "tandem")
        throw UserError(a.model, "--backend", "tlm or rtl, or --timing chip", a.options.backend);
    if (a.options.level != "at")
        throw UserError(a.model, "--level", "at, or --timing chip", a.options.level);
    return run_scalesim(
        {a.model, a.json, a.chip, a.options.backend, a.model_options.batch, a.options.array});
}

/// Lists of layers, and graphs without bytes: all of the chip, no firmware; their time, or with
/// seeded data.
int run_graph(const CLI::App& command, const RunArguments& a, const arch::ChipConfig& chip,
              const compiler::Graph& graph, bool list) {
    refuse_data_options(command, a);
    GraphArguments g;
    g.model = a.model;
    g.json = a.json;
    g.csv = a.csv;
    g.junit = a.junit;
    g.options = a.options;
    const bool asked = command.get_option("--mode")->count() != 0;
    const bool has_rtl = a.options.backend != "tlm" || a.options.requantise != "tlm";
    g.options.functional = asked ? a.mode == "functional" : has_rtl;
    if (!g.options.functional && a.options.backend != "tlm")
        throw UserError("--mode timing moves no data: it goes with --backend tlm only");
    check_waves(a);
    g.options.trace_path = a.trace;
    g.options.divergence_wave = divergence_wave(a);
    g.how.batch = list ? 1 : a.model_options.batch;
    g.how.rounding = rounding_of(a.model_options);
    g.how.plan = a.model_options.plan;
    g.how.seed = a.seed;
    g.rerun = rerun_of_graph(a, g.options.functional);
    check_output_files({{"--json", a.json},
                        {"--csv", a.csv},
                        {"--junit", a.junit},
                        {"--trace", a.trace},
                        {"--wave", a.options.wave.path}},
                       {{"MODEL", a.model}});
    return run_graph_on_chip(graph, chip, g);
}

/// Without the files of inputs that have no elements; `dropped` in ascending order.
std::vector<std::string> without(std::vector<std::string> files,
                                 const std::vector<size_t>& dropped) {
    for (auto input = dropped.rbegin(); input != dropped.rend(); ++input)
        if (*input < files.size()) files.erase(files.begin() + static_cast<ptrdiff_t>(*input));
    return files;
}

int run_model(const CLI::App& command, const RunArguments& asked) {
    RunArguments a = asked;
    const bool list = is_list(a.model);
    if (a.timing != "chip") return run_counts(command, a);
    if (is_program(a.model)) {
        refuse_options(command, a.model, {"--dtype"}, "a list of layers (.csv, .yaml)",
                       "a program, which has its elements' type");
        const auto [program, chip] = load_program(a.model, a.chip.load());
        return run_network(a, chip, program, {});
    }
    ModelOptions how = a.model_options;
    how.given = a.samples.inputs;
    auto [graph, chip, dropped] = load_graph(a.model, a.chip.load(), how, a.dtype);
    a.samples.inputs = without(std::move(a.samples.inputs), dropped);
    if (list || !compiler::has_image(graph)) return run_graph(command, a, chip, graph, list);
    Origin origin{&graph};
    const auto keep_bounds = [&](const compiler::Planned& planned) {
        origin.bounds = compiler::lower_bounds(planned.kernels, planned.plan, planned.chip);
    };
    const auto program = compiler::compile(graph, chip,
                                           {.batch = a.model_options.batch,
                                            .rounding = rounding_of(a.model_options),
                                            .plan = a.model_options.plan,
                                            .dump = {},
                                            .on_plan = keep_bounds});
    return run_network(a, chip, program, origin);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("run", "Run a network on a chip");
    auto a = std::make_shared<RunArguments>();
    command
        ->add_option("MODEL", a->model,
                     ".tflite, .onnx, .tgraph (dump), .tpu (compiled); or layers: .csv (tables of "
                     "SCALE-Sim and "
                     "DeepBench), .yaml (applications)")
        ->required();
    a->chip.add_to(*command);
    command->add_option("--backend", a->options.backend, "what computes the MAC array")
        ->check(OneOf({"tlm", "rtl", "tandem"}))
        ->capture_default_str();
    add_requantise_option(*command, a->options.requantise);
    command->add_option("--host", a->options.cpu, "what runs the firmware")
        ->check(OneOf({"riscv", "native"}))
        ->capture_default_str();
    command
        ->add_option(
            "--mode", a->mode,
            "functional: data and time; timing: time only [networks functional, layers timing]")
        ->check(OneOf({"functional", "timing"}))
        ->capture_default_str();
    add_level_options(*command, a->options);
    add_gdb_option(*command, a->options);
    command
        ->add_option(
            "--timing", a->timing,
            "chip: the whole chip; scalesim-ws (.csv, .yaml): what SCALE-Sim counts, beside "
            "our array's count, which --backend rtl confirms on a sample")
        ->check(OneOf({"chip", "scalesim-ws"}))
        ->capture_default_str();
    command
        ->add_option("--dtype", a->dtype,
                     "element type of a list of layers (.csv, .yaml) [the chip's own]")
        ->check(OneOf({"int8", "bf16"}));
    add_rtl_options(*command, a->options.array);
    add_array_places(*command, a->options.rtl_arrays);
    command
        ->add_option("--rounding", a->model_options.rounding,
                     "TFLite's convention for requantisation")
        ->check(OneOf({"single", "gemmlowp"}))
        ->capture_default_str();
    add_plan_option(*command, a->model_options.plan);
    command->add_option("--batch", a->model_options.batch, "samples per inference")
        ->check(CLI::Range(1u, 65535u))
        ->capture_default_str();
    command->add_option(
        "--input", a->samples.inputs,
        "samples, one after another (.bin, .npy, .pb); default: seeded random values");
    command->add_option("--expect", a->samples.expects,
                        "outputs to compare with: int8 byte by byte, float32 within --tolerance");
    add_tolerances(*command, a->samples.tolerance);
    add_precision_option(*command, a->model_options.precision);
    command
        ->add_option("--check", a->check,
                     "plain: outputs are those of plain loops in the array's order, bit by bit")
        ->check(OneOf({"none", "plain"}))
        ->capture_default_str();
    command->add_option("--layers", a->layers,
                        "outputs of every operator for the first sample, to compare with");
    command->add_option("--output", a->output, "write the outputs of all samples to this file");
    command->add_option("--labels", a->samples.labels,
                        "one byte per sample: its class, for the accuracy");
    command->add_option("--count", a->samples.count, "only the first N samples")
        ->check(CLI::Range(1u, 1000000000u));
    command->add_option("--json", a->json, "write the report to this file");
    command->add_option("--csv", a->csv,
                        "write the layers to this file, a row each: sizes, cycles, bounds, bytes");
    add_junit_option(*command, a->junit);
    command->add_option("--trace", a->trace, "write a timeline for Perfetto or chrome://tracing");
    add_wave_options(*command, a->options.wave);
    add_inject_option(*command, a->options.inject,
                      "flip a bit of the RTL: pe[R][C].psum:bitB@cycle=T (.weight, .activation, "
                      ".shadow; T from the start of the program), or seed=N");
    command->add_option("--seed", a->seed, "of random inputs")->capture_default_str();
    command
        ->add_option(
            "--firmware-budget", a->options.firmware_budget,
            "instructions of the RISC-V CPU after which the run fails [2*10^8, and 100 for "
            "each byte and 10^6 for each run of the job]")
        ->check(CLI::Range(uint64_t{1}, ~uint64_t{0}));
    command->add_flag("--verbose", a->verbose, "show what the firmware prints");
    command->callback(
        [&action, a, command] { action = [a, command] { return run_model(*command, *a); }; });
}

}  // namespace tandem::tools
