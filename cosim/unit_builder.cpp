// SPDX-License-Identifier: Apache-2.0
#include "cosim/unit_builder.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/fnv128.h"
#include "base/output_file.h"
#include "cosim/array_cache.h"
#include "cosim/build_tools.h"
#include "cosim/generated_model.h"
#include "cosim/rtl_sources.h"
#include "cosim/verilator_runtime.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnitPrefix = "Vunit";  ///< of the generated classes, whatever the top
constexpr const char* kLevel = "-O2";
constexpr const char* kLevelOfLarge = "-O1";
constexpr uintmax_t kLarge = 1'000'000;  ///< bytes that Verilator wrote; -O2 takes a minute then
constexpr std::array kShimFiles = {"unit_shim.cpp", "unit_abi.h", "shim_context.h"};

const base::Command kVerilateFlags = {"--cc",        "-O3",      "--x-assign",  "fast",
                                      "--x-initial", "unique",   "--timescale", "1ns/1ps",
                                      "--assert",    "--prefix", kUnitPrefix,   "-Wno-fatal"};

class UnitBuilder {
  public:
    UnitBuilder(const UnitSpec& spec, const BuildOptions& options)
        : spec_(spec),
          options_(options),
          cache_(fs::absolute(options.cache_dir)),
          shim_dir_(fs::absolute(options.shim_dir)),
          filelist_(fs::absolute(spec.filelist)),
          tools_(toolchain("g++", cache_, options)),
          sources_(filelist_),
          key_(make_key()),
          stem_(spec.name() + '-' + key_) {}

    fs::path ensure() const {
        const std::string file = stem_ + ".so";
        cache_.open();
        if (cache_.find(file, key_).state != ArrayCache::State::kGood) build(file);
        return cache_.folder() / file;
    }

  private:
    base::Command verilate() const {
        base::Command words = {kVerilator};
        words.insert(words.end(), kVerilateFlags.begin(), kVerilateFlags.end());
        words.insert(words.end(), {"--top-module", spec_.top});
        for (const auto& [name, value] : spec_.parameters)
            words.push_back(fmt::format("-G{}={}", name, value));
        return words;
    }

    std::string make_key() const {
        base::Fnv128 hash;
        hash.add_all(verilate());
        hash.add_all(tools_.compile());
        for (const char* level : {kLevel, kLevelOfLarge, kRuntimeLevel}) hash.add(level);
        hash.add_all(tools_.versions);
        sources_.add_to(hash);
        for (const char* file : kShimFiles) hash.add(base::read_text(shim_dir_ / file));
        return hash.hex();
    }

    void report(const std::string& line) const {
        if (options_.progress) options_.progress(line);
    }

    void stage(const std::string& what, const base::Command& command, const fs::path& directory,
               const fs::path& scratch) const {
        report(what + " " + spec_.title());
        run_stage({.what = what + " " + spec_.title(), .command = command, .directory = directory},
                  scratch / "log", cache_, stem_);
    }

    /// The ports as the shim takes them, behind one macro.
    std::string unit(const GeneratedModel& generated) const {
        std::string ports;
        for (const auto& [name, port] : generated.ports())
            ports += fmt::format(" PORT({}, {}, {})", name, port.bits,
                                 port.direction == "input" ? 1 : 0);
        return fmt::format(
            "#define TANDEM_UNIT_TOP \"{}\"\n#define TANDEM_UNIT_BUILD_KEY \"{}\"\n"
            "#define TANDEM_UNIT_PORT_COUNT {}\n#define TANDEM_UNIT_PORTS(PORT){}\n",
            spec_.top, key_, generated.ports().size(), ports);
    }

    void check(const GeneratedModel& generated) const {
        for (const char* name : {"clk_i", "rst_ni"}) {
            const auto port = generated.ports().find(name);
            if (port == generated.ports().end() || port->second.direction != "input" ||
                port->second.bits != 1)
                throw UserError(filelist_.string(), spec_.top, std::string("an input ") + name,
                                "none of one bit");
        }
    }

    void build(const std::string& file) const {
        const ScratchFolder scratch(cache_);
        const fs::path include = verilator_include(options_.tool_limit);
        const fs::path model = scratch.path() / "model", whole = model / "whole_unit.cc";
        base::Command command = verilate();
        for (const std::string& word : {std::string("-Mdir"), model.string(), std::string("-F"),
                                        filelist_.filename().string()})
            command.push_back(word);
        stage("verilating", command, filelist_.parent_path(), scratch.path());

        const GeneratedModel generated(model, kUnitPrefix);
        check(generated);
        sources_.check_used(model / (std::string(kUnitPrefix) + "__ver.d"),
                            {include.parent_path(), scratch.path()});
        const GeneratedCode code = generated_code(model);
        std::string text = unit(generated);
        for (const std::string& source : code.files) text += "#include \"" + source + "\"\n";
        base::write_file(whole, text + "#include \"unit_shim.cpp\"\n");

        const fs::path exports = scratch.path() / "exports", made = scratch.path() / "unit.so";
        base::write_file(exports, "{ global: tandem_unit_*; local: *; };\n");
        const fs::path runtime =
            verilator_runtime({.compile = tools_.compile(),
                               .versions = tools_.versions,
                               .include = include,
                               .stem = stem_,
                               .report = [this](const std::string& line) { report(line); }},
                              cache_, scratch.path());
        command = tools_.compile();
        command.emplace_back(code.bytes < kLarge ? kLevel : kLevelOfLarge);
        const base::Command words = words_of({.source = whole,
                                              .model = model,
                                              .include = include,
                                              .shim_dir = shim_dir_,
                                              .runtime = runtime,
                                              .exports = exports,
                                              .made = made});
        command.insert(command.end(), words.begin(), words.end());
        stage("compiling", command, {}, scratch.path());
        cache_.put(file, key_, base::read_text(made), scratch.path());
    }

    const UnitSpec spec_;
    const BuildOptions options_;
    const ArrayCache cache_;
    const fs::path shim_dir_, filelist_;
    const Toolchain tools_;
    const RtlSources sources_;
    const std::string key_, stem_;
};

}  // namespace

std::string UnitSpec::name() const {
    std::string text = top;
    char before = '_';
    for (const auto& [parameter, value] : parameters) {
        text += before + std::to_string(value);
        before = 'x';
    }
    return text;
}

std::string UnitSpec::title() const {
    std::string text = top;
    for (const auto& [parameter, value] : parameters)
        text += fmt::format(", {} {}", parameter, value);
    return text;
}

fs::path ensure_unit(const UnitSpec& spec, const BuildOptions& options) {
    return UnitBuilder(spec, options).ensure();
}

}  // namespace tandem::cosim
