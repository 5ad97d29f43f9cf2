// SPDX-License-Identifier: Apache-2.0
#include "cosim/build_tools.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/fnv128.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

// Symbols are hidden, so that any number of arrays can be loaded at once.
const base::Command kCompileFlags = {"-std=c++20",
                                     "-fPIC",
                                     "-w",
                                     "-fno-plt",
                                     "-DVL_TIME_CONTEXT",
                                     "-DVL_USER_STOP",
                                     "-DVL_USER_FATAL",
                                     "-DVL_USER_FINISH",
                                     "-fvisibility=hidden",
                                     "-fvisibility-inlines-hidden"};
// What clang++ does not know. TLS descriptors make the thread-local state of Verilator's runtime
// cheaper to reach.
const base::Command kGccFlags = {
    "-fno-gnu-unique",
#if defined(__x86_64__)
    "-mtls-dialect=gnu2",
#endif
};

const base::Command kClangFlags = {
#if defined(__x86_64__)
    "-mprefer-vector-width=512",  // where there are vectors that wide
#endif
};

/// Which file a tool is: another one after an update.
std::string identity_of(const fs::path& file) {
    struct stat status {};
    std::error_code error;
    const fs::path place = fs::canonical(file, error);
    if (error || ::stat(place.c_str(), &status) != 0) return {};
    base::Fnv128 hash;
    hash.add(place.string());
    for (const auto figure : {int64_t{status.st_mtim.tv_sec}, int64_t{status.st_mtim.tv_nsec},
                              int64_t{status.st_size}, static_cast<int64_t>(status.st_ino)})
        hash.add(std::to_string(figure));
    return hash.hex();
}

/// Best effort: nothing depends on it as long as the tool answers.
void remember(const ArrayCache& cache, const std::string& name, const std::string& identity,
              const std::string& text) {
    try {
        if (cache.find(name, identity).content == text) return;
        const ScratchFolder scratch(cache);
        cache.put(name, identity, text, scratch.path());
    } catch (const UserError&) {
    }
}

/// Those that -march=native selects.
std::string vector_extensions() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::vector<std::string> extensions;
    for (std::string line; std::getline(cpuinfo, line);) {
        if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
        std::istringstream flags(line);
        for (std::string flag; flags >> flag;)
            for (const char* prefix : {"avx", "sse", "bmi", "fma", "f16c", "gfni", "asimd", "sve"})
                if (flag.starts_with(prefix)) extensions.push_back(flag);
        break;
    }
    std::sort(extensions.begin(), extensions.end());
    return base::quoted(extensions);
}

std::string seconds(std::chrono::milliseconds limit) {
    return fmt::format("{:g} s", static_cast<double>(limit.count()) / 1000);
}

}  // namespace

std::string compiler_for(arch::Dtype dtype) {
    // g++ vectorises int8 best; it does not vectorise bf16 at all, and clang++ does.
    return dtype == arch::Dtype::kBf16 && base::in_path("clang++") ? "clang++" : "g++";
}

base::Command Toolchain::compile() const {
    base::Command words = {compiler, "-march=" + march};
    const base::Command& own = compiler == "g++" ? kGccFlags : kClangFlags;
    words.insert(words.end(), kCompileFlags.begin(), kCompileFlags.end());
    words.insert(words.end(), own.begin(), own.end());
    return words;
}

