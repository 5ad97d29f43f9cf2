// SPDX-License-Identifier: Apache-2.0
#include "run/array_export.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/output_file.h"
#include "run/array_texts.h"
#include "run/paths.h"

namespace tandem::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = ".tandem_export";

/// An export while it is written. Its marker lists its files, which the next export removes.
class Folder {
  public:
    explicit Folder(const fs::path& path) : path_(path) {
        std::error_code error;
        if (fs::exists(path, error) && !fs::is_directory(path, error))
            throw UserError(path.string(), "--output", "a folder", "a file");
        if (fs::exists(path / kMarker))
            remove_files();
        else if (fs::exists(path, error) && !fs::is_empty(path, error))
            throw UserError(path.string(), "--output", "a new or empty folder, or an export",
                            "a folder with other files");
        fs::create_directories(path, error);
        if (error) throw UserError(path.string() + ": cannot be made: " + error.message());
        base::write_file(path_ / kMarker, std::string_view{});
    }

    void write(const fs::path& name, std::string_view text) {
        std::error_code error;
        fs::create_directories((path_ / name).parent_path(), error);
        base::write_file(path_ / name, text);
        files_ += name.string() + '\n';
        base::write_file(path_ / kMarker, files_);
    }

    void copy(const fs::path& from) { write(from.filename(), base::read_text(from)); }

  private:
    void remove_files() const {
        std::istringstream files(base::read_text(path_ / kMarker));
        for (std::string name; std::getline(files, name);) {
            const fs::path file = fs::path(name).lexically_normal();
            std::error_code ignored;
            if (file.is_relative() && *file.begin() != "..") fs::remove(path_ / file, ignored);
        }
    }

    fs::path path_;
    std::string files_;
};

/// The files that rtl/filelist.f names, in its order.
std::vector<std::string> rtl_files() {
    std::vector<std::string> files;
    const std::string list = base::read_text(data_dir() / "rtl" / "filelist.f");
    for (size_t at = 0; at < list.size();) {
        const size_t end = std::min(list.find('\n', at), list.size());
        if (end > at) files.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return files;
}

/// Returns the names of the sources, in the order in which they are read.
std::vector<std::string> write_sources(Folder& folder, const engine::MxuShape& shape,
                                       const std::string& form) {
    std::vector<std::string> sources;
    for (const std::string& file : rtl_files()) {
        sources.push_back("rtl/" + file);
        folder.write(sources.back(),
                     with_int_parameters(base::read_text(data_dir() / "rtl" / file)));
    }
    sources.push_back("rtl/" + exported_top(shape) + ".sv");
    folder.write(sources.back(), top_module(shape, form));
    return sources;
}

std::string title(const engine::MxuShape& shape, const std::string& name) {
    return fmt::format("# {}: a MAC array of {} x {} {}, {} accumulator rows\n\n", name, shape.rows,
                       shape.cols, arch::to_string(shape.dtype), shape.accumulator_rows);
}

void write_verilog(Folder& folder, const engine::MxuShape& shape) {
    const std::string top = exported_top(shape);
    std::string list =
        "// Without concurrent assertions, which Icarus Verilog does not know. Where the "
        "simulator\n"
        "// knows them, leave out the next line.\n+define+SYNTHESIS\n+incdir+.\n";
    for (const std::string& file : write_sources(folder, shape, "grid")) list += file + '\n';
    folder.write("filelist.f", list);
    folder.write("array_parameters.vh", verilog_figures(shape));
    folder.copy(data_dir() / "examples" / "array_verilog" / "bench.sv");
    for (const char* file : {"tpu_port_contract.sv", "tpu_vector_bench.sv"})
        folder.write(fs::path("checks") / file,
                     base::read_text(data_dir() / "rtl" / "checks" / file));
    const auto timing = engine::timing(shape);
    folder.write("README.md",
                 title(shape, top) +
                     fmt::format("Top module `{}`, one module per PE; `filelist.f` names all "
                                 "sources. In this folder:\n\n```\n"
                                 "iverilog -g2012 -s bench -o bench.vvp -f filelist.f bench.sv && "
                                 "vvp -n bench.vvp\n"
                                 "verilator --binary --timing -Wno-fatal --top-module bench -f "
                                 "filelist.f bench.sv && obj_dir/Vbench\n```\n\n",
                                 top) +
                     fmt::format("`checks/tpu_port_contract.sv` is a checker of the ports, to bind "
                                 "or to put beside the array: `Rows={} Cols={} AccDepth={} "
                                 "Dtype={} CommitLatency={}`. `checks/tpu_vector_bench.sv` drives "
                                 "the array with a file of vectors; it says how.\n\n",
                                 shape.rows, shape.cols, shape.accumulator_rows,
                                 shape.dtype == arch::Dtype::kBf16 ? 1 : 0, timing.commit_latency) +
                     ports_page(shape));
}

void write_systemc(Folder& folder, const engine::MxuShape& shape, const std::string& form) {
    folder.write("array.cmake", cmake_figures(shape, write_sources(folder, shape, form)));
    folder.write("array_config.h", systemc_figures(shape));
    for (const char* file : {"bench.cpp", "CMakeLists.txt"})
        folder.copy(data_dir() / "examples" / "array_systemc" / file);
    folder.write(
        "README.md",
        title(shape, exported_top(shape)) +
            "`array_config.h` has the SystemC module, `array::Array`, and the types of its pins: "
            "`bool` for one bit, `sc_bv` for more. Verilator makes it from `rtl/` when CMake runs. "
            "In a project of your own: `add_subdirectory` of this folder, and link `array`. Begin "
            "with `rst_ni` high and let it fall before the first edge of the clock, for "
            "assertions look at every edge.\n\n"
            "```\ncmake -B build && cmake --build build && build/bench\n```\n\n"
            "Needs Verilator 5, SystemC 2.3.4 built for C++17, CMake, a C++ compiler.\n\n" +
            ports_page(shape));
}

void write_c(Folder& folder, const engine::MxuShape& shape, const ArrayChoice& choice) {
    const BuiltArray built = portable_array(shape, choice);
    const std::string library = fmt::format("libtandem_array_{}_{}x{}.so",
                                            arch::to_string(shape.dtype), shape.rows, shape.cols);
    folder.write(library, base::read_text(built.file));
    folder.copy(data_dir() / "cosim" / "array_abi.h");
    for (const char* file : {"bench.c", "Makefile"})
        folder.copy(data_dir() / "examples" / "array_c" / file);
    std::string page =
        title(shape, library) +
        fmt::format(
            "The Verilated array as a shared object with the C interface of "
            "`array_abi.h`; nothing of Tandem is needed. Compiled for `-march={}`: "
            "TANDEM_ARRAY_MARCH=native tandem rtl export ... makes a faster one for the CPU "
            "at hand.\n\n```\nmake && ./bench\n```\n\n",
            built.march);
    if (!choice.other()) page += ports_page(shape);
    folder.write("README.md", page);
}

}  // namespace

void export_array(const engine::MxuShape& shape, const ArrayChoice& choice, ExportKind kind,
                  const fs::path& path) {
    if (choice.other() && kind != ExportKind::kC)
        throw UserError("--rtl", "--as", "c, for its sources are at hand already",
                        kind == ExportKind::kVerilog ? "verilog" : "systemc");
    Folder folder(path);
    switch (kind) {
        case ExportKind::kVerilog:
            return write_verilog(folder, shape);
        case ExportKind::kSystemC:
            return write_systemc(folder, shape, choice.form);
        case ExportKind::kC:
            return write_c(folder, shape, choice);
    }
}

}  // namespace tandem::run
