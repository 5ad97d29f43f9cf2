// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_builder.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/fnv128.h"
#include "base/process.h"
#include "cosim/array_view.h"
#include "cosim/generated_model.h"
#include "cosim/rtl_sources.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVerilator = "verilator";
constexpr const char* kPrefix = "Varray";     // of the generated classes, whatever the top module
constexpr const char* kRuntimeLevel = "-O1";  // hardly runs, but would take most of the time
// What Verilator writes for an array decides how well it can be compiled in half a minute. The flat
// form is 0.2 MB at every size, and -O3 vectorises it; a grid of PEs grows with their number.
struct Level {
    const char* option;
    uintmax_t most_bytes;
};
constexpr Level kLevels[] = {{"-O3", 1'000'000}, {"-O1", 4'000'000}, {"-O0", 80'000'000}};
constexpr unsigned kLargestGrid = 32 * 32;  // PEs; larger ones take more than 30 s to compile
constexpr std::array kRuntimeSources = {"verilated", "verilated_cov", "verilated_fst_c",
                                        "verilated_threads"};

const base::Command kVerilateFlags = {"--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast",
                                      "--timescale", "1ns/1ps", "--assert", "--prefix", kPrefix,
                                      // Warnings are the affair of lint, scripts/lint_rtl.
                                      "-Wno-fatal"};

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

std::string environment(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw UserError(path.string() + " cannot be read");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    if (!(out << text).flush())
        throw UserError("cannot write " + path.string() + ": " + std::strerror(errno));
}

/// A directory of our own below the cache, removed at the end.
class ScratchDir {
  public:
    explicit ScratchDir(const fs::path& parent) {
        remove_old_ones(parent);
        std::string name = (parent / "build-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw UserError("cannot write to the cache of arrays, " + parent.string() + ": " +
                            std::strerror(errno) + " (TANDEM_ARRAY_CACHE names another)");
        path_ = name;
    }
    ~ScratchDir() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchDir(const ScratchDir&) = delete;
    ScratchDir& operator=(const ScratchDir&) = delete;
    const fs::path& path() const { return path_; }

  private:
    /// Directories of builds that were killed: none takes an hour.
    static void remove_old_ones(const fs::path& parent) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(parent, error)) {
            if (!entry.path().filename().string().starts_with("build-")) continue;
            const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
            if (!error && age > std::chrono::hours(1)) fs::remove_all(entry.path(), error);
        }
    }

    fs::path path_;
};

/// The line of a log that says best what went wrong.
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

// The seal: the end of every array in a cache, after what the loader reads. A file that was cut,
// changed, or renamed to the name of another array has a wrong one.
std::string seal(const std::string& key, const std::string& content) {
    base::Fnv128 hash;
    hash.add(content);
    return "\ntandem-array " + key + ' ' + hash.hex() + '\n';
}

