// SPDX-License-Identifier: Apache-2.0
// tandem run: a network, on a chip, to a checked answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>

#include "arch/error.h"
#include "arch/file.h"
#include "tools/command.h"
#include "tools/model_file.h"
#include "tools/output_files.h"
#include "tools/paths.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/session.h"
#include "tools/workload_command.h"

namespace tandem::tools {
namespace {

struct RunArguments {
    std::string model;
    std::string chip = "test_16x16";
    std::string mode = "functional", level = "at";
    std::vector<std::string> inputs, expects;
    std::string layers, labels, output, json, trace;
    uint32_t count = 0;
    uint64_t seed = 0;
    bool verbose = false;
    ModelOptions model_options;
    std::string timing = "chip";
    SessionOptions session;
};

std::vector<uint8_t> concatenate(const std::vector<std::string>& files) {
    std::vector<uint8_t> all;
    for (const auto& file : files) {
        const auto bytes = read_tensor_file(file);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

/// Samples one after another; without --input seeded random ones.
std::vector<uint8_t> load_inputs(const RunArguments& arguments, uint64_t sample_bytes) {
    if (arguments.inputs.empty()) {
        std::vector<uint8_t> random(sample_bytes * std::max(1u, arguments.count));
        std::mt19937_64 generator(arguments.seed);
        std::generate(random.begin(), random.end(),
                      [&] { return static_cast<uint8_t>(generator()); });
        return random;
    }
    auto bytes = concatenate(arguments.inputs);
    if (bytes.empty() || bytes.size() % sample_bytes != 0)
        throw UserError(arguments.inputs.front(), "size",
                        fmt::format("a multiple of {} bytes (the model's input)", sample_bytes),
                        fmt::format("{} bytes", bytes.size()));
    if (arguments.count != 0 && bytes.size() / sample_bytes < arguments.count)
        throw UserError(arguments.inputs.front(), "samples",
                        fmt::format("--count {}", arguments.count),
                        std::to_string(bytes.size() / sample_bytes));
    if (arguments.count != 0) bytes.resize(sample_bytes * arguments.count);
    return bytes;
}

double accuracy_of(const std::vector<uint8_t>& outputs, const std::vector<uint8_t>& labels,
                   uint64_t sample_bytes, uint32_t samples) {
    uint32_t right = 0;
    for (uint32_t sample = 0; sample < samples; ++sample) {
        const auto* first = reinterpret_cast<const int8_t*>(outputs.data() + sample * sample_bytes);
        right += std::max_element(first, first + sample_bytes) - first == labels[sample];
    }
    return static_cast<double>(right) / samples;
}

std::string rerun_command(const RunArguments& a, const SessionResult& result) {
    std::string text = fmt::format("tandem run {} --chip {} --backend {} --host {}", a.model,
                                   a.chip, a.session.backend, a.session.host);
    for (const auto& file : a.inputs) text += " --input " + file;
    if (a.count != 0) text += fmt::format(" --count {}", a.count);
    if (a.model_options.batch != 1) text += fmt::format(" --batch {}", a.model_options.batch);
    if (a.model_options.rounding != "single") text += " --rounding " + a.model_options.rounding;
    if (a.inputs.empty()) text += fmt::format(" --seed {}", a.seed);
    text += a.session.array.to_string();
    if (result.injected) text += " --inject '" + result.injected->to_string() + "'";
    return text;
}

void check_files(const RunArguments& arguments, const std::vector<uint8_t>& expected,
                 const std::vector<uint8_t>& labels, uint64_t output_bytes, uint32_t samples) {
    if (!arguments.expects.empty() && expected.size() < output_bytes * samples)
        throw UserError(arguments.expects.front(), "size",
                        fmt::format("{} bytes ({} samples of {})", output_bytes * samples, samples,
                                    output_bytes),
                        fmt::format("{} bytes", expected.size()));
    if (!arguments.labels.empty() && labels.size() < samples)
        throw UserError(arguments.labels, "size", fmt::format("{} labels of one byte", samples),
                        fmt::format("{} bytes", labels.size()));
}

void check_written_files(const RunArguments& a) {
    std::vector<NamedFile> inputs = {
        {"MODEL", a.model}, {"--layers", a.layers}, {"--labels", a.labels}};
    for (const std::string& file : a.inputs) inputs.push_back({"--input", file});
    for (const std::string& file : a.expects) inputs.push_back({"--expect", file});
    check_output_files({{"--output", a.output},
                        {"--json", a.json},
                        {"--trace", a.trace},
                        {"--wave", a.session.wave.path}},
                       inputs);
}

int run(RunArguments arguments) {
    const auto chip = arch::find_chip(arguments.chip, chips_dir());
    const auto program = load_program(arguments.model, chip, arguments.model_options);
    const uint64_t input_bytes = arch::bytes_of(program.inputs) / program.batch,
                   output_bytes = arch::bytes_of(program.outputs) / program.batch;
    auto inputs = load_inputs(arguments, input_bytes);
    RunReport report;
    report.samples = static_cast<uint32_t>(inputs.size() / input_bytes);
    check_written_files(arguments);
    const uint32_t runs = (report.samples + program.batch - 1) / program.batch;
    inputs.resize(uint64_t{runs} * program.batch * input_bytes);
    auto expected = concatenate(arguments.expects);
    const auto labels =
        arguments.labels.empty() ? std::vector<uint8_t>{} : arch::read_file(arguments.labels);
    check_files(arguments, expected, labels, output_bytes, report.samples);
    if (!arguments.layers.empty()) arguments.session.layers = arch::read_file(arguments.layers);

    arguments.session.functional = arguments.mode == "functional";
    const bool wants_data = !arguments.expects.empty() || !arguments.layers.empty() ||
                            !arguments.labels.empty() || !arguments.output.empty();
    if (!arguments.session.functional && wants_data)
        throw UserError(
            "--mode timing moves no data: --expect, --layers, --labels and --output need --mode "
            "functional");
    arguments.session.trace_path = arguments.trace;
    arguments.session.wave_path = fmt::format(
        "tandem_divergence_{}.fst", std::filesystem::path(arguments.model).stem().string());
    if (arguments.session.backend == "tlm" && !arguments.session.wave.path.empty())
        throw UserError("--wave needs --backend rtl or tandem: the RTL's signals are recorded");
    if (arguments.verbose)
        arguments.session.console = [](std::string_view text) {
            fmt::print(stderr, "firmware: {}\n", text);
        };
    Progress progress("instructions");
    arguments.session.progress = [&](uint64_t done, uint64_t total) {
        if (done % 256 == 0) progress.update(done, total);
    };
    const auto start = std::chrono::steady_clock::now();
    auto result = run_session(chip, program, inputs, runs, arguments.session);
    report.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.peak_rss_bytes = peak_rss_bytes();
    report.seed = arguments.seed;
    report.backend = arguments.session.backend;
    report.host = arguments.session.host;
    report.mode = arguments.mode;
    report.model = arguments.model;
    report.rerun = rerun_command(arguments, result);

    result.outputs.resize(output_bytes * report.samples);
    expected.resize(result.outputs.size());
    if (!arguments.output.empty()) arch::write_file(arguments.output, result.outputs);
    const bool answers =
        arguments.session.functional && !result.divergence && result.failure.empty();
    if (answers && !arguments.expects.empty())
        report.check = compare_outputs(result.outputs, expected, output_bytes);
    if (answers && !labels.empty())
        report.check.accuracy = accuracy_of(result.outputs, labels, output_bytes, report.samples);
    report.gtkw = result.gtkw;

    const int status = conclude(chip, program, result, report, arguments.json);
    if (!arguments.session.inject.empty() && !result.injected && !result.divergence)
        throw UserError("--inject", "cycle", "a cycle in which the array is used",
                        arguments.session.inject + ", which was not reached");
    return status;
}

/// Layers without data: only time, and what has to do with it.
int run_without_data(const CLI::App& command, const RunArguments& a) {
    for (const char* const option :
         {"--input", "--expect", "--layers", "--output", "--labels", "--count", "--trace", "--wave",
          "--inject", "--seed", "--host", "--rounding", "--verbose"})
        if (command.get_option(option)->count() != 0)
            throw UserError(a.model, option, "a model with data (.tflite, .tpu)",
                            "a list of layers, which has none");
    if (command.get_option("--mode")->count() != 0 && a.mode != "timing")
        throw UserError(a.model, "--mode", "timing: a list of layers has no data", a.mode);
    if (a.session.backend == "tandem" || (a.session.backend == "rtl" && a.timing == "chip"))
        throw UserError(a.model, "--backend",
                        "tlm, or rtl with --timing scalesim-ws: a list of layers has no data",
                        a.session.backend);
    return run_workload_file({.file = a.model,
                              .chip = a.chip,
                              .json = a.json,
                              .timing = a.timing,
                              .backend = a.session.backend,
                              .batch = a.model_options.batch,
                              .array = a.session.array});
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("run", "Run a network on a chip");
    auto a = std::make_shared<RunArguments>();
    command
        ->add_option(
            "MODEL", a->model,
            ".tflite, or .tpu (compiled); or layers without data, timing only: .csv (tables "
            "of SCALE-Sim and DeepBench), .yaml (applications)")
        ->required();
    command->add_option("--chip", a->chip, "name of a shipped chip, or a chip file")
        ->capture_default_str();
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
        ->add_option("--level", a->level,
                     "level of abstraction: at, approximately timed with contention (the only one)")
        ->check(CLI::IsMember({"at"}))
        ->capture_default_str();
    command
        ->add_option(
            "--timing", a->timing,
            "chip: the whole chip; scalesim-ws (.csv, .yaml): what SCALE-Sim counts, beside "
            "our array's count, which --backend rtl confirms on a sample")
        ->check(CLI::IsMember({"chip", "scalesim-ws"}))
        ->capture_default_str();
    add_rtl_options(*command, a->session.array);
    command
        ->add_option("--rounding", a->model_options.rounding,
                     "TFLite's convention for requantisation")
        ->check(CLI::IsMember({"single", "gemmlowp"}))
        ->capture_default_str();
    command->add_option("--batch", a->model_options.batch, "samples per inference")
        ->check(CLI::Range(1u, 65535u))
        ->capture_default_str();
    command->add_option("--input", a->inputs,
                        "samples, one after another (.bin, .npy); default: seeded random bytes");
    command->add_option("--expect", a->expects, "outputs to compare with, byte by byte");
    command->add_option("--layers", a->layers,
                        "outputs of every operator for the first sample, to compare with");
    command->add_option("--output", a->output, "write the outputs of all samples to this file");
    command->add_option("--labels", a->labels, "one byte per sample: its class, for the accuracy");
    command->add_option("--count", a->count, "only the first N samples")
        ->check(CLI::Range(1u, 1000000000u));
    command->add_option("--json", a->json, "write the report to this file");
    command->add_option("--trace", a->trace, "write a timeline for Perfetto or chrome://tracing");
    add_wave_options(*command, a->session.wave);
    command->add_option("--inject", a->session.inject,
                        "flip a bit of the RTL: pe[R][C].psum:bitB@cycle=T (.weight, .activation, "
                        ".shadow), or seed=N");
    command->add_option("--seed", a->seed, "of random inputs")->capture_default_str();
    command->add_flag("--verbose", a->verbose, "show what the firmware prints");
    command->callback([&action, a, command] {
        action = [a, command] {
            if (is_workload(a->model)) return run_without_data(*command, *a);
            if (a->timing != "chip")
                throw UserError(a->model, "--timing", "chip, or a list of layers (.csv, .yaml)",
                                a->timing);
            return run(*a);
        };
    });
}

}  // namespace tandem::tools
