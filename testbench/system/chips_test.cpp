// SPDX-License-Identifier: Apache-2.0
// tandem chips, and --set on every command that names a chip: what a user sees of the figures.
#include <regex>
#include <sstream>
#include <vector>

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ChipsTest : public CommandLineTest {
  protected:
    static std::string model() {
        return (source_dir() / "models/digits/digits_int8.tflite").string();
    }
    nlohmann::json chip(const std::string& arguments) {
        const auto result = run("chips --json " + arguments);
        EXPECT_EQ(result.status, 0) << result.output;
        return nlohmann::json::parse(result.output, nullptr, false);
    }
    void expect_mistake(const std::string& arguments, const std::string& text) {
        const auto result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        EXPECT_NE(result.output.find(text), std::string::npos)
            << arguments << "\nexpected \"" << text << "\" in\n"
            << result.output;
    }
    /// Keys of the table that --figures prints.
    std::vector<std::string> keys() {
        std::vector<std::string> keys;
        std::stringstream table(run("chips --figures").output);
        for (std::string line; std::getline(table, line);)
            if (line.starts_with("| `")) keys.push_back(line.substr(3, line.find('`', 3) - 3));
        EXPECT_GT(keys.size(), 30u);
        return keys;
    }
    /// A table of one product of a list of layers.
    std::string layers() {
        write_text(folder_ / "net.csv",
                   "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
                   "Num Filter, Strides,\nfc, 1, 1, 1, 1, 256, 1000, 1,\n");
        return "net.csv";
    }
};

TEST_F(ChipsTest, JsonHasEveryFigureOfTheTable) {
    const auto json = chip("tpu_v4i");
    for (const std::string& path : keys()) {
        const size_t dot = path.find('.');
        const auto& section = dot == std::string::npos ? json : json.at(path.substr(0, dot));
        const std::string key = dot == std::string::npos ? path : path.substr(dot + 1);
        bool found = false;
        for (const auto& [name, value] : section.items()) found |= name.starts_with(key);
        EXPECT_TRUE(found) << path;
    }
}

TEST_F(ChipsTest, JsonHasTheUnitInTheKey) {
    const auto json = chip("tpu_v4i");
    EXPECT_EQ(json["clock_hz"], 1050000000);
    EXPECT_EQ(json["cores"], 1);
    EXPECT_EQ(json["mxu"]["count"], 4);
    EXPECT_EQ(json["mxu"]["dtype"], "bf16");
    EXPECT_EQ(json["mxu"]["sum4"], true);
    EXPECT_EQ(json["unified_buffer_bytes"], 16777216);
    EXPECT_EQ(json["memory"]["size_bytes"], 8589934592);
    EXPECT_EQ(json["memory"]["bandwidth_bytes_per_second"], 614000000000);
    EXPECT_EQ(json["memory"]["latency_ps"], 300000);
    EXPECT_EQ(json["memory"]["efficiency_percent"], 90);
    EXPECT_EQ(json["buffer_ports"]["read_bytes_per_cycle"], 0);
    EXPECT_EQ(json["vector"]["latency_cycles"], 16);
    EXPECT_EQ(json["published"]["peak_ops_per_second"], 138000000000000);
    EXPECT_TRUE(json["published"]["ridge_ops_per_byte"].is_null()) << "not published";
    EXPECT_EQ(json["arrays"], 4);
    EXPECT_TRUE(json["overrides"].empty());
}

TEST_F(ChipsTest, TextHasEveryFigureAsAFileWritesIt) {
    const auto result = run("chips tpu_v1");
    ASSERT_EQ(result.status, 0) << result.output;
    for (const std::string& path : keys())
        if (path != "name" && path != "description" && !path.starts_with("published.")) {
            EXPECT_NE(result.output.find("\n  " + path + " "), std::string::npos) << path;
        }
    for (const char* text : {"700 MHz", "34 GB/s", "24 MiB", "256 B/cycle", "3675 ns",
                             "(published: 92 TOPS)", "(published: 2700 ops/byte)"})
        EXPECT_NE(result.output.find(text), std::string::npos) << text << "\n" << result.output;
}

