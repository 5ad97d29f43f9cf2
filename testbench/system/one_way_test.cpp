// SPDX-License-Identifier: Apache-2.0
// Networks and lists take one way: a network is the same as its own dump, with and without bytes,
// in every mode and on every backend; and what a graph's mistakes are told like.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class OneWayTest : public CommandLineTest {
  protected:
    static std::string model() {
        return (source_dir() / "models/digits/digits_int8.tflite").string();
    }
    /// The graph's text without values; with --dump-bytes with them.
    std::string dump(const std::string& network, const std::string& arguments) const {
        const auto result = run("compile " + network + " --dump dump " + arguments);
        EXPECT_EQ(result.status, 0) << result.output;
        return read_text(folder_ / "dump/graph.tgraph");
    }
    /// graph.tgraph is in the folder already.
    void expect_refused(const std::string& text, const std::vector<std::string>& texts) const {
        write_text(folder_ / "graph.tgraph", text);
        const auto result = run("run graph.tgraph --chip test_8x8");
        EXPECT_EQ(result.status, 2) << result.output;
        for (const auto& each : texts)
            EXPECT_NE(result.output.find(each), std::string::npos)
                << "missing \"" << each << "\" in\n"
                << result.output;
    }
    static std::string replaced(std::string text, const std::string& from, const std::string& to) {
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return at == std::string::npos ? text : text.replace(at, from.size(), to);
    }
    static void expect_layers_add_up(const nlohmann::json& report) {
        uint64_t cycles = 0;
        for (const auto& layer : report["layers"]) cycles += layer["cycles"].get<uint64_t>();
        EXPECT_GT(report["layers"].size(), 1u);
        EXPECT_EQ(cycles, report["cycles"]);
    }
};

TEST_F(OneWayTest, ANetworkTakesAsLongAsItsDumpWithoutBytes) {
    for (const std::string chip : {"test_16x16", "tpu_v1", "edge_tpu"}) {
        const std::string on = " --chip " + chip;
        const std::string text = dump(model(), on);
        EXPECT_EQ(text.find("\nbytes"), std::string::npos);
        const auto functional = run_with_report("run " + model() + on + " --host native --count 1"),
                   timing = run_with_report("run " + model() + on +
                                            " --host native --count 1 --mode timing"),
                   shapes = run_with_report("run dump/graph.tgraph" + on),
                   seeded = run_with_report("run dump/graph.tgraph --mode functional" + on);
        for (const auto* each : {&timing, &shapes, &seeded}) {
            ASSERT_EQ(each->status, 0) << chip << "\n" << each->output;
            EXPECT_EQ(each->report["cycles"], functional.report["cycles"]) << chip;
            EXPECT_EQ(each->report["macs"], functional.report["macs"]) << chip;
        }
        EXPECT_EQ(seeded.report["checks"]["mismatches"], 0) << chip;
        EXPECT_GT(seeded.report["checks"]["compared"], 0) << chip;
    }
}

TEST_F(OneWayTest, ADumpWithoutBytesTakesAsLongOnAllBackends) {
    dump(model(), "");
    const auto tlm = run_with_report("run dump/graph.tgraph --mode functional");
    ASSERT_EQ(tlm.status, 0) << tlm.output;
    for (const std::string backend : {"rtl", "tandem"}) {
        const auto result = run_with_report("run dump/graph.tgraph --backend " + backend);
        ASSERT_EQ(result.status, 0) << backend << "\n" << result.output;
        EXPECT_EQ(result.report["cycles"], tlm.report["cycles"]) << backend;
        EXPECT_EQ(result.report["units"], tlm.report["units"]) << backend;
        EXPECT_EQ(result.report["checks"]["mismatches"], 0) << backend;
    }
}

