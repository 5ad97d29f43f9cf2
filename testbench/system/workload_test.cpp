// SPDX-License-Identifier: Apache-2.0
// tandem run with lists of layers: what it says of them, the counts of a bare array, and the
// mistakes that end with exit status 2.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

constexpr const char* kTable =
    "Layer, M, N, K\n"
    "first, 20, 8, 8\n"
    "second, 5, 17, 30\n";

class WorkloadTest : public CommandLineTest {
  protected:
    WorkloadTest() { table(kTable); }

    void table(const std::string& text) const { write_text(folder_ / "x.csv", text); }
    void expect_mistake(const std::string& arguments, const std::vector<std::string>& texts) {
        const auto result = run("run " + arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        for (const auto& text : texts)
            EXPECT_NE(result.output.find(text), std::string::npos)
                << "missing \"" << text << "\" in\n"
                << result.output;
    }
    void expect_table_mistake(const std::string& text, const std::vector<std::string>& texts) {
        table(text);
        expect_mistake("x.csv --chip test_8x8", texts);
    }
};

// Its layers have no constants, so that all of its values are known; what the host gets is less
// than its output all the same.
TEST_F(WorkloadTest, TheDumpOfAnApplicationRunsAsTheApplicationDoes) {
    write_text(folder_ / "a.yaml",
               "name: net\nbatch: 2\nactivation_bits: 8\nhost: {input: 36, output: 11}\nlayers:\n"
               "  - {vector: gate, elements: 41}\n  - {pool: last, elements: 41}\n");
    const auto list = run_with_report("run a.yaml --chip test_8x8");
    ASSERT_EQ(list.status, 0) << list.output;
    ASSERT_EQ(run("compile a.yaml --chip test_8x8 --dump d").status, 0);
    const auto dump = run_with_report("run d/graph.tgraph --chip test_8x8");
    ASSERT_EQ(dump.status, 0) << dump.output;
    EXPECT_EQ(dump.report["cycles"], list.report["cycles"]);
    const auto compiled = run("compile d/graph.tgraph --chip test_8x8 -o p.tpu");
    EXPECT_EQ(compiled.status, 2);
    EXPECT_NE(compiled.output.find("host_output_bytes"), std::string::npos) << compiled.output;
}

TEST_F(WorkloadTest, TheReportSaysWhatTheChipDid) {
    const auto result = run_with_report("run x.csv --chip tpu_v1");
    ASSERT_EQ(result.status, 0) << result.output;
    const auto& report = result.report;
    EXPECT_EQ(report["chip"], "tpu_v1");
    EXPECT_EQ(report["backend"], "tlm");
    EXPECT_EQ(report["mode"], "timing");
    EXPECT_EQ(report["timing"], "chip");
    EXPECT_EQ(report["model"], "x.csv");
    EXPECT_EQ(report["batch"], 1);
    EXPECT_EQ(report["macs"], 20 * 8 * 8 + 5 * 17 * 30);
    EXPECT_EQ(report["weight_tiles"], 2);
    EXPECT_TRUE(report["laws_broken"].empty());
    const auto cycles = report["cycles"].get<double>();
    EXPECT_GT(cycles, 0);
    EXPECT_NEAR(report["time_ns"].get<double>(), cycles / 0.7, 1) << "ns at 700 MHz";
    EXPECT_NEAR(report["utilization"].get<double>(), 3830 / (cycles * 256 * 256), 1e-9);
    EXPECT_GE(report["traffic"]["memory_read"], 2 * 65536 + 20 * 8 + 5 * 30);
    EXPECT_EQ(report["traffic"]["memory_write"], 20 * 8 + 5 * 17);
    EXPECT_EQ(report["traffic"]["host_to_chip"], 0);
    EXPECT_EQ(report["traffic"]["chip_to_host"], 0);
    EXPECT_GE(report["host"]["wall_seconds"], 0.0);
    EXPECT_GT(report["host"]["peak_rss_bytes"], 0);
    EXPECT_EQ(report["units"].size(), 6u);
    for (const char* unit : {"dma_in", "dma_out", "weights", "mxu", "vector", "sequencer"}) {
        uint64_t sum = 0;
        for (const auto& [cause, count] : report["units"]["core0." + std::string(unit)].items())
            sum += count.get<uint64_t>();
        EXPECT_EQ(sum, report["cycles"]) << unit;
    }
}

TEST_F(WorkloadTest, TheReportNamesTheLayers) {
    const auto result = run_with_report("run x.csv --chip test_8x8");
    ASSERT_EQ(result.status, 0) << result.output;
    const auto& layers = result.report["layers"];
    ASSERT_EQ(layers.size(), 2u);
    EXPECT_EQ(layers[1]["index"], 1);
    EXPECT_EQ(layers[1]["name"], "second");
    EXPECT_EQ(layers[1]["where"], "x.csv:3");
    EXPECT_EQ(layers[1]["m"], 5);
    EXPECT_EQ(layers[1]["k"], 30);
    EXPECT_EQ(layers[1]["n"], 17);
    EXPECT_EQ(layers[1]["groups"], 1);
    EXPECT_EQ(layers[1]["repeat"], 1);
    EXPECT_EQ(layers[1]["macs"], 5 * 17 * 30);
    EXPECT_EQ(layers[1]["input_elements"], 150);
    EXPECT_EQ(layers[1]["output_elements"], 85);
    EXPECT_EQ(layers[0]["cycles"].get<uint64_t>() + layers[1]["cycles"].get<uint64_t>(),
              result.report["cycles"]);
}

TEST_F(WorkloadTest, SeveralCoresAndArraysAreAllThere) {
    const auto result = run_with_report("run x.csv --chip tpu_v3");
    ASSERT_EQ(result.status, 0) << result.output;
    for (const char* unit :
         {"core0.mxu", "core0.mxu1", "core1.mxu", "core1.mxu1", "core1.weights1"})
        EXPECT_TRUE(result.report["units"].contains(unit)) << unit;
    EXPECT_EQ(result.report["macs"], 3830);
}

// T (2R + C + m - 2) - 1 and 2R + C + m + (T - 1) max(m, R + 1) on 8 x 8.
TEST_F(WorkloadTest, ScalesimCountsAreThoseByHand) {
    const auto result = run_with_report("run x.csv --chip test_8x8 --timing scalesim-ws");
    ASSERT_EQ(result.status, 0) << result.output;
    const auto& report = result.report;
    EXPECT_EQ(report["timing"], "scalesim-ws");
    EXPECT_EQ(report["layers"][0]["cycles"], 1 * (16 + 8 + 20 - 2) - 1);
    EXPECT_EQ(report["layers"][0]["double_buffered_cycles"], 16 + 8 + 20);
    // 4 tiles of K times 3 of N.
    EXPECT_EQ(report["layers"][1]["cycles"], 12 * (16 + 8 + 5 - 2) - 1);
    EXPECT_EQ(report["layers"][1]["double_buffered_cycles"], 16 + 8 + 5 + 11 * 9);
    EXPECT_EQ(report["cycles"], 41 + 323);
    EXPECT_EQ(report["double_buffered_cycles"], 44 + 128);
    EXPECT_EQ(report["macs"], 3830);
    EXPECT_NEAR(report["time_ns"].get<double>(), (41 + 323) * 2.0, 1e-6) << "ns at 500 MHz";
}

TEST_F(WorkloadTest, ScalesimCountsOfAConvolution) {
    table(
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
        "Num Filter, Strides,\nconv, 10, 9, 3, 3, 4, 12, 2,\n");
    const auto result = run_with_report("run x.csv --chip test_8x8 --timing scalesim-ws");
    ASSERT_EQ(result.status, 0) << result.output;
    const auto& layer = result.report["layers"][0];
    // ceil((10 - 3) / 2) + 1 = 5 high, (9 - 3) / 2 + 1 = 4 wide.
    EXPECT_EQ(layer["m"], 20);
    EXPECT_EQ(layer["k"], 36);
    EXPECT_EQ(layer["n"], 12);
    EXPECT_EQ(layer["cycles"], 5 * 2 * (16 + 8 + 20 - 2) - 1);
    EXPECT_EQ(layer["double_buffered_cycles"], 16 + 8 + 20 + 9 * 20);
}

TEST_F(WorkloadTest, TheRtlConfirmsOurCount) {
    const auto result =
        run_with_report("run x.csv --chip test_8x8 --timing scalesim-ws --backend rtl");
    ASSERT_EQ(result.status, 0) << result.output;
    const auto& rtl = result.report["rtl"];
    ASSERT_EQ(rtl.size(), 2u);
    EXPECT_EQ(rtl[0]["rtl"], 44);
    EXPECT_EQ(rtl[1]["rtl"], 128);
    EXPECT_EQ(result.report["backend"], "rtl");
}

TEST_F(WorkloadTest, BatchMultipliesTheRows) {
    const auto result = run_with_report("run x.csv --chip test_8x8 --batch 3");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["batch"], 3);
    EXPECT_EQ(result.report["layers"][0]["m"], 60);
    EXPECT_EQ(result.report["macs"], 3 * 3830);
    const auto counts = run_with_report("run x.csv --chip test_8x8 --batch 3 --timing scalesim-ws");
    EXPECT_EQ(counts.report["layers"][0]["cycles"], 16 + 8 + 60 - 2 - 1);
}

