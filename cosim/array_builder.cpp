// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_builder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

extern char** environ;

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr const char* kCompiler = "g++";
constexpr const char* kVerilator = "verilator";
constexpr const char* kModelLevel = "-O3";    // vectorises the array
constexpr const char* kRuntimeLevel = "-O1";  // hardly runs, but would take most of the time
constexpr std::array kRuntimeSources = {"verilated", "verilated_fst_c", "verilated_threads"};

const Command kVerilateFlags = {"--cc",         "-O3",      "--x-assign",        "fast",
                                "--x-initial",  "fast",     "--trace-fst",       "--timescale",
                                "1ns/1ps",      "--assert", "--trace-max-width", "8192",
                                "--top-module", "tpu_mxu"};

// Symbols are hidden, so that any number of arrays can be loaded at once. TLS descriptors make the
// thread-local state of Verilator's runtime cheaper to reach.
const Command kCompileFlags = {"-march=native",
                               "-std=c++20",
                               "-fPIC",
                               "-w",
                               "-fno-plt",
                               "-DVL_TIME_CONTEXT",
                               "-DVL_USER_STOP",
                               "-fno-gnu-unique",
#if defined(__x86_64__)
                               "-mtls-dialect=gnu2",
#endif
                               "-fvisibility=hidden",
                               "-fvisibility-inlines-hidden"};

/// FNV-1a, 128 bit. Every item is closed by its length, so that neighbours cannot merge.
class Fnv128 {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) step(static_cast<unsigned char>(byte));
        for (std::size_t length = bytes.size(), i = 0; i < 8; ++i, length >>= 8)
            step(static_cast<unsigned char>(length));
    }
    void add(const Command& words) {
        for (const std::string& word : words) add(std::string_view(word));
    }
    std::string hex() const {
        std::string text(32, '0');
        auto rest = value_;
        for (auto digit = text.rbegin(); digit != text.rend(); ++digit, rest >>= 4)
            *digit = "0123456789abcdef"[static_cast<unsigned>(rest & 15)];
        return text;
    }

  private:
    __extension__ typedef unsigned __int128 Word;
    static constexpr Word kPrime = (Word{1} << 88) + 0x13b;
    void step(unsigned char byte) { value_ = (value_ ^ byte) * kPrime; }
    Word value_ = (Word{0x6c62272e07bb0142ull} << 64) + 0x62b821756295c58dull;
};

