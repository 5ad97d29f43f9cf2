// SPDX-License-Identifier: Apache-2.0
// --requantise and verify --unit requantise through the command line: RTL behind the vector unit
// changes no byte and no cycle, and what is wrong with it is named.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

namespace fs = std::filesystem;

class RequantiseCommandTest : public CommandLineTest {
  protected:
    /// A source tree with a copy of the RTL, one text of it changed.
    std::string tree_with(const char* file, const std::string& from, const std::string& to) const {
        const fs::path tree = folder_ / "tree";
        fs::create_directory(tree);
        for (const auto& entry : fs::directory_iterator(fs::absolute(source_dir())))
            if (entry.path().filename() != "rtl" && entry.path().filename() != "build")
                fs::create_symlink(entry.path(), tree / entry.path().filename());
        fs::copy(source_dir() / "rtl", tree / "rtl", fs::copy_options::recursive);
        change(tree / "rtl" / file, from, to);
        return "TANDEM_SOURCE_DIR='" + tree.string() + "' \"$TANDEM_BINARY\" ";
    }
};

TEST_F(RequantiseCommandTest, ANetworkHasTheSameBytesAndCycles) {
    for (const char* rounding : {"single", "gemmlowp"}) {
        const std::string arguments = digits() + "--count 20 --host native --rounding " + rounding;
        const auto model = run_with_report(arguments + " --output tlm.bin");
        expect(model, 0, {});
        EXPECT_EQ(model.report["requantise"], "tlm");
        for (const char* kind : {"rtl", "tandem"}) {
            const auto result =
                run_with_report(arguments + " --output rtl.bin --requantise " + kind);
            expect(result, 0, {});
            EXPECT_EQ(result.report["requantise"], kind);
            EXPECT_EQ(result.report["cycles"], model.report["cycles"]);
            EXPECT_EQ(result.report["units"], model.report["units"]);
            EXPECT_EQ(result.report["checks"]["values_requantised"] > 0,
                      std::string(kind) == "tandem");
            EXPECT_EQ(read_text(folder_ / "rtl.bin"), read_text(folder_ / "tlm.bin"));
        }
    }
}

TEST_F(RequantiseCommandTest, ArrayAndRequantisationAreComparedTogether) {
    expect(run(digits() + "--count 2 --backend tandem --requantise tandem"), 0,
           {"model and RTL agree", "requantisation agrees"});
    expect(run("gemm 20 30 40 --requantise tandem"), 0, {"requantisation agrees"});
    expect(run("gemm 20 30 40 --arrays all --chip edge_tpu --requantise rtl"), 0, {});
}

TEST_F(RequantiseCommandTest, AFaultIsNamedWithItsOperands) {
    const auto result =
        shell(tree_with("tpu_requantise_pkg.sv", "(fixed[26] || fixed[24:0] != 25'd0)", "1'b0") +
              digits() + "--count 5 --host native --requantise tandem --json report.json");
    expect(result, 1,
           {"model and RTL part (value)", "activation", "unit requantise", "note", "accumulator",
            "multiplier fp32", "--requantise tandem"});
    const auto report = nlohmann::json::parse(read_text(folder_ / "report.json"));
    EXPECT_EQ(mistakes_of(report, "report"), "");
    EXPECT_EQ(report["first_divergence"]["unit"], "requantise");
    EXPECT_EQ(report["first_divergence"]["signal"], "out_data_o");
    EXPECT_TRUE(report["first_divergence"]["node"].is_object());
}

TEST_F(RequantiseCommandTest, VerifyReportsWhatItDid) {
    const std::string unit = "verify --unit requantise --cols 5 --lanes 2 --streams 3";
    const auto good = run_with_report(unit);
    expect(good, 0, {"requantise, 5 columns, 2 lanes: 3 streams (seeds 0 to 2)"});
    EXPECT_EQ(good.report["streams"], 3);
    EXPECT_GT(good.report["stalls"], 100);
    const auto bad = shell(tree_with("tpu_requantise.sv", "assign row_ready_o = rst_ni && advance",
                                     "assign row_ready_o = rst_ni && row_valid_i && advance") +
                           unit + " --json report.json");
    expect(bad, 1,
           {"row_ready_o: expected 1, RTL has 0", "again: tandem verify --unit requantise"});
    const auto report = nlohmann::json::parse(read_text(folder_ / "report.json"));
    EXPECT_EQ(mistakes_of(report, "verify"), "");
    EXPECT_EQ(report["first_divergence"]["kind"], "port");
}

TEST_F(RequantiseCommandTest, MistakesAreRefused) {
    expect(run(digits() + "--count 1 --requantise rtl --set vector.latency=6cycles"), 2,
           {"vector.latency", "at least 7 cycles"});
    expect(run("gemm 8 8 8 --mode timing --requantise rtl"), 2, {"--requantise tlm only"});
    expect(run("verify --unit requantise --rows 4"), 2, {"--rows"});
    expect(run("verify --unit requantise --cols 4 --lanes 5"), 2, {"1 to 4 lanes"});
    expect(run("verify --lanes 5"), 2, {"--lanes"});
}

}  // namespace
}  // namespace tandem::testbench