TEST_F(WorkloadTest, AnApplicationRuns) {
    write_text(folder_ / "app.yaml",
               "name: Two\nbatch: 2\nactivation_bits: 8\nlayers:\n"
               "  - {fc: a, inputs: 8, outputs: 8, count: 2}\n");
    const auto result = run_with_report("run app.yaml --chip test_8x8");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["batch"], 2);
    EXPECT_EQ(result.report["macs"], 2 * 2 * 64);
    EXPECT_EQ(result.report["layers"].size(), 2u);
    EXPECT_EQ(result.report["traffic"]["host_to_chip"], 16);
    EXPECT_EQ(result.report["traffic"]["chip_to_host"], 16);
    EXPECT_EQ(result.report["traffic"]["memory_write"], 0);
}

TEST_F(WorkloadTest, TheSameRunTakesTheSameCycles) {
    const auto first = run_with_report("run x.csv --chip tpu_v4");
    const auto second = run_with_report("run x.csv --chip tpu_v4");
    ASSERT_EQ(first.status, 0) << first.output;
    EXPECT_EQ(first.report["cycles"], second.report["cycles"]);
    EXPECT_EQ(first.report["units"], second.report["units"]);
}

TEST_F(WorkloadTest, ABadTableIsToldWithItsLine) {
    expect_table_mistake("Layer, M, N, K\nok, 1, 2, 3\nbad, 20, eight, 8\n",
                         {"x.csv:3", "column 3", "N", "whole number", "eight"});
    expect_table_mistake("Layer, M, N, K\nbad, 20, 8\n", {"x.csv:2", "column 4", "K", "nothing"});
    expect_table_mistake("Layer, M, N, K\n\nbad, 20, 8, 0\n", {"x.csv:3", "column 4", "\"0\""});
    expect_table_mistake("Layer, M, N, K\nbad, -1, 8, 1\n", {"x.csv:2", "column 2", "-1"});
    expect_table_mistake("", {"x.csv", "empty"});
    expect_table_mistake("Layer, M, N, K\n", {"x.csv", "layers"});
    expect_table_mistake("Layer, M, N\nbad, 1, 2\n", {"x.csv:1", "heading"});
    expect_table_mistake("\nhello, world\n1, 2\n", {"x.csv:2", "heading", "SCALE-Sim"});
}

