// SPDX-License-Identifier: Apache-2.0
// Options by which subcommands choose an array.
#include <fmt/format.h>

#include "base/error.h"
#include "tools/command.h"
#include "tools/one_of.h"

namespace tandem::tools {

void add_rtl_options(CLI::App& command, run::ArrayChoice& choice) {
    command
        .add_option("--form", choice.form, "of Tandem's RTL: flat (fast), grid (one module per PE)")
        ->check(OneOf({"flat", "grid"}))
        ->capture_default_str();
    auto* rtl = command.add_option("--rtl", choice.rtl, "file list of another MAC array");
    auto* top = command.add_option("--rtl-top", choice.rtl_top, "its top module");
    rtl->needs(top);
    top->needs(rtl);
    command
        .add_option("--rtl-timing", choice.rtl_timing,
                    "its declaration (default: TOP.yaml beside the file list)")
        ->needs(rtl);
}

void add_array_places(CLI::App& command, run::ArrayPlaces& places) {
    command.add_option_function<std::string>(
        "--rtl-arrays",
        [&places](const std::string& text) {
            places = run::ArrayPlaces::parse(text, "--rtl-arrays");
        },
        "arrays behind which --backend rtl or tandem stands, tlm behind the others: all, or "
        "CORE.ARRAY,... [all]");
}

std::string array_places_option(const run::ArrayPlaces& places) {
    return places.all() ? "" : " --rtl-arrays " + places.to_string();
}

void add_requantise_option(CLI::App& command, std::string& requantise) {
    command
        .add_option("--requantise", requantise,
                    "what makes activations of accumulators (int8): the model, the RTL "
                    "tpu_requantise, or both")
        ->check(OneOf({"tlm", "rtl", "tandem"}))
        ->capture_default_str();
}

std::string requantise_option(const std::string& requantise) {
    return requantise == "tlm" ? "" : " --requantise " + requantise;
}

void ArrayArguments::add_to(CLI::App& command) {
    const auto size = CLI::Range(1u, 256u);
    command.add_option("--rows", rows, "rows of the array")->check(size)->capture_default_str();
    command.add_option("--cols", cols, "columns of the array")->check(size)->capture_default_str();
    command.add_option("--accumulators", accumulator_rows, "accumulator rows")
        ->check(CLI::Range(2u, 65536u))
        ->capture_default_str();
    command.add_option("--dtype", dtype, "element type")
        ->check(OneOf({"int8", "bf16"}))
        ->capture_default_str();
    command.add_option("--pipeline", pipeline, "PEs between two pipeline registers")
        ->check(size)
        ->capture_default_str();
    command.add_flag("--sum4", sum4,
                     "bf16: add four products exactly, then round (--pipeline: a multiple of 4)");
    add_rtl_options(command, choice);
}

engine::MxuShape ArrayArguments::shape() const {
    if (sum4 && dtype != "bf16") throw UserError("--sum4", "--dtype", "bf16", dtype);
    if (sum4 && pipeline % 4 != 0)
        throw UserError("--sum4", "--pipeline", "a multiple of 4", std::to_string(pipeline));
    engine::MxuShape shape;
    shape.rows = rows;
    shape.cols = cols;
    shape.accumulator_rows = accumulator_rows;
    shape.dtype = *arch::parse_dtype(dtype);
    shape.pipeline = pipeline;
    shape.sum4 = sum4;
    return shape;
}

std::string ArrayArguments::to_string() const {
    auto text = fmt::format(" --rows {} --cols {} --accumulators {} --dtype {}", rows, cols,
                            accumulator_rows, dtype);
    if (pipeline != 1) text += fmt::format(" --pipeline {}", pipeline);
    if (sum4) text += " --sum4";
    return text + choice.to_string();
}

}  // namespace tandem::tools