bool is_sealed(const fs::path& file, const std::string& key) {
    std::ifstream in(file, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const size_t length = seal(key, "").size();
    if (content.size() < length) return false;
    const std::string found = content.substr(content.size() - length);
    content.resize(content.size() - length);
    return found == seal(key, content);
}

/// The vector extensions that -march=native selects.
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

/// What a tool says about itself.
std::string version_of(const std::string& tool) {
    static std::map<std::string, std::string> known;
    std::string& text = known[tool];
    if (text.empty()) text = base::output_of({tool, "--version"});
    if (text.empty())
        throw UserError("arrays are built with " + tool + ", which does not run: is it installed?");
    return text;
}

class Builder {
  public:
    Builder(const ArraySpec& spec, const BuildOptions& options)
        : spec_(spec),
          options_(options),
          top_(spec.other ? spec.other->top : "tpu_mxu"),
          coverage_(!spec.other && !environment("TANDEM_ARRAY_COVERAGE", "").empty()),
          waves_(environment("TANDEM_ARRAY_WAVES", "on") != "off"),
          filelist_(fs::absolute(spec.other
                                     ? spec.other->filelist
                                     : options.rtl_dir / (coverage_ ? "cover.f" : "filelist.f"))),
          march_(environment("TANDEM_ARRAY_MARCH", "native")),
          level_(environment("TANDEM_ARRAY_OPT", "")) {
        check(spec.rows >= 1 && spec.rows <= kLargestSide && spec.cols >= 1 &&
                  spec.cols <= kLargestSide,
              fmt::format("expected up to {0}x{0} PEs of RTL (--backend tlm has every size), found "
                          "{1}x{2} {3}",
                          kLargestSide, spec.rows, spec.cols, arch::to_string(spec.dtype)));
        check(spec.acc_depth >= 1, "acc_depth must not be zero");
        check(spec.form == "flat" || spec.form == "grid", "form must be flat or grid");
        check(spec.form == "flat" || spec.rows * spec.cols <= kLargestGrid,
              fmt::format("form grid is for arrays of up to {} PEs, {} x {} has {}; form flat has "
                          "every size",
                          kLargestGrid, spec.rows, spec.cols, spec.rows * spec.cols));
        check(spec.pipeline >= 1 && spec.pipeline <= 256, "pipeline must be in 1..256");
        check(!spec.sum4 || (spec.dtype == arch::Dtype::kBf16 && spec.pipeline % 4 == 0),
              "sum4 needs bf16 and a pipeline that is a multiple of 4");
        check(!top_.empty(), "the top module has no name");
        // Tools run in other directories.
        options_.shim_dir = fs::absolute(options.shim_dir);
        options_.cache_dir = fs::absolute(options.cache_dir);
        // g++ vectorises int8 best; it does not vectorise bf16 at all, and clang++ does.
        if (spec.dtype == arch::Dtype::kBf16 && base::in_path("clang++")) compiler_ = "clang++";
    }

    fs::path ensure() {
        tools_ = {version_of(kVerilator), version_of(compiler_), march_};
        if (march_ == "native") tools_.push_back(vector_extensions());
        const RtlSources sources(filelist_);
        const std::string key = array_key(sources), stem = name() + '-' + key;
        auto places = options_.search_dirs;
        places.push_back(options_.cache_dir);
        for (const fs::path& directory : places) {
            const fs::path file = directory / (stem + ".so");
            std::error_code error;
            if (!fs::exists(file, error)) continue;
            if (is_sealed(file, key)) return file;
            report(file.string() + " is damaged: the array is built again");
        }
        std::error_code error;
        fs::create_directories(options_.cache_dir, error);
        if (error)
            throw UserError("cannot make the cache of arrays, " + options_.cache_dir.string() +
                            ": " + error.message() + " (TANDEM_ARRAY_CACHE names another)");
        const fs::path target = options_.cache_dir / (stem + ".so");
        build(key, stem, target, sources);
        return target;
    }

  private:
    static void check(bool good, const std::string& what) {
        if (!good) throw UserError("array specification: " + what);
    }

    void report(const std::string& line) const {
        if (options_.progress) options_.progress(line);
    }

    std::string name() const {
        std::string text = fmt::format("{}_{}", top_, arch::to_string(spec_.dtype));
        if (spec_.form != "flat") text += '_' + spec_.form;
        if (spec_.pipeline != 1) text += "_k" + std::to_string(spec_.pipeline);
        if (spec_.sum4) text += "_sum4";
        return fmt::format("{}_{}x{}x{}", text, spec_.rows, spec_.cols, spec_.acc_depth);
    }

    /// For progress and messages.
    std::string title() const {
        std::string text =
            fmt::format("{} x {} {}", spec_.rows, spec_.cols, arch::to_string(spec_.dtype));
        if (spec_.form != "flat") text += ' ' + spec_.form;
        if (spec_.pipeline != 1) text += fmt::format(", pipeline {}", spec_.pipeline);
        if (spec_.sum4) text += ", sum4";
        return text + (spec_.other ? " array " + top_ : " array");
    }

    /// Runs one build stage; on failure its log is moved out of the scratch directory and named.
    void stage(const std::string& what, const base::Command& command, const fs::path& directory,
               const fs::path& log, const std::string& stem) const {
        const int status = base::run(command, directory, log);
        if (status == 0) return;
        const std::string cause = first_error(log);
        const fs::path kept =
            options_.cache_dir / fmt::format("{}.{}.failed.log", stem, ::getpid());
        std::error_code error;
        fs::rename(log, kept, error);
        throw UserError(fmt::format(
            "{} failed with status {}{}\n  error:   {}\n  command: {}\n  in:      {}\n  log:     "
            "{}",
            what, status,
            status == base::kNotStarted ? ": is " + command[0] + " installed?" : std::string{},
            cause.empty() ? "the tool said nothing" : cause, base::quoted(command),
            directory.empty() ? fs::current_path().string() : directory.string(), kept.string()));
    }

    std::string array_key(const RtlSources& sources) const {
        base::Fnv128 hash;
        hash.add_all(tools_);
        hash.add_all(parameters());
        hash.add_all(compile_flags());
        hash.add(visibility_config(spec_));
        for (const std::string& word : {level_, std::string(kRuntimeLevel), top_, spec_.form})
            hash.add(word);
        for (const Level& level : kLevels)
            hash.add(level.option + std::to_string(level.most_bytes));
        hash.add(arch::to_string(spec_.dtype));
        sources.add_to(hash);
        for (const char* file : {"array_shim.cpp", "array_abi.h"})
            hash.add(read_file(options_.shim_dir / file));
        hash.add(kViewVersion);
        return hash.hex();
    }

    /// Verilator's, without what names a place.
    base::Command parameters() const {
        base::Command words = {kVerilator};
        words.insert(words.end(), kVerilateFlags.begin(), kVerilateFlags.end());
        words.insert(words.end(), {"--top-module", top_, fmt::format("-GRows={}", spec_.rows),
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

    base::Command compile_flags() const {
        base::Command words = {compiler_, "-march=" + march_};
        words.insert(words.end(), kCompileFlags.begin(), kCompileFlags.end());
        if (!waves_) words.emplace_back("-DTANDEM_ARRAY_NO_WAVES");
        if (coverage_) words.emplace_back("-DVM_COVERAGE=1");
        const base::Command& own = compiler_ == "g++" ? kGccFlags : kClangFlags;
        words.insert(words.end(), own.begin(), own.end());
        return words;
    }

    /// The compiler's level for what Verilator wrote.
    std::string level_for(const fs::path& model) const {
        if (!level_.empty()) return level_;
        uintmax_t bytes = 0;
        for (const auto& entry : fs::directory_iterator(model))
            if (entry.path().extension() == ".cpp") bytes += entry.file_size();
        for (const Level& level : kLevels) {
            if (bytes > level.most_bytes) continue;
            if (std::string_view(level.option) == "-O0")
                report(
                    "this array is large for Verilator: compiled without optimisation, it will "
                    "run slowly (TANDEM_ARRAY_OPT selects another level)");
            return level.option;
        }
        throw UserError(fmt::format(
            "the {} is too large to be compiled in reasonable time: Verilator made {} MB of C++ "
            "from it (TANDEM_ARRAY_OPT=-O0 insists)",
            title(), bytes / 1'000'000));
    }

    /// Objects of Verilator's runtime, compiled once per cache: two thirds of a build's time.
    fs::path runtime_objects(const fs::path& include) const {
        base::Fnv128 hash;
        hash.add_all(tools_);
        hash.add_all(compile_flags());
        hash.add(kRuntimeLevel);
        hash.add_all(kRuntimeSources);
        hash.add(include.string());
        for (const char* source : kRuntimeSources) hash.add(source);
        const std::string stem = "runtime-" + hash.hex();
        const fs::path target = options_.cache_dir / stem;
        if (fs::exists(target)) return target;

        report("compiling the runtime of Verilator (once per cache)");
        const ScratchDir scratch(options_.cache_dir);
        const fs::path objects = scratch.path() / "objects";
        fs::create_directory(objects);
        for (const std::string source : kRuntimeSources) {
            base::Command compile = compile_flags();
            for (const std::string& word :
                 {std::string(kRuntimeLevel), "-I" + include.string(),
                  "-I" + (include / "vltstd").string(), std::string("-c"),
                  (include / (source + ".cpp")).string(), std::string("-o"),
                  (objects / (source + ".o")).string()})
                compile.push_back(word);
            stage("compiling the runtime of Verilator", compile, {}, scratch.path() / "log", stem);
        }
        publish(objects, target);
        return target;
    }

    /// Moves what was made into its place at once; when another process was first, its result
    /// stays.
    static void publish(const fs::path& made, const fs::path& target) {
        std::error_code error;
        fs::rename(made, target, error);
        if (error && !fs::exists(target))
            throw UserError("cannot write " + target.string() + ": " + error.message());
    }

    void verilate(const fs::path& scratch, const std::string& stem) const {
        const fs::path config = scratch / "visible.vlt";
        write_file(config, visibility_config(spec_));
        base::Command command = parameters();
        for (const std::string& word :
             {std::string("-Mdir"), (scratch / "model").string(), config.string(),
              std::string("-F"), filelist_.filename().string()})
            command.push_back(word);
        // In the folder of the sources, so that messages of the model name files without their
        // place.
        stage("verilating the " + title(), command, filelist_.parent_path(), scratch / "log", stem);
    }

    /// A file that is used and not part of the key would make stale arrays.
    void check_sources(const fs::path& scratch, const fs::path& include,
                       const RtlSources& sources) const {
        std::istringstream words(read_file(scratch / "model" / (std::string(kPrefix) + "__ver.d")));
        std::string word;
        while (words >> word && word != ":") {
        }
        while (words >> word) {
            const fs::path file =
                fs::path(word).is_absolute() ? fs::path(word) : filelist_.parent_path() / word;
            const std::string place = file.lexically_normal().string();
            const bool tools = place.starts_with(include.parent_path().string()) ||
                               place.starts_with(scratch.string()) ||
                               file.filename().string().starts_with("verilator");
            if (!tools && !sources.contains(file))
                throw UserError(
                    fmt::format("{}: file {} is used but not named: add it, or its "
                                "folder with +incdir+",
                                filelist_.string(), word));
        }
    }

    void write_unit(const fs::path& model, const fs::path& unit, const std::string& key) const {
        // One translation unit: faster to compile, and the shim can inline the model's evaluation.
        std::vector<std::string> sources;
        for (const auto& entry : fs::directory_iterator(model))
            if (entry.path().extension() == ".cpp") sources.push_back(entry.path().filename());
        std::sort(sources.begin(), sources.end());
        std::string text = fmt::format(
            "#define TANDEM_ARRAY_ROWS {}\n#define TANDEM_ARRAY_COLS {}\n"
            "#define TANDEM_ARRAY_ACC_DEPTH {}\n#define TANDEM_ARRAY_PIPELINE {}\n"
            "#define TANDEM_ARRAY_SUM4 {}\n#define TANDEM_ARRAY_ELEMENT_BYTES {}\n"
            "#define TANDEM_ARRAY_DTYPE \"{}\"\n#define TANDEM_ARRAY_BUILD_KEY \"{}\"\n",
            spec_.rows, spec_.cols, spec_.acc_depth, spec_.pipeline, spec_.sum4 ? 1 : 0,
            arch::element_bytes(spec_.dtype), arch::to_string(spec_.dtype), key);
        // Registers of the flat form begin at cache lines: loads of 64 bytes that cross two of them
        // take a tenth of its time.
        if (!spec_.other && spec_.form == "flat")
            text += fmt::format(
                "#include <verilated.h>\n#define VlUnpacked alignas(64) VlUnpacked\n"
                "#include \"{}___024root.h\"\n#undef VlUnpacked\n",
                kPrefix);
        for (const std::string& source : sources) text += "#include \"" + source + "\"\n";
        write_file(unit, text + "#include \"array_shim.cpp\"\n");
    }

    void build(const std::string& key, const std::string& stem, const fs::path& target,
               const RtlSources& sources) const {
        const ScratchDir scratch(options_.cache_dir);
        if (spec_.dtype == arch::Dtype::kBf16 && compiler_ == "g++")
            report("clang++ is not in PATH: with g++ a bf16 array runs many times slower");
        const std::string root = base::output_of({kVerilator, "--getenv", "VERILATOR_ROOT"});
        const fs::path include = fs::path(root.substr(0, root.find('\n'))) / "include";

        report("verilating the " + title());
        verilate(scratch.path(), stem);
        const fs::path model = scratch.path() / "model";
        const GeneratedModel generated(model, kPrefix);
        check_ports(spec_, top_, generated);
        check_sources(scratch.path(), include, sources);
        write_file(model / "array_places.h", array_view(spec_, top_, generated));
        const fs::path objects = runtime_objects(include);
        const fs::path unit = model / "array_unit.cc";
        write_unit(model, unit, key);

        const std::string level = level_for(model);
        report("compiling the " + title());
        base::Command compile = compile_flags();
        const fs::path library = scratch.path() / "array.so";
        const fs::path exports = scratch.path() / "exports";
        write_file(exports, "{ global: tandem_array_*; local: *; };\n");
        for (const std::string& word :
             {level, "-I" + model.string(), "-I" + include.string(),
              "-I" + (include / "vltstd").string(), "-I" + options_.shim_dir.string(),
              std::string("-shared"), std::string("-Wl,-Bsymbolic"),
              "-Wl,--version-script=" + exports.string(), std::string("-o"), library.string(),
              unit.string()})
            compile.push_back(word);
        for (const std::string source : kRuntimeSources)
            compile.push_back((objects / (source + ".o")).string());
        compile.insert(compile.end(), {"-lz", "-lpthread"});
        if (compiler_ != "g++") compile.insert(compile.end(), {"-Wl,--as-needed", "-latomic"});
        stage("compiling the " + title(), compile, {}, scratch.path() / "log", stem);
        const std::string content = read_file(library);
        write_file(library, content + seal(key, content));
        publish(library, target);
    }

    ArraySpec spec_;
    BuildOptions options_;
    std::string top_;
    bool coverage_, waves_;
    fs::path filelist_;
    std::string march_, level_;
    std::string compiler_ = "g++";
    std::vector<std::string> tools_;
};

template <typename Function>
void bind(void* handle, const char* name, Function& function, const fs::path& path) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr)
        throw std::runtime_error(path.string() + " is not an array: it has no " + name);
}

}  // namespace

fs::path ensure_array(const ArraySpec& spec, const BuildOptions& options) {
    return Builder(spec, options).ensure();
}

ArrayLibrary::ArrayLibrary(const fs::path& path) {
    handle_ = dlopen(fs::absolute(path).c_str(), RTLD_LOCAL | RTLD_NOW);
    if (handle_ == nullptr)
        throw std::runtime_error(std::string("cannot load an array: ") + dlerror());
    try {
        decltype(&tandem_array_info) describe = nullptr;
        bind(handle_, "tandem_array_info", describe, path);
        info_ = describe();
        if (info_->abi_version != TANDEM_ARRAY_ABI_VERSION)
            throw std::runtime_error(path.string() + " has ABI version " +
                                     std::to_string(info_->abi_version) + ", expected " +
                                     std::to_string(TANDEM_ARRAY_ABI_VERSION));
        const std::string stem = path.stem().string();
        if (stem.substr(stem.rfind('-') + 1) != info_->build_key)
            throw std::runtime_error(path.string() + " has build key " + info_->build_key +
                                     ", which is not that of its name");
        bind(handle_, "tandem_array_create", create, path);
        bind(handle_, "tandem_array_destroy", destroy, path);
        bind(handle_, "tandem_array_reset", reset, path);
        bind(handle_, "tandem_array_step", step, path);
        bind(handle_, "tandem_array_pe", pe, path);
        bind(handle_, "tandem_array_settle", settle, path);
        bind(handle_, "tandem_array_taps", taps, path);
        bind(handle_, "tandem_array_watch", watch, path);
        bind(handle_, "tandem_array_trace_open", trace_open, path);
        bind(handle_, "tandem_array_trace_close", trace_close, path);
    } catch (...) {
        dlclose(handle_);
        throw;
    }
}

ArrayLibrary::~ArrayLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

ArrayLibrary::ArrayLibrary(ArrayLibrary&& other) noexcept
    : create(other.create),
      destroy(other.destroy),
      reset(other.reset),
      step(other.step),
      pe(other.pe),
      settle(other.settle),
      taps(other.taps),
      watch(other.watch),
      trace_open(other.trace_open),
      trace_close(other.trace_close),
      handle_(std::exchange(other.handle_, nullptr)),
      info_(other.info_) {}

ArrayLibrary& ArrayLibrary::operator=(ArrayLibrary&& other) noexcept {
    std::swap(create, other.create);
    std::swap(destroy, other.destroy);
    std::swap(reset, other.reset);
    std::swap(step, other.step);
    std::swap(pe, other.pe);
    std::swap(settle, other.settle);
    std::swap(taps, other.taps);
    std::swap(watch, other.watch);
    std::swap(trace_open, other.trace_open);
    std::swap(trace_close, other.trace_close);
    std::swap(handle_, other.handle_);
    std::swap(info_, other.info_);
    return *this;
}

}  // namespace tandem::cosim