TEST_F(WorkloadTest, ALayerThatDoesNotFitIsToldWithItsLine) {
    // 8125 x 138 tiles of 64 bytes, 96 bytes of parameters for each layer, input and output; each
    // at a multiple of 64.
    expect_table_mistake(
        "Layer, M, N, K\nok, 20, 8, 8\nbig, 1, 1100, 65000\n",
        {"x.csv:3", "'big'", "device memory", "67108864", "test_8x8", "71826316 bytes"});
    expect_table_mistake(
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
        "Strides,\nwide, 8, 3000, 3, 3, 30, 8, 1,\n",
        {"x.csv:2", "'wide'", "unified buffer of 65536 bytes", "test_8x8", "bytes needed"});
}

TEST_F(WorkloadTest, ABadApplicationIsToldWithItsKey) {
    const std::string head = "name: A\nbatch: 2\nactivation_bits: 8\nlayers:\n";
    write_text(folder_ / "app.yaml", head + "  - {fc: a, inputs: 8, outputs: 8}\ncolour: red\n");
    expect_mistake("app.yaml --chip test_8x8", {"app.yaml", "colour", "line 6", "unknown key"});
    write_text(folder_ / "app.yaml", head + "  - {fc: a, inputs: 8, outputs: 8, depth: 3}\n");
    expect_mistake("app.yaml --chip test_8x8",
                   {"app.yaml", "layers[0].depth", "line 5", "unknown key"});
    write_text(folder_ / "app.yaml", head + "  - {fc: a, inputs: 8}\n");
    expect_mistake("app.yaml --chip test_8x8", {"app.yaml", "outputs"});
    write_text(folder_ / "app.yaml", head + "  - {fc: a, inputs: 8, outputs: 8}\n");
    expect_mistake("app.yaml --chip test_8x8 --batch 2", {"--batch"});
}