std::string quoted(const Command& command) {
    std::string line;
    for (const std::string& word : command) {
        if (!line.empty()) line += ' ';
        line += word.find_first_of(" \"'") == std::string::npos ? word : '\'' + word + '\'';
    }
    return line;
}

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// A directory of our own below the cache, removed at the end.
class ScratchDir {
  public:
    explicit ScratchDir(const fs::path& parent) {
        std::string name = (parent / "build-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("cannot create a directory in " + parent.string() + ": " +
                                     std::strerror(errno));
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
    fs::path path_;
};

/// Runs a command without a shell, its output appended to `log`. Returns the exit status, or 127
/// when it could not be started.
int run(const Command& command, const fs::path& directory, const fs::path& log) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());

    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        std::ofstream(log, std::ios::app) << command[0] << ": " << std::strerror(error) << '\n';
        return 127;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return 127;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Builder {
  public:
    Builder(const ArraySpec& spec, const BuildOptions& options) : spec_(spec), options_(options) {
        check(spec.dtype == "int8", "dtype " + spec.dtype + " has no RTL; int8 has");
        check(spec.rows >= 1 && spec.rows <= 256, "rows must be in 1..256");
        check(spec.cols >= 1 && spec.cols <= 256, "cols must be in 1..256");
        check(spec.acc_depth >= 1, "acc_depth must not be zero");
        // Tools run in other directories.
        options_.rtl_dir = fs::absolute(options.rtl_dir);
        options_.shim_dir = fs::absolute(options.shim_dir);
        options_.cache_dir = fs::absolute(options.cache_dir);
    }

    fs::path ensure() {
        fs::create_directories(options_.cache_dir);
        tools_ = tool_versions();
        const std::string key = array_key();
        const std::string stem = "tpu_mxu_" + spec_.dtype + "_" + std::to_string(spec_.rows) + "x" +
                                 std::to_string(spec_.cols) + "x" +
                                 std::to_string(spec_.acc_depth) + "-" + key;
        for (const fs::path& directory : options_.search_dirs)
            if (fs::exists(directory / (stem + ".so"))) return directory / (stem + ".so");
        const fs::path target = options_.cache_dir / (stem + ".so");
        if (!fs::exists(target)) build(key, stem, target);
        return target;
    }

  private:
    static void check(bool good, const std::string& what) {
        if (!good) throw std::runtime_error("array specification: " + what);
    }

    void report(const std::string& line) const {
        if (options_.progress) options_.progress(line);
    }

    /// Runs one build stage; on failure its log is moved out of the scratch directory and named.
    void stage(const Command& command, const fs::path& directory, const fs::path& log,
               const std::string& stem) const {
        const int status = run(command, directory, log);
        if (status == 0) return;
        const fs::path kept =
            options_.cache_dir / (stem + "." + std::to_string(getpid()) + ".failed.log");
        std::error_code error;
        fs::rename(log, kept, error);
        throw std::runtime_error(
            "building " + stem + " failed with status " + std::to_string(status) +
            (status == 127 ? ": is " + command[0] + " installed?" : "") +
            "\n  command: " + quoted(command) + "\n  log:     " + kept.string());
    }

    /// What the tools say about themselves, and the vector extensions that -march=native selects.
    std::string tool_versions() const {
        const ScratchDir scratch(options_.cache_dir);
        const fs::path log = scratch.path() / "log";
        stage({kVerilator, "--version"}, {}, log, "version-of-verilator");
        stage({kCompiler, "--version"}, {}, log, "version-of-compiler");
        std::string text = read_file(log);

        std::ifstream cpuinfo("/proc/cpuinfo");
        std::vector<std::string> extensions;
        for (std::string line; std::getline(cpuinfo, line);) {
            if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
            std::istringstream flags(line);
            for (std::string flag; flags >> flag;) {
                for (const char* prefix :
                     {"avx", "sse", "bmi", "fma", "f16c", "gfni", "asimd", "sve"})
                    if (flag.rfind(prefix, 0) == 0) extensions.push_back(flag);
            }
            break;
        }
        std::sort(extensions.begin(), extensions.end());
        return text + quoted(extensions);
    }

    std::string array_key() const {
        Fnv128 hash;
        hash.add(tools_);
        hash.add(kVerilateFlags);
        hash.add(kCompileFlags);
        hash.add(kModelLevel);
        hash.add(kRuntimeLevel);
        hash.add(spec_.dtype);
        for (const unsigned number : {spec_.rows, spec_.cols, spec_.acc_depth})
            hash.add(std::to_string(number));
        const std::string list = read_file(options_.rtl_dir / "filelist.f");
        hash.add(list);
        std::istringstream names(list);
        for (std::string name; names >> name;) {
            hash.add(name);
            hash.add(read_file(options_.rtl_dir / name));
        }
        for (const char* name : {"array_shim.cpp", "array_abi.h"})
            hash.add(read_file(options_.shim_dir / name));
        return hash.hex();
    }

    /// Verilator's own header directory.
    fs::path runtime_include(const fs::path& scratch) const {
        const fs::path log = scratch / "root";
        stage({kVerilator, "--getenv", "VERILATOR_ROOT"}, {}, log, "root-of-verilator");
        std::istringstream lines(read_file(log));
        std::string root;
        std::getline(lines, root);
        return fs::path(root) / "include";
    }

    /// Objects of Verilator's runtime, compiled once per cache: two thirds of a build's time.
    fs::path runtime_objects(const fs::path& include) const {
        Fnv128 hash;
        hash.add(tools_);
        hash.add(kCompileFlags);
        hash.add(kRuntimeLevel);
        hash.add(include.string());
        const std::string stem = "runtime-" + hash.hex();
        const fs::path target = options_.cache_dir / stem;
        if (fs::exists(target)) return target;

        report("compiling the runtime of Verilator (once per cache)");
        const ScratchDir scratch(options_.cache_dir);
        const fs::path objects = scratch.path() / "objects";
        fs::create_directory(objects);
        for (const std::string source : kRuntimeSources) {
            Command compile = {kCompiler};
            compile.insert(compile.end(), kCompileFlags.begin(), kCompileFlags.end());
            for (const std::string& word :
                 {std::string(kRuntimeLevel), "-I" + include.string(),
                  "-I" + (include / "vltstd").string(), std::string("-c"),
                  (include / (source + ".cpp")).string(), std::string("-o"),
                  (objects / (source + ".o")).string()})
                compile.push_back(word);
            stage(compile, {}, scratch.path() / "log", stem);
        }
        publish(objects, target);
        return target;
    }

    /// Moves a finished file or directory to its place. Another process may have been faster: then
    /// its equal result stays.
    static void publish(const fs::path& made, const fs::path& target) {
        std::error_code error;
        fs::rename(made, target, error);
        if (error && !fs::exists(target))
            throw std::runtime_error("cannot write " + target.string() + ": " + error.message());
    }

    void build(const std::string& key, const std::string& stem, const fs::path& target) const {
        const ScratchDir scratch(options_.cache_dir);
        const fs::path log = scratch.path() / "log";
        const fs::path include = runtime_include(scratch.path());
        const fs::path objects = runtime_objects(include);
        const std::string size =
            std::to_string(spec_.rows) + " x " + std::to_string(spec_.cols) + " " + spec_.dtype;

        // In the source directory, so that messages of the model name files without their place.
        report("verilating the " + size + " array");
        const fs::path model = scratch.path() / "model";
        Command verilate = {kVerilator};
        verilate.insert(verilate.end(), kVerilateFlags.begin(), kVerilateFlags.end());
        for (const std::string& word :
             {"-GRows=" + std::to_string(spec_.rows), "-GCols=" + std::to_string(spec_.cols),
              "-GAccDepth=" + std::to_string(spec_.acc_depth), std::string("-Mdir"), model.string(),
              std::string("-F"), std::string("filelist.f")})
            verilate.push_back(word);
        stage(verilate, options_.rtl_dir, log, stem);

        // One translation unit: faster to compile, and the shim can inline the model's evaluation.
        std::vector<std::string> sources;
        for (const auto& entry : fs::directory_iterator(model))
            if (entry.path().extension() == ".cpp") sources.push_back(entry.path().filename());
        std::sort(sources.begin(), sources.end());
        const fs::path unit = model / "array_unit.cc";
        {
            std::ofstream out(unit);
            out << "#define TANDEM_ARRAY_ROWS " << spec_.rows << "\n#define TANDEM_ARRAY_COLS "
                << spec_.cols << "\n#define TANDEM_ARRAY_ACC_DEPTH " << spec_.acc_depth
                << "\n#define TANDEM_ARRAY_DTYPE \"" << spec_.dtype
                << "\"\n#define TANDEM_ARRAY_BUILD_KEY \"" << key << "\"\n";
            for (const std::string& source : sources) out << "#include \"" << source << "\"\n";
            out << "#include \"array_shim.cpp\"\n";
            if (!out.flush()) throw std::runtime_error("cannot write " + unit.string());
        }

        report("compiling the " + size + " array");
        Command compile = {kCompiler};
        compile.insert(compile.end(), kCompileFlags.begin(), kCompileFlags.end());
        const fs::path library = scratch.path() / "array.so";
        const fs::path exports = scratch.path() / "exports";
        std::ofstream(exports) << "{ global: tandem_array_*; local: *; };\n";
        for (const std::string& word :
             {std::string(kModelLevel), "-I" + model.string(), "-I" + include.string(),
              "-I" + (include / "vltstd").string(), "-I" + options_.shim_dir.string(),
              std::string("-shared"), std::string("-Wl,-Bsymbolic"),
              "-Wl,--version-script=" + exports.string(), std::string("-o"), library.string(),
              unit.string()})
            compile.push_back(word);
        for (const std::string source : kRuntimeSources)
            compile.push_back((objects / (source + ".o")).string());
        compile.insert(compile.end(), {"-lz", "-lpthread"});
        stage(compile, {}, log, stem);
        publish(library, target);
    }

    ArraySpec spec_;
    BuildOptions options_;
    std::string tools_;
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
        bind(handle_, "tandem_array_state", state, path);
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
      state(other.state),
      trace_open(other.trace_open),
      trace_close(other.trace_close),
      handle_(std::exchange(other.handle_, nullptr)),
      info_(other.info_) {}

ArrayLibrary& ArrayLibrary::operator=(ArrayLibrary&& other) noexcept {
    std::swap(create, other.create);
    std::swap(destroy, other.destroy);
    std::swap(reset, other.reset);
    std::swap(step, other.step);
    std::swap(state, other.state);
    std::swap(trace_open, other.trace_open);
    std::swap(trace_close, other.trace_close);
    std::swap(handle_, other.handle_);
    std::swap(info_, other.info_);
    return *this;
}

}  // namespace tandem::cosim
