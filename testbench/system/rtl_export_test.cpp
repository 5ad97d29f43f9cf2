// SPDX-License-Identifier: Apache-2.0
// Arrays for other benches: each form is exported, built and run as its README says, without
// Tandem; and each bench finds a wrong sum.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ExportTest : public CommandLineTest {
  protected:
    std::filesystem::path array() const { return folder_ / "array"; }
    CommandResult export_as(const std::string& options) const {
        return run("rtl export --output '" + array().string() + "' " + options);
    }
    /// In the exported folder, without anything that names Tandem's files.
    CommandResult shell(const std::string& command) const {
        return CommandLineTest::shell(
            "cd '" + array().string() +
            "' && env -u TANDEM_SOURCE_DIR -u TANDEM_ARRAY_CACHE sh -ec '" + command + "'");
    }
};

#define TANDEM_NEEDS_ICARUS()                                                          \
    do {                                                                               \
        if (std::system("iverilog -V > /dev/null 2>&1") != 0) {                        \
            if (environment("CI") == "true") FAIL() << "iverilog must be there in CI"; \
            GTEST_SKIP() << "iverilog is missing: scripts/setup --developer";          \
        }                                                                              \
    } while (false)

constexpr const char* kIcarus =
    "iverilog -g2012 -s bench -o bench.vvp -f filelist.f bench.sv; vvp -n bench.vvp";

TEST_F(ExportTest, VerilogRunsInIcarus) {
    TANDEM_NEEDS_ICARUS();
    struct Array {
        const char *options, *says;
    };
    for (const Array& a :
         {Array{"--rows 2 --cols 2", "2x2 int8: 0 of 32 sums are wrong"},
          Array{"--rows 3 --cols 3 --dtype bf16", "3x3 bf16: 0 of 48 sums are wrong"},
          Array{"--rows 1 --cols 1 --accumulators 2", "1x1 int8: 0 of 2 sums are wrong"},
          Array{"--rows 6 --cols 3 --dtype bf16 --pipeline 4 --sum4 --accumulators 5",
                "6x3 bf16: 0 of 15 sums are wrong"},
          Array{"--chip test_8x8", "8x8 int8: 0 of 128 sums are wrong"}}) {
        SCOPED_TRACE(a.options);
        expect(export_as(std::string("--as verilog ") + a.options), 0, {"README.md"});
        expect(shell(kIcarus), 0, {a.says});
    }
}

TEST_F(ExportTest, TheVerilogBenchFindsAWrongSum) {
    TANDEM_NEEDS_ICARUS();
    expect(export_as("--as verilog --rows 2 --cols 2"), 0, {});
    change(array() / "rtl" / "tpu_pe.sv", "psum_i + product_o", "psum_i - product_o");
    expect(shell(kIcarus), 1, {"row 0, column 0: expected"});
}

// The bench for vectors and the checker that go with the sources: each finds what is its own.
TEST_F(ExportTest, VectorsAndCheckerInIcarus) {
    TANDEM_NEEDS_ICARUS();
    const std::string sizes = " --rows 2 --cols 3 --accumulators 4";
    expect(run("verify --streams 1 --seed 2 --vectors v.hex" + sizes), 0, {});
    const auto judge = [&](const std::string& defines) {
        return shell("iverilog -g2012 -DTPU_CONTRACT_FATAL " + defines +
                     " -s tpu_vector_bench -Ptpu_vector_bench.Cols=3 -o bench.vvp -f filelist.f "
                     "checks/tpu_port_contract.sv checks/tpu_vector_bench.sv; "
                     "vvp -n bench.vvp +vectors=../v.hex");
    };
    expect(export_as("--as verilog" + sizes), 0, {});
    expect(judge(""), 0, {"2x3 int8: ", "every port as the vectors say"});
    expect(shell("iverilog -g2012 -s tpu_vector_bench -o bench.vvp -f filelist.f checks/*.sv; "
                 "vvp -n bench.vvp +vectors=../v.hex"),
           1, {"the file is for 2 x 3"});
    change(array() / "rtl" / "tpu_accumulators.sv", "!res_valid_o || res_ready_i", "!res_valid_o");
    expect(judge(""), 1, {"rd_ready_o at edge", "expected 1, found 0"});
    expect(judge("-DTPU_CONTRACT_ALONE"), 1, {"RdReady_A: rd_ready_o does not follow"});
    expect(export_as("--as verilog" + sizes), 0, {});
    change(array() / "rtl" / "tpu_pe.sv", "psum_i + product_o", "psum_i - product_o");
    expect(judge("-DTPU_CONTRACT_ALONE"), 0, {});
    expect(judge(""), 1, {"cmt_data_o at edge"});
}

