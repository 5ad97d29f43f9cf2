// SPDX-License-Identifier: Apache-2.0
// The builder of arrays: what it makes, what it refuses, and that it never uses a wrong file.
#include "cosim/array_builder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/error.h"
#include "cosim/array_library.h"
#include "cosim/array_timing.h"
#include "cosim/rtl_sources.h"
#include "testbench/cosim/builder_fixture.h"

namespace tandem::testbench {
namespace {

TEST_F(BuilderTest, ParametersReachTheArray) {
    cosim::ArraySpec spec{2, 3, 4};
    spec.form = "grid";
    spec.pipeline = 2;
    const cosim::ArrayLibrary library(cosim::ensure_array(spec, options_));
    const auto& info = library.info();
    EXPECT_EQ(info.rows, 2u);
    EXPECT_EQ(info.cols, 3u);
    EXPECT_EQ(info.acc_depth, 4u);
    EXPECT_EQ(info.pipeline, 2u);
    EXPECT_EQ(info.sum4, 0u);
    EXPECT_STREQ(info.dtype, "int8");
    EXPECT_STREQ(info.form, "grid");
    EXPECT_EQ(info.element_bytes, 1u);
    EXPECT_EQ(info.psum_bytes, 4u);
}

TEST_F(BuilderTest, PipeliningTakesRegistersAway) {
    for (const char* form : {"flat", "grid"}) {
        cosim::ArraySpec spec{3, 3, 4};
        spec.form = form;
        spec.pipeline = 2;
        const cosim::ArrayLibrary library(cosim::ensure_array(spec, options_));
        TandemArray* const array = library.create();
        for (uint32_t row = 0; row < 3; ++row)
            for (uint32_t col = 0; col < 3; ++col) {
                TandemPeRegisters pe{};
                library.pe(array, row, col, &pe);
                SCOPED_TRACE(std::string(form) + " PE " + std::to_string(row) + ' ' +
                             std::to_string(col));
                EXPECT_EQ(pe.activation != nullptr, col % 2 == 0);
                EXPECT_EQ(pe.psum != nullptr, row % 2 == 1 || row == 2);
                EXPECT_NE(pe.weight, nullptr);
                EXPECT_NE(pe.shadow, nullptr);
                if (col % 2 != 0) {
                    EXPECT_EQ(pe.swap, nullptr);
                    EXPECT_EQ(pe.load, nullptr);
                }
            }
        library.destroy(array);
    }
}

TEST_F(BuilderTest, AnArrayHasNoThreads) {
    const auto threads = [] {
        const fs::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    const auto before = threads();
    const cosim::ArrayLibrary library(cosim::ensure_array({2, 2, 4}, options_));
    TandemArray* const array = library.create();
    EXPECT_EQ(threads(), before);
    library.destroy(array);
}

TEST_F(BuilderTest, TapsShowWhatStoodBeforeTheEdge) {
    cosim::ArraySpec spec{2, 2, 4};
    spec.form = "grid";
    const cosim::ArrayLibrary library(cosim::ensure_array(spec, options_));
    TandemArray* const array = library.create();
    library.reset(array);
    const TandemTap* taps = nullptr;
    const size_t count = library.taps(array, &taps);
    const auto value = [&](const std::string& name) -> int {
        for (size_t i = 0; i < count; ++i)
            if (taps[i].name == name) return static_cast<const uint8_t*>(taps[i].data)[0];
        return -1;
    };
    for (const char* name : {"act_fire", "swap", "wgt_fire", "load", "tile_complete",
                             "tile_partial", "emit", "wr_valid", "wr_accumulate", "wr_addr", "row",
                             "act_skewed", "swap_skewed", "wgt_skewed", "load_skewed", "bottom"})
        EXPECT_NE(value(name), -1) << name;

    const uint8_t beat[2] = {7, 9};
    TandemArrayPorts ports{};
    ports.wgt_valid = 1;
    ports.wgt_data = beat;
    library.step(array, &ports);
    EXPECT_EQ(value("wgt_fire"), 0) << "not watched yet";
    library.watch(array, 1);
    library.step(array, &ports);
    EXPECT_EQ(value("wgt_fire"), 1);
    EXPECT_EQ(value("load"), 1) << "1 + tile row 0";
    EXPECT_EQ(value("tile_complete"), 0);
    EXPECT_EQ(value("wgt_skewed"), 7) << "column 0 stands at the border at once";
    library.step(array, &ports);
    EXPECT_EQ(value("wgt_fire"), 0) << "the port is closed";
    EXPECT_EQ(value("tile_complete"), 1);
    library.destroy(array);
}

TEST_F(BuilderTest, ATopWithoutAPort) {
    const auto spec = other([](std::string& text) {
        replace(text, "  output logic                wgt_ready_o,\n", "");
        replace(text, "logic             load, swap;",
                "logic             load, swap, wgt_ready_o;");
    });
    EXPECT_EQ(message_of([&] { cosim::ensure_array(spec, options_); }),
              "top tree_mxu has no port wgt_ready_o (output, 1 bit)");
}

TEST_F(BuilderTest, APortOfAnotherWidth) {
    const auto spec = other([](std::string& text) {
        replace(text, "output logic [Cols*32-1:0]  res_data_o",
                "output logic [Cols*16-1:0]  res_data_o");
    });
    EXPECT_EQ(message_of([&] { cosim::ensure_array(spec, options_); }),
              "top tree_mxu: port res_data_o: expected output, 64 bits, found output, 32 bits");
}

TEST_F(BuilderTest, AnInputThatNobodyDrives) {
    const auto spec = other([](std::string& text) {
        replace(text, "  input  logic                res_ready_i,\n",
                "  input  logic                res_ready_i,\n  input  logic                "
                "enable_i,\n");
    });
    EXPECT_EQ(
        message_of([&] { cosim::ensure_array(spec, options_); }),
        "top tree_mxu: port enable_i: expected only the inputs of rtl/README.md, found input, "
        "1 bit");
}

TEST_F(BuilderTest, RtlThatVerilatorRefuses) {
    const auto broken = other([](std::string& text) { replace(text, "endmodule", "endmodul"); });
    const std::string message = message_of([&] { cosim::ensure_array(broken, options_); });
    expect_texts(message, {"verilating the 2 x 2 int8 array tree_mxu",
                           "error:   %Error: tree_mxu.sv", "command: verilator", "log:     "});
    const auto at = message.find("log:     ") + 9;
    EXPECT_TRUE(fs::exists(message.substr(at))) << message;

    auto nothing = other([](std::string&) {});
    nothing.other->top = "no_such_top";
    expect_texts(message_of([&] { cosim::ensure_array(nothing, options_); }), {"no_such_top"});
    nothing.other->filelist = folder_ / "nothing.f";
    expect_texts(message_of([&] { cosim::ensure_array(nothing, options_); }),
                 {"nothing.f cannot be read"});
    auto no_parameter = other([](std::string& text) {
        replace(text, "parameter  int unsigned AccDepth", "localparam int unsigned AccDepth");
    });
    expect_texts(message_of([&] { cosim::ensure_array(no_parameter, options_); }), {"AccDepth"});
}

TEST_F(BuilderTest, AFileThatIsUsedButNotNamed) {
    const auto spec = other([](std::string&) {});
    write_text(folder_ / "filelist.f", "tree_accumulators.sv\ntree_mxu.sv\n");
    expect_texts(message_of([&] { cosim::ensure_array(spec, options_); }),
                 {"filelist.f", "tree_column.sv is used but not named"});
}

TEST_F(BuilderTest, ParametersOutOfRange) {
    expect_texts(message_of([&] { cosim::ensure_array({0, 1, 2}, options_); }), {"found 0x1"});
    expect_texts(message_of([&] {
                     cosim::ensure_array({1, 257, 2}, options_);
                 }),
                 {"up to 256x256", "found 1x257"});
    cosim::ArraySpec grid{33, 32, 2};
    grid.form = "grid";
    expect_texts(message_of([&] { cosim::ensure_array(grid, options_); }), {"grid", "1024"});
    cosim::ArraySpec sum4{4, 4, 2};
    sum4.sum4 = true;
    sum4.pipeline = 4;
    expect_texts(message_of([&] { cosim::ensure_array(sum4, options_); }), {"sum4", "bf16"});
}

TEST_F(BuilderTest, SourcesAreKnownThroughListsAndIncludes) {
    fs::create_directories(folder_ / "sub/inc");
    write_text(folder_ / "top.f", "// comment top_comment.sv\n-F sub/more.f\n+define+X=1 top.sv\n");
    write_text(folder_ / "sub/more.f", "+incdir+inc\nsub.sv # rest\n");
    write_text(folder_ / "sub/sub.sv", "`include \"a.svh\"\n");
    write_text(folder_ / "sub/inc/a.svh", "`include \"b.svh\"\n");
    write_text(folder_ / "sub/inc/b.svh", "1\n");
    write_text(folder_ / "top.sv", "module top; endmodule\n");
    write_text(folder_ / "unused.sv", "\n");
    const auto hash = [&] {
        base::Fnv128 hash;
        cosim::RtlSources(folder_ / "top.f").add_to(hash);
        return hash.hex();
    };
    const cosim::RtlSources sources(folder_ / "top.f");
    for (const char* file :
         {"top.f", "sub/more.f", "top.sv", "sub/sub.sv", "sub/inc/a.svh", "sub/inc/b.svh"}) {
        EXPECT_TRUE(sources.contains(folder_ / file)) << file;
        const std::string before = hash();
        const std::string text = read_text(folder_ / file);
        write_text(folder_ / file, text + "\n");
        EXPECT_NE(hash(), before) << file;
        write_text(folder_ / file, text);
        EXPECT_EQ(hash(), before) << file;
    }
    EXPECT_FALSE(sources.contains(folder_ / "unused.sv"));
}

// They would be options of Verilator: -Mdir takes the results to another place.
TEST_F(BuilderTest, AFileListHoldsNoOptionsOfTools) {
    write_text(folder_ / "sub.f", "// options\n\n/* of\n tools */ a.sv -CFLAGS -O0\n");
    struct Mistake {
        const char *text, *line, *word;
    };
    for (const auto& [text, line, word] :
         {Mistake{"a.sv\n-Mdir elsewhere\n", "top.f: line 2", "found -Mdir"},
          Mistake{"--exe a.sv\n", "top.f: line 1", "found --exe"},
          Mistake{"a.sv // comment\n\n\n+notimingchecks", "top.f: line 4", "found +notimingchecks"},
          Mistake{"a.sv\n-f sub.f\n", "sub.f: line 4", "found -CFLAGS"},
          Mistake{"a.sv\n-v", "top.f: line 2", "a name after -v"}}) {
        write_text(folder_ / "top.f", text);
        expect_texts(message_of([&] { cosim::RtlSources(folder_ / "top.f"); }), {line, word});
    }
    auto spec = other([](std::string&) {});
    write_text(folder_ / "filelist.f",
               "-Mdir " + (folder_ / "stolen").string() + "\ntree_mxu.sv\n");
    expect_texts(message_of([&] { cosim::ensure_array(spec, options_); }), {"filelist.f", "-Mdir"});
    EXPECT_FALSE(fs::exists(folder_ / "stolen"));
    write_text(folder_ / "top.f", "+define+A=1 -DB -UC -Wno-WIDTH +libext+.v -sv -I. -y . a.sv\n");
    cosim::RtlSources(folder_ / "top.f");
}

TEST_F(BuilderTest, DeclaredLatenciesAreFormulas) {
    const fs::path file = folder_ / "array.yaml";
    write_text(file,
               "name: x\ncommit_latency: {constant: 3, per_row: 2, per_col: 1, per_log2_row: 10, "
               "per_log2_col: 100}\nweight_interval: 2\ndtypes: [int8, bf16]\n");
    const auto declaration = cosim::read_declaration(file);
    const auto timing = declaration.timing({5, 9, 16});
    EXPECT_EQ(timing.commit_latency, 3u + 10 + 9 + 30 + 400);
    EXPECT_EQ(timing.weight_interval, 2u);
    EXPECT_EQ(timing.weight_latency, 1u);
    EXPECT_EQ(declaration.timing({1, 1, 16}).commit_latency, 3u + 2 + 1);
}

TEST_F(BuilderTest, FormulasDivide) {
    const fs::path file = folder_ / "array.yaml";
    const auto latency = [&](const std::string& formula, const engine::MxuShape& shape) {
        write_text(file, "name: x\ncommit_latency: " + formula + "\ndtypes: [int8]\n");
        return cosim::read_declaration(file).timing(shape).commit_latency;
    };
    EXPECT_EQ(latency("7", {5, 9, 16}), 7u);
    EXPECT_EQ(latency("ceil(rows / 4) + cols + 1", {5, 9, 16}), 12u);
    EXPECT_EQ(latency("ceil(rows / 4) + cols + 1", {8, 9, 16}), 12u);
    EXPECT_EQ(latency("floor(rows/4)*2 + log2ceil(cols)", {7, 9, 16}), 2u + 4);
    EXPECT_EQ(latency("max(rows, cols) - min(2, rows) - -1", {5, 9, 16}), 8u);
    EXPECT_EQ(latency("floor((cols - 20) / 4) + ceil((cols - 20) / 4) + 20", {5, 9, 16}), 15u);
    engine::MxuShape banded{.rows = 7, .cols = 10, .accumulator_rows = 16, .pipeline = 3};
    const auto own = engine::commit_latency(banded);
    EXPECT_EQ(latency("ceil(rows / pipeline) + ceil(cols / pipeline) + 1", banded), own);
}

TEST_F(BuilderTest, ADeclarationWithAMistake) {
    const fs::path file = folder_ / "array.yaml";
    const std::string good = "name: x\ncommit_latency: 3\ndtypes: [int8]\n";
    const auto mistake = [&](const std::string& from, const std::string& to,
                             const std::vector<std::string>& texts) {
        std::string text = good;
        replace(text, from, to);
        write_text(file, text);
        expect_texts(message_of([&] { cosim::read_declaration(file).timing({2, 2, 4}); }), texts);
    };
    mistake("name: x\n", "", {"array.yaml", "name", "nothing"});
    mistake("commit_latency: 3", "commit_latency: soon",
            {"array.yaml", "commit_latency (line 2)", "rows, cols", "column 1", "soon"});
    mistake(
        "commit_latency: 3", "commit_latency: ceil(rows, 2)",
        {"commit_latency (line 2)", "expected / at column 10 of \"ceil(rows, 2)\"", "found \",\""});
    mistake("commit_latency: 3", "commit_latency: 2 rows",
            {"+, -, * or the end at column 3", "rows"});
    mistake("commit_latency: 3", "commit_latency: ceil(4 / (rows - 2))",
            {"commit_latency", "a number from 1", "none for ceil(4 / (rows - 2)) at 2 x 2"});
    mistake("commit_latency: 3", "commit_latency: 999999999 * 999999999", {"none for 999999999"});
    mistake("commit_latency: 3", "commit_latency: " + std::string(30, '(') + "1",
            {"column 21", "at most 20"});
    mistake("commit_latency: 3", "commit_latency: rows - cols", {"a number from 1", "0 for rows"});
    mistake("commit_latency: 3", "commit_latency: " + std::string(201, '1'), {"200 characters"});
    mistake("commit_latency: 3", "commit_latency: {per_pe: 1}",
            {"commit_latency.per_pe (line 2)", "per_row", "unknown key"});
    mistake("commit_latency: 3", "commit_latency: {constant: -3}",
            {"commit_latency", "a number from 1 to 65536", "-3"});
    mistake("dtypes: [int8]", "dtypes: [int9]", {"dtypes (line 3)", "int8 or bf16", "int9"});
    mistake("dtypes: [int8]", "dtypes: int8", {"dtypes", "a list"});
    mistake("dtypes: [int8]", "dtypes: [bf16]", {"dtypes", "bf16", "int8"});
    mistake("dtypes: [int8]", "dtypes: [int8]\nweight_interval: 0",
            {"weight_interval", "from 1", "0"});
    mistake("dtypes: [int8]", "dtypes: [int8", {"array.yaml", "YAML"});
    expect_texts(message_of([&] { cosim::read_declaration(folder_ / "none.yaml"); }),
                 {"none.yaml"});
}

TEST_F(BuilderTest, WhatIsDeclaredIsMeasured) {
    auto spec = other([](std::string&) {});
    const cosim::ArrayLibrary library(cosim::ensure_array(spec, options_));
    EXPECT_STREQ(library.info().form, "other");
    TandemArray* const array = library.create();
    const TandemTap* taps = nullptr;
    EXPECT_EQ(library.taps(array, &taps), 0u) << "its net \"row\" is not that of Tandem's array";
    TandemPeRegisters pe{};
    library.pe(array, 0, 0, &pe);
    EXPECT_EQ(pe.psum, nullptr);
    library.destroy(array);
    cosim::ArrayDeclaration declaration;
    declaration.file = "array.yaml";
    engine::MxuShape shape{2, 2, 4};
    shape.declared = engine::MxuTiming{3, 1, 1};
    cosim::check_declaration(library, shape, declaration);
    shape.declared = engine::MxuTiming{4, 1, 1};
    expect_texts(message_of([&] { cosim::check_declaration(library, shape, declaration); }),
                 {"array.yaml", "declared commit_latency 4", "the RTL took 3"});
    shape.declared = engine::MxuTiming{3, 2, 1};
    expect_texts(message_of([&] { cosim::check_declaration(library, shape, declaration); }),
                 {"declared weight_interval 2", "the RTL took 1"});
    shape.declared = engine::MxuTiming{3, 1, 5};
    expect_texts(message_of([&] { cosim::check_declaration(library, shape, declaration); }),
                 {"declared weight_latency 5", "the RTL took 1"});
}

}  // namespace
}  // namespace tandem::testbench
