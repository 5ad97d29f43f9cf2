// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_builder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "cosim/array_cache.h"
#include "cosim/array_recipe.h"
#include "cosim/array_view.h"
#include "cosim/build_tools.h"
#include "cosim/generated_model.h"
#include "cosim/port_contract.h"
#include "cosim/verilator_runtime.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    if (!(out << text).flush())
        throw UserError("cannot write " + path.string() + ": " + std::strerror(errno));
}

/// Copies of the options with places that tools in other directories find, too.
BuildOptions absolute(BuildOptions options) {
    options.shim_dir = fs::absolute(options.shim_dir);
    options.cache_dir = fs::absolute(options.cache_dir);
    return options;
}

class Builder {
  public:
    Builder(const ArraySpec& spec, const BuildOptions& options)
        : options_(absolute(options)),
          cache_(options_.cache_dir),
          recipe_(spec, options_, cache_),
          title_(title_of(spec)) {}

    fs::path ensure() const {
        const std::string file = recipe_.stem() + ".so";
        for (const fs::path& directory : options_.search_dirs) {
            const ArrayCache shipped(directory);
            try {
                if (holds(shipped, file)) return shipped.folder() / file;
            } catch (const UserError& error) {
                report(error.what());
            }
        }
        cache_.open();
        if (!holds(cache_, file)) build(file);
        return cache_.folder() / file;
    }

  private:
    void report(const std::string& line) const {
        if (options_.progress) options_.progress(line);
    }

    bool holds(const ArrayCache& cache, const std::string& file) const {
        const auto state = cache.find(file, recipe_.key()).state;
        if (state == ArrayCache::State::kDamaged)
            report((cache.folder() / file).string() + " is damaged: the array is built again");
        return state == ArrayCache::State::kGood;
    }

    /// Runs one build stage; on failure its log is moved out of the scratch directory and named.
    void stage(const std::string& what, const base::Command& command, const fs::path& directory,
               const fs::path& scratch) const {
        run_stage({what, command, directory}, scratch / "log", cache_, recipe_.stem());
    }

    void verilate(const fs::path& scratch) const {
        report("verilating the " + title_);
        const fs::path config = scratch / "visible.vlt";
        write_file(config, visibility_config(recipe_.spec()));
        base::Command command = recipe_.verilate();
        for (const std::string& word :
             {std::string("-Mdir"), (scratch / "model").string(), config.string(),
              std::string("-F"), recipe_.filelist().filename().string()})
            command.push_back(word);
        // In the folder of the sources, so that messages of the model name files without their
        // place.
        const fs::path folder = recipe_.filelist().parent_path();
        const auto run = [&] { stage("verilating the " + title_, command, folder, scratch); };
        if (recipe_.contract().empty()) return run();
        const base::Command plain = command;
        const fs::path checker = scratch / "contract.sv";
        write_file(checker, recipe_.contract());
        command.push_back(checker.string());
        try {
            run();
        } catch (const UserError&) {
            // The array by itself: what is wrong with it, a port that is missing, is said better.
            command = plain;
            run();
            check_ports(recipe_.spec(), top_of(recipe_.spec()),
                        GeneratedModel(scratch / "model", kPrefix));
            throw;
        }
    }

    void compile(const fs::path& include, const fs::path& scratch) const {
        const fs::path model = scratch / "model", unit = model / "array_unit.cc";
        const fs::path runtime =
            verilator_runtime({.compile = recipe_.compile(),
                               .versions = recipe_.tools().versions,
                               .include = include,
                               .stem = recipe_.stem(),
                               .report = [this](const std::string& line) { report(line); }},
                              cache_, scratch);
        const GeneratedCode code = generated_code(model);
        write_file(unit, recipe_.unit(code.files));
        const std::string level = recipe_.level_for(code.bytes);
        if (level == "-O0" && !recipe_.level_is_given())
            report(
                "this array is large for Verilator: compiled without optimisation, it will run "
                "slowly (TANDEM_ARRAY_OPT selects another level)");
        report("compiling the " + title_);
        const fs::path exports = scratch / "exports";
        write_file(exports, "{ global: tandem_array_*; local: *; };\n");
        base::Command command = recipe_.compile();
        command.push_back(level);
        const base::Command words = words_of({.source = unit,
                                              .model = model,
                                              .include = include,
                                              .shim_dir = options_.shim_dir,
                                              .runtime = runtime,
                                              .exports = exports,
                                              .made = scratch / "array.so"});
        command.insert(command.end(), words.begin(), words.end());
        if (recipe_.tools().compiler != "g++")
            command.insert(command.end(), {"-Wl,--as-needed", "-latomic"});
        stage("compiling the " + title_, command, {}, scratch);
    }

    void build(const std::string& file) const {
        const ScratchFolder scratch(cache_);
        if (recipe_.spec().dtype == arch::Dtype::kBf16 && recipe_.tools().compiler == "g++")
            report("clang++ is not in PATH: with g++ a bf16 array runs many times slower");
        const fs::path include = verilator_include(options_.tool_limit);
        verilate(scratch.path());
        const fs::path model = scratch.path() / "model";
        const GeneratedModel generated(model, kPrefix);
        const std::string top = top_of(recipe_.spec());
        check_ports(recipe_.spec(), top, generated);
        const std::string_view contract = recipe_.contract().empty() ? "" : kContractName;
        recipe_.sources().check_used(model / (std::string(kPrefix) + "__ver.d"),
                                     {include.parent_path(), scratch.path()}, contract);
        write_file(model / "array_places.h", array_view(recipe_.spec(), top, generated));
        write_file(model / "contract_rules.h", contract_rules(recipe_.contract()));
        compile(include, scratch.path());
        cache_.put(file, recipe_.key(), base::read_text(scratch.path() / "array.so"),
                   scratch.path());
    }

    BuildOptions options_;
    ArrayCache cache_;
    ArrayRecipe recipe_;
    std::string title_;
};

}  // namespace

fs::path ensure_array(const ArraySpec& spec, const BuildOptions& options) {
    return Builder(spec, options).ensure();
}

}  // namespace tandem::cosim