TEST_F(ChipsTest, SetChangesFigureHashAndPeakButNotTheName) {
    const auto before = chip("tpu_v4i"),
               after = chip("tpu_v4i --set mxu.count=2 --set memory.bandwidth=1200GB/s");
    EXPECT_EQ(after["mxu"]["count"], 2);
    EXPECT_EQ(after["memory"]["bandwidth_bytes_per_second"], 1200000000000);
    EXPECT_EQ(after["name"], "tpu_v4i");
    EXPECT_NE(after["hash"], before["hash"]);
    EXPECT_EQ(2 * after["peak_ops_per_second"].get<double>(),
              before["peak_ops_per_second"].get<double>());
    EXPECT_EQ(after["overrides"],
              nlohmann::json::array({"mxu.count=2", "memory.bandwidth=1200GB/s"}));
}

TEST_F(ChipsTest, BothPeaksAreShownOfAChipThatHasInt8Too) {
    const auto text = run("chips tpu_v5e").output;
    EXPECT_NE(text.find("196.608 TOPS (published: 197 TOPS)"), std::string::npos) << text;
    EXPECT_NE(text.find("393.216 TOPS (published: 393 TOPS), as arrays of 256x128"),
              std::string::npos)
        << text;
    const auto v5e = chip("tpu_v5e"), v2 = chip("tpu_v2"), v1 = chip("tpu_v1");
    EXPECT_EQ(v5e["mxu"]["int8_rate"], 2);
    EXPECT_EQ(v5e["peak_int8_ops_per_second"].get<double>(),
              2 * v5e["peak_ops_per_second"].get<double>());
    EXPECT_EQ(v5e["published"]["peak_int8_ops_per_second"], 393000000000000);
    EXPECT_TRUE(v2["peak_int8_ops_per_second"].is_null()) << "it has none";
    EXPECT_EQ(v1["peak_int8_ops_per_second"], v1["peak_ops_per_second"]);
    EXPECT_EQ(run("chips tpu_v2").output.find("peak in int8"), std::string::npos);
    EXPECT_EQ(run("chips tpu_v1").output.find("peak in int8"), std::string::npos);
}

TEST_F(ChipsTest, AProgramRunsInTheElementTypeItIsFor) {
    ASSERT_EQ(run("compile " + model() + " --chip tpu_v5e -o p.tpu").status, 0);
    const auto compiled = run_with_report("run p.tpu --host native --chip tpu_v5e --seed 3"),
               direct =
                   run_with_report("run " + model() + " --host native --chip tpu_v5e --seed 3");
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    EXPECT_EQ(compiled.report["array"]["dtype"], "int8");
    EXPECT_EQ(compiled.report["cycles"], direct.report["cycles"]);
    expect_mistake("run p.tpu --chip tpu_v5e --set mxu.int8_rate=0", "p.tpu: chip figures");
    expect_mistake("run p.tpu --chip tpu_v5e --set mxu.int8_rate=1", "p.tpu: chip figures");
    expect_mistake("run p.tpu --chip tpu_v5p", "p.tpu: chip figures");
}

TEST_F(ChipsTest, AListTakesTheTypeThatIsAskedFor) {
    const std::string list = "run " + layers() + " --chip tpu_v5e";
    const auto own = run_with_report(list), bf16 = run_with_report(list + " --dtype bf16"),
               int8 = run_with_report(list + " --dtype int8 --mode functional --seed 4");
    ASSERT_EQ(int8.status, 0) << int8.output;
    EXPECT_EQ(own.report["array"]["dtype"], "bf16") << "the chip's own";
    EXPECT_EQ(own.report["cycles"], bf16.report["cycles"]);
    EXPECT_EQ(int8.report["array"]["dtype"], "int8");
    EXPECT_EQ(int8.report["array"]["rows"], 256);
    EXPECT_EQ(own.report["weight_tiles"], 2 * 8) << "256 x 1000 in tiles of 128 x 128";
    EXPECT_EQ(int8.report["weight_tiles"], 8) << "in tiles of 256 x 128";
    EXPECT_EQ(int8.report["checks"]["mismatches"], 0);
    EXPECT_GT(int8.report["checks"]["compared"], 0);
}

TEST_F(ChipsTest, SetIsCheckedOnEveryCommandThatNamesAChip) {
    const std::string message =
        "--set: mxu.cuont: expected a key of a chip (nearest: mxu.count), found an unknown key";
    for (const std::string& command :
         {"run " + model(), "run " + layers(), "compile " + model() + " -o p.tpu",
          std::string("gemm 4 4 4"), std::string("gemm 4 4 4 --mode timing --arrays all"),
          std::string("verify --chip test_8x8"), std::string("rtl build --chip test_8x8"),
          std::string("chips test_8x8")}) {
        expect_mistake(command + " --set mxu.cuont=2", message);
        expect_mistake(command + " --set mxu.rows=1025",
                       "--set: mxu.rows: expected a value from 1 to 1024, found 1025");
        expect_mistake(command + " --set mxu.sum4=true",
                       "--set: mxu.sum4: expected false, or dtype bf16");
        expect_mistake(command + " --set mxu.rows", "expected KEY=VALUE");
    }
}

