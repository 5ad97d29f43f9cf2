// SPDX-License-Identifier: Apache-2.0
#include "cosim/verilator_runtime.h"

#include <array>

#include "base/file.h"
#include "base/fnv128.h"
#include "base/output_file.h"
#include "cosim/build_tools.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSources = {"verilated", "verilated_cov", "verilated_fst_c",
                                 "verilated_threads"};

base::Command compile_words(const RuntimeBuild& build) {
    base::Command words = build.compile;
    words.emplace_back(kRuntimeLevel);
    return words;
}

std::string key_of(const RuntimeBuild& build) {
    base::Fnv128 hash;
    hash.add_all(build.versions);
    hash.add_all(compile_words(build));
    hash.add_all(kSources);
    hash.add(build.include.string());
    return hash.hex();
}

std::string compile(const RuntimeBuild& build, const ArrayCache& cache, const fs::path& scratch) {
    const auto stage = [&](const base::Command& command) {
        run_stage({"compiling the runtime of Verilator", command, {}}, scratch / "log", cache,
                  build.stem);
    };
    const fs::path joined = scratch / "joined.o";
    base::Command join = {build.compile.front(), "-r", "-nostdlib", "-o", joined.string()};
    for (const std::string source : kSources) {
        const std::string object = (scratch / (source + ".o")).string();
        base::Command command = compile_words(build);
        for (const std::string& word :
             {"-I" + build.include.string(), "-I" + (build.include / "vltstd").string(),
              std::string("-c"), (build.include / (source + ".cpp")).string(), std::string("-o"),
              object})
            command.push_back(word);
        stage(command);
        join.push_back(object);
    }
    stage(join);
    return base::read_text(joined);
}

}  // namespace

fs::path verilator_runtime(const RuntimeBuild& build, const ArrayCache& cache,
                           const fs::path& scratch) {
    const std::string key = key_of(build), name = "runtime-" + key + ".o";
    auto [state, content] = cache.find(name, key);
    if (state != ArrayCache::State::kGood) {
        build.report(state == ArrayCache::State::kMissing
                         ? "compiling the runtime of Verilator (once per cache)"
                         : (cache.folder() / name).string() + " is damaged: it is compiled again");
        content = compile(build, cache, scratch);
        cache.put(name, key, content, scratch);
    }
    fs::path object = scratch / "runtime.o";
    base::write_file(object, content);
    return object;
}

}  // namespace tandem::cosim
