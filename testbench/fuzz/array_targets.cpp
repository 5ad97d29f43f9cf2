// SPDX-License-Identifier: Apache-2.0
// What is said of arrays: file lists and declarations of other people's RTL, injections, places.
#include <fmt/format.h>

#include "base/error.h"
#include "base/fnv128.h"
#include "cosim/array_timing.h"
#include "cosim/injection.h"
#include "cosim/port_bench.h"
#include "cosim/rtl_sources.h"
#include "run/array_places.h"
#include "testbench/fuzz/target.h"

namespace tandem::fuzz {
namespace {

namespace fs = std::filesystem;

engine::MxuShape shape() {
    engine::MxuShape shape;
    shape.rows = 16;
    shape.cols = 8;
    shape.accumulator_rows = 64;
    return shape;
}

std::vector<Bytes> texts(std::initializer_list<const char*> list) {
    std::vector<Bytes> all;
    for (const char* text : list) all.push_back(bytes_of(text));
    return all;
}

/// Files that a list may name, made once in a process.
void make_sources() {
    static const bool made = [] {
        fs::create_directories(scratch() / "lib");
        scratch_file("a.sv", bytes_of("`include \"b.svh\"\n`include `NAME\nmodule a; endmodule\n"));
        scratch_file("b.svh", bytes_of("`include <lib/c.vh>\n`include \"a.sv\"\n"));
        scratch_file("lib/c.vh", bytes_of("`include \"\n"));
        scratch_file("nested.f", bytes_of("-f list.f\nlib/c.vh\n"));
        return true;
    }();
    (void)made;
}

std::string read_sources(const fs::path& list) {
    const cosim::RtlSources sources(list);
    base::Fnv128 hash;
    sources.add_to(hash);
    require(sources.contains(list), "a file list is not among its own files");
    return "sources";
}

}  // namespace

Target filelist_target() {
    return {.name = "filelist",
            .extension = ".f",
            .text = true,
            .words = {"-f ",    "-F ",      "-v ",   "-y ",      "-I",     "+incdir+", "+define+",
                      "a.sv",   "b.svh",    "lib",   "nested.f", "list.f", "//",       "/*",
                      "*/",     "#",        "$HOME", "${HOME}",  "$(",     "\"",       "-Mdir ",
                      "--exe ", "-GROWS=1", "..",    "/"},
            .seeds =
                [] {
                    Bytes rtl = read(source_dir() / "rtl/filelist.f");
                    auto all = texts({"a.sv\n+incdir+lib+.\n-I lib\n// b\n/* c */ b.svh\n",
                                      "-f nested.f\n-F nested.f\n-v a.sv -y lib\n\"a.sv\"\n"});
                    all.push_back(std::move(rtl));
                    return all;
                },
            .run =
                [](const Bytes& bytes) {
                    make_sources();
                    return read_sources(scratch_file("list.f", bytes));
                },
            .command = {}};
}

Target declaration_target() {
    return {.name = "declaration",
            .extension = ".yaml",
            .text = true,
            .words = {"name: ",
                      "commit_latency: ",
                      "weight_interval: ",
                      "weight_latency: ",
                      "dtypes: ",
                      "[int8, bf16]",
                      "constant: ",
                      "per_row: ",
                      "per_col: ",
                      "per_log2_row: ",
                      "per_log2_col: ",
                      "ceil(",
                      "floor(",
                      "log2ceil(",
                      "max(",
                      "min(",
                      "rows",
                      "cols",
                      "pipeline",
                      " / ",
                      " * ",
                      " - ",
                      ")",
                      "1000000",
                      "-1000000",
                      "&a ",
                      "*a"},
            .seeds =
                [] {
                    return texts(
                        {"name: other\ncommit_latency: {constant: 2, per_row: 1, per_col: "
                         "1, per_log2_row: -1}\nweight_interval: 2\nweight_latency: "
                         "3\ndtypes: [int8, bf16]\n",
                         "name: x\ncommit_latency: 7\ndtypes: [int8]\n",
                         "name: y\ncommit_latency: ceil(rows / pipeline) + max(cols, -(-3)) * "
                         "log2ceil(rows) - floor(cols / 2)\nweight_interval: min(rows, "
                         "2)\ndtypes: [bf16]\n"});
                },
            .run =
                [](const Bytes& bytes) {
                    const auto declaration =
                        cosim::read_declaration(scratch_file("array.yaml", bytes));
                    const auto timing = declaration.timing(shape());
                    require(timing.commit_latency >= 1, "a latency of nothing");
                    return std::string("declared");
                },
            .command = {}};
}

Target stream_target() {
    return {.name = "stream",
            .extension = ".txt",
            .text = true,
            .words = {"initial ", "wgt ", "wgt~ ", "act ", "act~ ", "@", " swap", " acc", "rd ",
                      "rd~ ", " hold", " reset", "-", "#", "18446744073709551616"},
            .seeds =
                [] {
                    cosim::PortModel model(shape());
                    cosim::PortTraffic traffic(shape(), 1, cosim::PortStreamKind::kMixed);
                    std::string text = "initial 1\n";
                    for (int edge = 0; edge < 20; ++edge) {
                        const cosim::PortEdge& next = traffic.next(model);
                        text += to_text(next) + '\n';
                        traffic.note(model.step(next));
                    }
                    return std::vector<Bytes>{bytes_of(text)};
                },
            .run =
                [](const Bytes& bytes) {
                    const auto file = scratch_file("stream.txt", bytes);
                    const auto stream = cosim::read_port_stream(file, shape());
                    cosim::PortModel model(shape());
                    for (const auto& edge : stream.edges) {
                        require(cosim::parse_port_edge(to_text(edge), shape(), "here") == edge,
                                "an edge is not its text");
                        model.step(edge);
                    }
                    return std::string("stream");
                }};
}

Target injection_target() {
    return {.name = "injection",
            .extension = ".txt",
            .text = true,
            .words = {"pe[", "][", "].", "psum", "weight", "activation", "shadow", "swap", "load",
                      ":bit", "@cycle=", "seed=", "999999999", "18446744073709551615"},
            .seeds =
                [] {
                    return texts({"pe[3][4].psum:bit7@cycle=120", "pe[0][0].weight:bit0@cycle=1",
                                  "seed=17", "pe[15][7].swap:bit0@cycle=999999999999999999", ""});
                },
            .run =
                [](const Bytes& bytes) {
                    const std::string text = text_of(bytes);
                    if (const auto seed = cosim::parse_injection_seed(text)) {
                        (void)cosim::random_injection(*seed, shape(), 100);
                        return std::string("seed");
                    }
                    const auto injection = cosim::parse_injection(text, shape());
                    const std::string again = injection.to_string();
                    require(cosim::parse_injection(again, shape()).to_string() == again,
                            "an injection is another one when read back");
                    return std::string("injection");
                },
            .command = {}};
}

Target arrays_target() {
    return {.name = "arrays",
            .extension = ".txt",
            .text = true,
            .words = {"all", "0.0", ",", ".", "4294967295", "4294967296"},
            .seeds =
                [] {
                    return texts({"all", "0.0,1.3", "0.0"});
                },
            .run =
                [](const Bytes& bytes) {
                    const auto places = run::ArrayPlaces::parse(text_of(bytes), "--rtl-arrays");
                    const std::string again = places.to_string();
                    require(places.all() ||
                                run::ArrayPlaces::parse(again, "again").to_string() == again,
                            "places are others when read back");
                    places.check(2, 2, "--rtl-arrays");
                    return std::string("places");
                },
            .command = {"run", (source_dir() / "models/digits/digits_int8.tflite").string(),
                        "--chip", "test_16x16", "--mode", "timing", "--host", "native", "--count",
                        "1", "--backend", "rtl", "--rtl-arrays", "TEXT"}};
}

}  // namespace tandem::fuzz