TEST_F(ChipsTest, SetWithoutAChipIsAMistake) {
    expect_mistake("verify --set mxu.rows=4", "--set: mxu.rows=4: expected --chip");
    expect_mistake("rtl build --set mxu.rows=4", "--set: mxu.rows=4: expected --chip");
    expect_mistake("chips --set mxu.rows=4", "--set: mxu.rows=4: expected NAME");
}

TEST_F(ChipsTest, AnUnknownKeyOfAFileNamesTheNearest) {
    std::string text = read_text(source_dir() / "arch/chips/test_8x8.yaml");
    text.replace(text.find("lanes:"), 6, "lnaes:");
    write_text(folder_ / "chip.yaml", text);
    expect_mistake("chips chip.yaml",
                   "one of: lanes, latency, fixed_pipeline, transcendental_lanes, drain_lanes "
                   "(nearest: lanes)");
}

TEST_F(ChipsTest, ARunOnAChangedChipIsThatOnAFileWithTheChange) {
    std::string text = read_text(source_dir() / "arch/chips/test_16x16.yaml");
    const std::string from = "lanes: 16";
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), "lanes: 4");
    write_text(folder_ / "chip.yaml", text);
    const auto plain = run_with_report(digits() + "--count 2 --host native"),
               file = run_with_report(digits() + "--count 2 --host native --chip chip.yaml"),
               set = run_with_report(digits() + "--count 2 --host native --set vector.lanes=4");
    ASSERT_EQ(set.status, 0) << set.output;
    EXPECT_EQ(set.report["cycles"], file.report["cycles"]);
    EXPECT_NE(set.report["cycles"], plain.report["cycles"]);
    EXPECT_EQ(set.report["chip"], "test_16x16");
    EXPECT_EQ(set.report["chip_overrides"], nlohmann::json::array({"vector.lanes=4"}));
    EXPECT_EQ(plain.report["chip_overrides"], nlohmann::json::array());
}

TEST_F(ChipsTest, AListOfLayersRunsOnAChangedChip) {
    const std::string list = "run " + layers() + " --chip tpu_v4i";
    const auto four = run_with_report(list), one = run_with_report(list + " --set mxu.count=1");
    ASSERT_EQ(one.status, 0) << one.output;
    EXPECT_NE(one.report["cycles"], four.report["cycles"]);
    EXPECT_EQ(one.report["chip_overrides"], nlohmann::json::array({"mxu.count=1"}));
}

TEST_F(ChipsTest, AProgramForAChangedChipRunsOnThatChipAlone) {
    const std::string set = " --set vector.lanes=4";
    ASSERT_EQ(run("compile " + model() + set + " -o p.tpu").status, 0);
    EXPECT_EQ(run("run p.tpu --host native" + set).status, 0);
    expect_mistake("run p.tpu --host native", "p.tpu");
}

TEST_F(ChipsTest, AMistakeOfTheRtlOnAChangedChipIsFoundAgainByTheCommandThatIsPrinted) {
    const std::string chip = " --chip test_8x8 --set 'clock=1 GHz' --set mxu.accumulator_rows=128";
    for (const std::string& command :
         {"gemm 20 20 20 --host native --backend tandem" + chip, "verify --streams 2" + chip,
          "run " + model() + " --host native --backend tandem" + chip}) {
        // A flip may be one that changes no sum.
        std::smatch found;
        std::string output;
        for (int seed = 1; seed <= 8 && found.empty(); ++seed) {
            output = run(command + " --inject seed=" + std::to_string(seed)).output;
            std::regex_search(output, found, std::regex("again:? +tandem (.*)"));
        }
        ASSERT_FALSE(found.empty()) << command << "\n" << output;
        const std::string printed = found[1];
        EXPECT_NE(printed.find(chip), std::string::npos) << printed;
        const auto again = run(printed);
        EXPECT_EQ(again.status, 1) << printed << "\n" << again.output;
    }
}

}  // namespace
}  // namespace tandem::testbench