// The one difference to rtl/: Icarus 11 knows no unsigned parameters.
TEST_F(ExportTest, VerilogSourcesAreThoseOfTheArray) {
    expect(export_as("--as verilog --rows 2 --cols 2"), 0, {});
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(array() / "rtl")) {
        const auto original = source_dir() / "rtl" / entry.path().filename();
        if (entry.path().filename() == "tpu_mxu_2x2_int8.sv") continue;
        std::istringstream ours(read_text(original)), theirs(read_text(entry.path()));
        std::string our, their;
        while (std::getline(ours, our)) {
            ASSERT_TRUE(std::getline(theirs, their)) << original;
            if (our == their) continue;
            const auto at = our.find("int unsigned");
            ASSERT_NE(at, std::string::npos) << our << '\n' << their;
            EXPECT_EQ(our.replace(at, 12, "int"), their);
        }
        EXPECT_FALSE(std::getline(theirs, their)) << original;
        ++files;
    }
    EXPECT_EQ(files, 12u);
    expect(shell("verilator --lint-only -Wno-fatal --top-module tpu_mxu_2x2_int8 -f filelist.f"), 0,
           {});
}

TEST_F(ExportTest, SystemCModuleWithPins) {
    const std::string build = "cmake -B build; cmake --build build -j2; build/bench";
    expect(export_as("--as systemc --rows 2 --cols 3 --form grid"), 0, {});
    change(array() / "rtl" / "tpu_pe.sv", "psum_i + product_o", "psum_i - product_o");
    expect(shell(build), 1, {"row 0, column 0: expected"});
    // Exported again over it. Of two accumulator rows the address is one bit, a bool.
    expect(export_as("--as systemc --rows 2 --cols 3 --accumulators 2"), 0, {});
    expect(shell(build), 0, {"2x3 int8: 0 of 6 sums are wrong"});
}

TEST_F(ExportTest, CLibrary) {
    expect(export_as("--as c --rows 2 --cols 2"), 0, {});
    expect(shell("make; ./bench; ldd bench"), 0,
           {"2x2 int8: 0 of 32 sums are wrong", "libtandem_array_int8_2x2.so"});
    expect(export_as("--as c --rows 3 --cols 3 --dtype bf16"), 0, {});
    EXPECT_EQ(shell("ls lib*").output, "libtandem_array_bf16_3x3.so\n") << "the other one is gone";
    expect(shell("make; ./bench"), 0, {"3x3 bf16: 0 of 48 sums are wrong"});
}

TEST_F(ExportTest, CLibraryOfAnotherArray) {
    for (const auto& entry :
         std::filesystem::directory_iterator(source_dir() / "rtl" / "adder_tree"))
        std::filesystem::copy_file(entry.path(), folder_ / entry.path().filename());
    const std::string options = "--as c --rows 4 --cols 2 --rtl '" +
                                (folder_ / "filelist.f").string() + "' --rtl-top tree_mxu";
    expect(export_as(options), 0, {});
    expect(shell("make; ./bench"), 0, {"4x2 int8: 0 of 32 sums are wrong"});
    change(folder_ / "tree_column.sv", "node_q[2*n] + node_q[2*n+1]",
           "node_q[2*n] | node_q[2*n+1]");
    expect(export_as(options), 0, {});
    expect(shell("make -B; ./bench"), 1, {"expected"});
}

TEST_F(ExportTest, AFolderOfSomebodyElseIsLeftAlone) {
    std::filesystem::create_directory(array());
    expect(export_as("--as verilog"), 0, {});
    write_text(array() / "notes.txt", "mine");
    expect(export_as("--as verilog"), 0, {});
    EXPECT_EQ(read_text(array() / "notes.txt"), "mine");
    std::filesystem::remove(array() / ".tandem_export");
    expect(export_as("--as verilog"), 2, {"array: --output", "a folder with other files"});
    std::filesystem::remove_all(array());
    write_text(array(), "");
    expect(export_as("--as verilog"), 2, {"expected a folder, found a file"});
    EXPECT_TRUE(std::filesystem::is_regular_file(array()));
}

TEST_F(ExportTest, MistakesOfTheCommandLine) {
    expect(run("rtl export --as verilog"), 2, {"--output"});
    expect(run("rtl export --output x"), 2, {"--as"});
    expect(export_as("--as vhdl"), 2, {"vhdl"});
    expect(export_as("--as verilog --sum4"), 2, {"--sum4", "bf16"});
    expect(export_as("--as systemc --rtl x.f --rtl-top y"), 2, {"--rtl", "expected c"});
    EXPECT_FALSE(std::filesystem::exists(array()));
    expect(run("rtl export --as verilog --output /proc/nothing"), 2, {"/proc/nothing"});
}

}  // namespace
}  // namespace tandem::testbench