std::string environment(const char* name, const std::string& otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

Toolchain toolchain(const std::string& compiler, const ArrayCache& cache,
                    const BuildOptions& options) {
    Toolchain tools{compiler, environment("TANDEM_ARRAY_MARCH", options.march), {}};
    tools.versions = {version_of(kVerilator, cache, options), version_of(compiler, cache, options),
                      tools.march};
    if (tools.march == "native") tools.versions.push_back(vector_extensions());
    return tools;
}

GeneratedCode generated_code(const fs::path& model) {
    GeneratedCode code;
    for (const auto& entry : fs::directory_iterator(model)) {
        if (entry.path().extension() != ".cpp") continue;
        code.files.push_back(entry.path().filename());
        code.bytes += entry.file_size();
    }
    std::sort(code.files.begin(), code.files.end());
    return code;
}

base::Command words_of(const ObjectParts& parts) {
    return {"-I" + parts.model.string(),
            "-I" + parts.include.string(),
            "-I" + (parts.include / "vltstd").string(),
            "-I" + parts.shim_dir.string(),
            "-shared",
            "-Wl,-Bsymbolic",
            "-Wl,--version-script=" + parts.exports.string(),
            "-o",
            parts.made.string(),
            parts.source.string(),
            parts.runtime.string(),
            "-lz",
            "-lpthread"};
}

std::string version_of(const std::string& tool, const ArrayCache& cache,
                       const BuildOptions& options) {
    static std::map<std::string, std::string> known;
    const auto file = base::in_path(tool);
    if (!file)
        throw UserError("arrays are built with " + tool +
                        ", which is not in PATH: is it installed?");
    const std::string identity = identity_of(*file), name = "version-" + identity;
    std::string& text = known[identity];
    if (!text.empty()) return text;
    const auto said = base::output_of({tool, "--version"}, options.tool_limit);
    if (said && said->empty())
        throw UserError("arrays are built with " + tool + ": " + file->string() +
                        " --version fails; it does not run");
    if (said) {
        remember(cache, name, identity, *said);
        return text = *said;
    }
    const std::string late = fmt::format("{} --version did not end within {}", file->string(),
                                         seconds(options.tool_limit));
    const auto remembered = cache.find(name, identity);
    if (remembered.state != ArrayCache::State::kGood)
        throw UserError("arrays are built with " + tool + ": " + late);
    if (options.progress) options.progress(late + ": its version is taken from the cache");
    return text = remembered.content;
}

fs::path verilator_include(std::chrono::milliseconds limit) {
    const auto root = base::output_of({kVerilator, "--getenv", "VERILATOR_ROOT"}, limit);
    if (!root)
        throw UserError(
            fmt::format("verilator --getenv VERILATOR_ROOT did not end within {}", seconds(limit)));
    return fs::path(root->substr(0, root->find('\n'))) / "include";
}

std::string first_error(const fs::path& log) {
    std::ifstream in(log);
    std::string best, last;
    int rank = 0;
    for (std::string line; std::getline(in, line);) {
        const auto has = [&](const char* text) { return line.find(text) != line.npos; };
        const int found = has("No space left")                                                 ? 4
                          : line.starts_with("%Error") && !has("Exiting due to")               ? 3
                          : has("error: ") || has("undefined reference") || has("cannot find") ? 2
                          : line.starts_with("%Warning")                                       ? 1
                                                                                               : 0;
        if (found > rank) {
            rank = found;
            best = line;
        }
        if (line.find_first_not_of(" \t") != line.npos) last = line;
    }
    return rank > 0 ? best : last;
}

void run_stage(const BuildStage& stage, const fs::path& log, const ArrayCache& cache,
               const std::string& stem) {
    const int status = base::run(stage.command, stage.directory, log);
    if (status == 0) return;
    const std::string cause = first_error(log);
    const fs::path kept = cache.folder() / fmt::format("{}.{}.failed.log", stem, ::getpid());
    std::error_code error;
    fs::rename(log, kept, error);
    throw UserError(fmt::format(
        "{} failed with status {}{}\n  error:   {}\n  command: {}\n  in:      {}\n  log:     "
        "{}",
        stage.what, status,
        status == base::kNotStarted ? ": is " + stage.command[0] + " installed?" : std::string{},
        cause.empty() ? "the tool said nothing" : cause, base::quoted(stage.command),
        stage.directory.empty() ? fs::current_path().string() : stage.directory.string(),
        kept.string()));
}

}  // namespace tandem::cosim