TEST_F(OneWayTest, ADumpWithBytesIsTheNetwork) {
    ASSERT_NE(dump(model(), "--dump-bytes -o first.tpu").find("\nbytes"), std::string::npos);
    const auto result = run("compile dump/graph.tgraph -o second.tpu");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(read_text(folder_ / "first.tpu") == read_text(folder_ / "second.tpu"));
    const auto digits = (source_dir() / "models/digits").string();
    const auto answers = run("run dump/graph.tgraph --host native --input " + digits +
                             "/inputs.bin --expect " + digits + "/expected.bin");
    EXPECT_EQ(answers.status, 0) << answers.output;
    // Read and dumped again it is the same text.
    const std::string once = read_text(folder_ / "dump/graph.tgraph");
    EXPECT_EQ(run("compile dump/graph.tgraph --dump again --dump-bytes").status, 0);
    EXPECT_TRUE(read_text(folder_ / "again/graph.tgraph") == once);
}

TEST_F(OneWayTest, AListIsItsOwnDump) {
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfirst, 20, 8, 8\nsecond, 5, 17, 30\n");
    for (const std::string chip : {"test_8x8", "tpu_v3"}) {
        dump("x.csv", "--batch 3 --chip " + chip);
        const auto list = run_with_report("run x.csv --batch 3 --chip " + chip),
                   text = run_with_report("run dump/graph.tgraph --chip " + chip);
        ASSERT_EQ(text.status, 0) << text.output;
        EXPECT_EQ(text.report["cycles"], list.report["cycles"]) << chip;
        EXPECT_EQ(text.report["units"], list.report["units"]) << chip;
        EXPECT_EQ(text.report["batch"], 3) << chip;
    }
}

TEST_F(OneWayTest, LayersAddUpToTheCycles) {
    const auto network = run_with_report(digits() + "--host native --count 3");
    ASSERT_EQ(network.status, 0) << network.output;
    expect_layers_add_up(network.report);
    write_text(folder_ / "x.csv", "Layer, M, N, K\nfirst, 20, 8, 8\nsecond, 5, 17, 30\n");
    for (const std::string chip : {"test_8x8", "tpu_v1", "tpu_v3"})
        for (const std::string mode : {"timing", "functional"}) {
            const auto list = run_with_report("run x.csv --chip " + chip + " --mode " + mode);
            ASSERT_EQ(list.status, 0) << list.output;
            expect_layers_add_up(list.report);
        }
}

TEST_F(OneWayTest, AGraphThatIsNotRightNamesNodeAndRule) {
    const std::string good = dump(model(), "");
    expect_refused(replaced(good, "INT8 1x8x8x16", "INT8 1x8x9x16"),
                   {"graph.tgraph", "node 1 (CONV_2D 'conv2/relu')", "1x8x8x16", "1x8x9x16"});
    expect_refused(replaced(good, "INT8 10x256", "INT8 10x255"),
                   {"graph.tgraph", "node 4 (FULLY_CONNECTED 'dense/logits')", "256", "255"});
    expect_refused(replaced(good, "\"pool\" INT8", "\"pool\" BFLOAT16"),
                   {"graph.tgraph", "node 2 (MAX_POOL_2D 'pool')", "BFLOAT16"});
    expect_refused(replaced(good, "node 2 MAX_POOL_2D", "node 2 MAXPOOL"),
                   {"graph.tgraph:19: operator", "MAX_POOL_2D", "MAXPOOL"});
    expect_refused(replaced(good, "filter=2,2", "fitler=2,2"),
                   {"graph.tgraph:19: fitler", "MAX_POOL_2D"});
    expect_refused(replaced(good, "inputs=%6 outputs=%7", "inputs=%7 outputs=%6"),
                   {"graph.tgraph", "node "});
}

TEST_F(OneWayTest, WhatFitsNowhereNamesTheLayerWhatItNeedsAndWhatThereIs) {
    const auto result = run("run " + model() + " --chip test_8x8 --set 'unified_buffer=1 KiB'");
    EXPECT_EQ(result.status, 2) << result.output;
    for (const char* text :
         {"digits_int8.tflite: node ", "unified buffer of 1024 bytes", "test_8x8", "bytes needed"})
        EXPECT_NE(result.output.find(text), std::string::npos) << text << "\n" << result.output;
}

}  // namespace
}  // namespace tandem::testbench
