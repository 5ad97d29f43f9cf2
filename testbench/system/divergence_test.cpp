// SPDX-License-Identifier: Apache-2.0
// Upsets injected into the RTL of a whole run: caught, located, shown.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class DivergenceTest : public CommandLineTest {
  protected:
    /// "pe[3][4].psum:bit7@cycle=99" from the report's own fields.
    static std::string located(const nlohmann::json& d) {
        return "pe[" + std::to_string(d["pe_row"].get<int>()) + "][" +
               std::to_string(d["pe_col"].get<int>()) + "]." + d["pe_register"].get<std::string>() +
               " cycle " + std::to_string(d["pe_cycle"].get<uint64_t>());
    }
    static std::string injected(const std::string& text) {
        const auto colon = text.find(':'), equals = text.find('=');
        return text.substr(0, colon) + " cycle " + text.substr(equals + 1);
    }
};

TEST_F(DivergenceTest, AHundredSeededInjectionsAreCaughtAtTheirPlaceOrChangeNothing) {
    int caught = 0;
    for (int seed = 0; seed < 100; ++seed) {
        const auto result =
            run_with_report(digits() + "--host native --count 3 --backend tandem --inject seed=" +
                            std::to_string(seed));
        ASSERT_TRUE(result.report.contains("injected")) << "seed " << seed << "\n" << result.output;
        const std::string where = result.report["injected"];
        if (result.report.contains("first_divergence")) {
            ++caught;
            EXPECT_EQ(result.status, 1) << "seed " << seed;
            EXPECT_EQ(located(result.report["first_divergence"]), injected(where))
                << "seed " << seed;
        } else {
            // Not reported: then no output may have changed, seen by the RTL alone.
            EXPECT_EQ(result.status, 0) << "seed " << seed << "\n" << result.output;
            const auto alone = run_with_report(
                digits() + "--host native --count 3 --backend rtl --inject '" + where + "'");
            EXPECT_EQ(alone.report["checks"]["mismatches"], 0) << "seed " << seed << " " << where;
        }
    }
    EXPECT_GE(caught, 60) << "the injections are meant to hit working PEs";
    RecordProperty("caught", caught);
}

TEST_F(DivergenceTest, TheReportNamesEverythingAndTheCommandRepeatsIt) {
    const auto first =
        run_with_report(digits() + "--host riscv --count 2 --backend tandem --inject seed=3");
    ASSERT_EQ(first.status, 1) << first.output;
    const auto& d = first.report["first_divergence"];
    for (const char* key :
         {"instruction", "node", "tile", "output_row", "output_col", "k_step", "pe_row", "pe_col",
          "cycle_tlm", "cycle_rtl", "expected", "actual", "seed", "rerun", "wave", "gtkw"})
        EXPECT_TRUE(d.contains(key) && !d[key].is_null()) << key;
    EXPECT_NE(d["expected"], d["actual"]);
    std::string command = d["rerun"];
    ASSERT_TRUE(command.starts_with("tandem "));
    const auto again = run_with_report(command.substr(7));
    ASSERT_EQ(again.status, 1) << again.output;
    for (const char* key : {"instruction", "output_row", "output_col", "pe_row", "pe_col",
                            "pe_cycle", "cycle_tlm", "expected", "actual"})
        EXPECT_EQ(again.report["first_divergence"][key], d[key]) << key;
}

TEST_F(DivergenceTest, TheWindowHoldsRtlAndModelSignalsAroundTheMarker) {
    const auto result =
        run_with_report(digits() + "--host native --count 2 --backend tandem --inject seed=3");
    ASSERT_EQ(result.status, 1) << result.output;
    const auto& d = result.report["first_divergence"];
    const uint64_t from = d["wave_window"]["from_cycle"], to = d["wave_window"]["to_cycle"];
    EXPECT_LE(from, d["pe_cycle"]);
    EXPECT_GE(to, d["cycle_rtl"]);
    EXPECT_LE(to - from, 1000u);
    const std::string wave = d["wave"], gtkw = d["gtkw"];
    ASSERT_EQ(std::system(
                  ("cd '" + folder_.string() + "' && fst2vcd " + wave + " > wave.vcd 2> /dev/null")
                      .c_str()),
              0);
    const std::string vcd = read_text(folder_ / "wave.vcd");
    for (const char* signal : {"act_data_i", "cmt_data_o", "psum_known", "instruction",
                               "queue_depth", "scope module model", "scope module pe"})
        EXPECT_NE(vcd.find(signal), std::string::npos) << signal;
    const std::string save = read_text(folder_ / gtkw);
    EXPECT_NE(save.find("expected.r"), std::string::npos);
    EXPECT_NE(save.find("model.mxu.instruction"), std::string::npos);
}

TEST_F(DivergenceTest, NoDivergenceNoWave) {
    const auto result = run(digits() + "--host native --count 2 --backend tandem");
    EXPECT_EQ(result.status, 0) << result.output;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
        EXPECT_NE(entry.path().extension(), ".fst") << entry.path();
}

TEST_F(DivergenceTest, InjectionsOnTheLargeArrayAreLocatedToo) {
    for (int seed = 0; seed < 1; ++seed) {
        const auto result = run_with_report(
            digits() + "--chip tpu_v1 --host native --count 1 --backend tandem --inject seed=" +
            std::to_string(seed));
        ASSERT_TRUE(result.report.contains("injected")) << result.output;
        if (result.report.contains("first_divergence"))
            EXPECT_EQ(located(result.report["first_divergence"]),
                      injected(result.report["injected"]))
                << "seed " << seed;
        else
            EXPECT_EQ(result.status, 0) << result.output;
    }
}

TEST_F(DivergenceTest, AVerifyStreamFindsAnUpsetAndRepeatsIt) {
    const auto result =
        run("verify --rows 8 --cols 8 --accumulators 256 --streams 2 --seed 7 --inject "
            "'pe[3][4].psum:bit7@cycle=150'");
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_NE(result.output.find("PE row 3, column 4, register psum, cycle 150"), std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find("again: tandem verify"), std::string::npos);
}

}  // namespace
}  // namespace tandem::testbench
