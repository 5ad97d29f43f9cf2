// SPDX-License-Identifier: Apache-2.0
#include "run/arrays.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "base/terminal.h"
#include "cosim/array_builder.h"
#include "cosim/array_timing.h"
#include "run/paths.h"

namespace tandem::run {
namespace {

cosim::ArraySpec specification(const engine::MxuShape& shape, const ArrayChoice& choice) {
    cosim::ArraySpec spec;
    spec.rows = shape.rows;
    spec.cols = shape.cols;
    spec.acc_depth = shape.accumulator_rows;
    spec.dtype = shape.dtype;
    spec.form = choice.form;
    spec.pipeline = shape.pipeline;
    spec.sum4 = shape.sum4;
    if (choice.other()) spec.other = cosim::OtherRtl{choice.rtl, choice.rtl_top};
    return spec;
}

/// Nothing: the array has no declaration.
std::optional<cosim::ArrayDeclaration> declaration_of(const ArrayChoice& choice) {
    if (!choice.other()) return std::nullopt;
    if (!std::filesystem::exists(choice.rtl))
        throw UserError("--rtl: file list " + choice.rtl + " cannot be read");
    std::filesystem::path file = choice.rtl_timing;
    if (file.empty()) {
        file = std::filesystem::path(choice.rtl).parent_path() / (choice.rtl_top + ".yaml");
        if (!std::filesystem::exists(file)) return std::nullopt;
    }
    return cosim::read_declaration(file);
}

cosim::BuildOptions build_options() {
    cosim::BuildOptions options;
    options.rtl_dir = data_dir() / "rtl";
    options.shim_dir = data_dir() / "cosim";
    options.cache_dir = array_cache_dir();
    options.progress = [](std::string_view text) { base::tell("rtl: {}\n", text); };
    return options;
}

}  // namespace

std::string ArrayChoice::to_string() const {
    std::string text;
    const auto add = [&](const char* option, const std::string& value) {
        text += " " + base::quoted({option, value});
    };
    if (form != "flat") add("--form", form);
    if (other()) add("--rtl", rtl);
    if (other()) add("--rtl-top", rtl_top);
    if (!rtl_timing.empty()) add("--rtl-timing", rtl_timing);
    return text;
}

engine::MxuShape array_shape(const arch::ChipConfig& chip, const ArrayChoice& choice) {
    auto shape = engine::shape_of(chip.mxu);
    if (const auto declaration = declaration_of(choice))
        shape.declared = declaration->timing(shape);
    return shape;
}

LoadedArray load_array(const arch::ChipConfig& chip, const ArrayChoice& choice) {
    return load_array(engine::shape_of(chip.mxu), choice);
}

LoadedArray load_array(const engine::MxuShape& shape, const ArrayChoice& choice) {
    const auto options = build_options();
    const auto& tell = options.progress;
    LoadedArray array{nullptr, shape};
    const base::Stopwatch watch;
    const auto declaration = declaration_of(choice);
    if (declaration) {
        array.shape.declared = declaration->timing(shape);
    } else if (choice.other()) {
        tell(fmt::format("{}.yaml is not there: {} is taken to have the timing of Tandem's array",
                         choice.rtl_top, choice.rtl_top));
    }
    auto spec = specification(shape, choice);
    if (choice.other()) spec.contract = engine::timing(array.shape);
    try {
        array.library = std::make_shared<cosim::ArrayLibrary>(cosim::ensure_array(spec, options));
    } catch (const UserError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw UserError(error.what());
    }
    if (declaration) cosim::check_declaration(*array.library, array.shape, *declaration);
    array.seconds = watch.seconds();
    return array;
}

BuiltArray portable_array(const engine::MxuShape& shape, const ArrayChoice& choice) {
    auto options = build_options();
#if defined(__x86_64__)
    options.march = "x86-64-v2";
#endif
    const char* const march = std::getenv("TANDEM_ARRAY_MARCH");
    return {cosim::ensure_array(specification(shape, choice), options),
            march != nullptr && *march != '\0' ? march : options.march};
}

}  // namespace tandem::run