TEST_F(WorkloadTest, WhatIsAboutANetworksDataIsRefused) {
    for (const char* option :
         {"--input i.bin", "--expect e.bin", "--output o.bin", "--labels l.bin", "--layers l.bin",
          "--count 2", "--host native", "--verbose"}) {
        const std::string name = std::string(option).substr(0, std::string(option).find(' '));
        expect_mistake(std::string("x.csv --chip test_8x8 ") + option, {"x.csv", name});
    }
    expect_mistake("x.csv --backend tandem --timing scalesim-ws", {"--backend", "tandem"});
    for (const char* option : {"--seed 1", "--rounding single", "--trace t.json", "--inject seed=1",
                               "--wave w.fst", "--input i.bin", "--count 1"}) {
        const std::string name = std::string(option).substr(0, std::string(option).find(' '));
        expect_mistake(std::string("x.csv --timing scalesim-ws ") + option, {"x.csv", name});
    }
    expect_mistake("x.csv --timing scalesim-ws --mode functional", {"x.csv", "--mode"});
    expect_mistake("x.csv --mode functional --rounding gemmlowp", {"x.csv", "--rounding"});
    expect_mistake("x.csv --mode timing --backend rtl", {"--mode timing", "--backend tlm"});
    expect_mistake("x.csv --wave w.fst", {"--wave", "--backend rtl or tandem"});
}

TEST_F(WorkloadTest, AListCanBeRecordedAndTraced) {
    const auto result =
        run_with_report("run x.csv --chip test_8x8 --backend rtl --wave w.fst --trace t.json");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_GT(std::filesystem::file_size(folder_ / "w.fst"), 1000u);
    const auto trace = nlohmann::json::parse(read_text(folder_ / "t.json"));
    uint64_t slices = 0;
    for (const auto& event : trace["traceEvents"]) slices += event["ph"] == "X";
    EXPECT_EQ(slices, result.report["instructions"]);
}

TEST_F(WorkloadTest, ScalesimCountsAreOfLayersWithoutData) {
    const auto model = (source_dir() / "models/digits/digits_int8.tflite").string();
    expect_mistake(model + " --timing scalesim-ws", {"digits_int8.tflite", "--timing", "scalesim"});
    expect_mistake("x.csv --timing fast", {"--timing", "fast"});
}

TEST_F(WorkloadTest, FilesThatAreNotThere) {
    expect_mistake("nothing.csv", {"nothing.csv", "cannot be read"});
    expect_mistake("nothing.yaml", {"nothing.yaml", "cannot be read"});
    expect_mistake("x.csv --chip tpu_v99", {"tpu_v99", "tpu_v1"});
    expect_mistake("x.csv --chip test_8x8 --json no/such/folder.json", {"--json"});
}

TEST_F(WorkloadTest, TheReportDoesNotOverwriteTheTable) {
    expect_mistake("x.csv --chip test_8x8 --json x.csv", {"--json", "MODEL", "x.csv"});
    expect_mistake("x.csv --chip test_8x8 --json ./x.csv", {"--json", "x.csv"});
    EXPECT_EQ(read_text(folder_ / "x.csv"), kTable);
}

}  // namespace
}  // namespace tandem::testbench
