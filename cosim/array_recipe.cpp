// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/fnv128.h"
#include "cosim/array_view.h"
#include "cosim/port_contract.h"
#include "cosim/verilator_runtime.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

// What Verilator writes for an array decides how well it can be compiled in half a minute. The flat
// form is 0.2 MB at every size, and -O3 vectorises it; a grid of PEs grows with their number.
struct Level {
    const char* option;
    uintmax_t most_bytes;
};
constexpr Level kLevels[] = {{"-O3", 1'000'000}, {"-O1", 4'000'000}, {"-O0", 80'000'000}};
constexpr std::array kShimFiles = {"array_shim.cpp", "array_abi.h", "array_trace.h",
                                   "shim_context.h"};

const base::Command kVerilateFlags = {"--cc", "-O3", "--x-assign", "fast", "--x-initial", "unique",
                                      "--timescale", "1ns/1ps", "--assert", "--prefix", kPrefix,
                                      // Warnings are the affair of lint, scripts/lint_rtl.
                                      "-Wno-fatal"};

const ArraySpec& checked(const ArraySpec& spec) {
    check(spec);
    return spec;
}

bool counts_coverage(const ArraySpec& spec) {
    return !spec.other && !environment("TANDEM_ARRAY_COVERAGE", "").empty();
}

fs::path filelist_of(const ArraySpec& spec, const BuildOptions& options) {
    if (spec.other) return fs::absolute(spec.other->filelist);
    return fs::absolute(options.rtl_dir / (counts_coverage(spec) ? "cover.f" : "filelist.f"));
}

}  // namespace

ArrayRecipe::ArrayRecipe(const ArraySpec& spec, const BuildOptions& options,
                         const ArrayCache& cache)
    : spec_(checked(spec)),
      coverage_(counts_coverage(spec)),
      waves_(environment("TANDEM_ARRAY_WAVES", "on") != "off"),
      filelist_(filelist_of(spec, options)),
      level_(environment("TANDEM_ARRAY_OPT", "")),
      tools_(toolchain(compiler_for(spec.dtype), cache, options)),
      sources_(filelist_),
      contract_(contract_source(spec_, options.rtl_dir)) {
    key_ = key_of(options.shim_dir);
}

std::string ArrayRecipe::key_of(const fs::path& shim_dir) const {
    base::Fnv128 hash;
    hash.add_all(tools_.versions);
    hash.add_all(verilate());
    hash.add_all(compile());
    hash.add(visibility_config(spec_));
    for (const std::string& word : {level_, std::string(kRuntimeLevel), top_of(spec_), spec_.form})
        hash.add(word);
    for (const Level& level : kLevels) hash.add(level.option + std::to_string(level.most_bytes));
    hash.add(arch::to_string(spec_.dtype));
    sources_.add_to(hash);
    hash.add(contract_);
    for (const char* file : kShimFiles) hash.add(base::read_text(shim_dir / file));
    hash.add(kViewVersion);
    return hash.hex();
}

base::Command ArrayRecipe::verilate() const {
    base::Command words = {kVerilator};
    words.insert(words.end(), kVerilateFlags.begin(), kVerilateFlags.end());
    words.insert(words.end(), {"--top-module", top_of(spec_), fmt::format("-GRows={}", spec_.rows),
                               fmt::format("-GCols={}", spec_.cols),
                               fmt::format("-GAccDepth={}", spec_.acc_depth)});
    if (waves_) words.insert(words.end(), {"--trace-fst", "--trace-max-width", "8192"});
    if (coverage_) words.emplace_back("--coverage");
    if (spec_.dtype == arch::Dtype::kBf16) words.emplace_back("-GDtype=1");
    if (spec_.pipeline != 1) words.push_back(fmt::format("-GPipeline={}", spec_.pipeline));
    if (spec_.sum4) words.emplace_back("-GSum4=1");
    if (spec_.form == "grid") words.emplace_back("-GForm=1");
    return words;
}

base::Command ArrayRecipe::compile() const {
    base::Command words = tools_.compile();
    if (!waves_) words.emplace_back("-DTANDEM_ARRAY_NO_WAVES");
    if (coverage_) words.emplace_back("-DVM_COVERAGE=1");
    return words;
}

std::string ArrayRecipe::level_for(uintmax_t bytes) const {
    if (!level_.empty()) return level_;
    for (const Level& level : kLevels)
        if (bytes <= level.most_bytes) return level.option;
    throw UserError(fmt::format(
        "the {} is too large to be compiled in reasonable time: Verilator made {} MB of C++ "
        "from it (TANDEM_ARRAY_OPT=-O0 insists)",
        title_of(spec_), bytes / 1'000'000));
}

std::string ArrayRecipe::unit(const std::vector<std::string>& files) const {
    // One translation unit: faster to compile, and the shim can inline the model's evaluation.
    std::string text = fmt::format(
        "#define TANDEM_ARRAY_ROWS {}\n#define TANDEM_ARRAY_COLS {}\n"
        "#define TANDEM_ARRAY_ACC_DEPTH {}\n#define TANDEM_ARRAY_PIPELINE {}\n"
        "#define TANDEM_ARRAY_SUM4 {}\n#define TANDEM_ARRAY_ELEMENT_BYTES {}\n"
        "#define TANDEM_ARRAY_DTYPE \"{}\"\n#define TANDEM_ARRAY_BUILD_KEY \"{}\"\n",
        spec_.rows, spec_.cols, spec_.acc_depth, spec_.pipeline, spec_.sum4 ? 1 : 0,
        arch::element_bytes(spec_.dtype), arch::to_string(spec_.dtype), key_);
    // Registers of the flat form begin at cache lines: loads of 64 bytes that cross two of them
    // take a tenth of its time.
    if (!spec_.other && spec_.form == "flat")
        text += fmt::format(
            "#include <verilated.h>\n#define VlUnpacked alignas(64) VlUnpacked\n"
            "#include \"{}___024root.h\"\n#undef VlUnpacked\n",
            kPrefix);
    for (const std::string& file : files) text += "#include \"" + file + "\"\n";
    return text + "#include \"array_shim.cpp\"\n";
}

}  // namespace tandem::cosim
