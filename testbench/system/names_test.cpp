// SPDX-License-Identifier: Apache-2.0
// Names of other people, in files and of files: shown so that they steer no terminal, quoted so
// that a shell takes printed commands as they are, whole in reports.
#include "testbench/system/command_line.h"

#include <algorithm>

namespace tandem::testbench {
namespace {

class NamesTest : public CommandLineTest {
  protected:
    static std::string model() {
        return (source_dir() / "models/digits/digits_int8.tflite").string();
    }
    /// The digits network as text, with a name in it replaced.
    void write_graph(const std::string& file, const std::string& name,
                     const std::string& by) const {
        ASSERT_EQ(run("compile " + model() + " --dump d --dump-bytes").status, 0);
        std::string text = read_text(folder_ / "d/graph.tgraph");
        size_t at = text.find(name);
        ASSERT_NE(at, std::string::npos);
        for (; at != std::string::npos; at = text.find(name, at + by.size()))
            text.replace(at, name.size(), by);
        write_text(folder_ / file, text);
    }
    /// ASCII without controls, and the mark that stands for bytes that are no UTF-8.
    static bool is_plain(std::string text) {
        const std::string mark = "\xef\xbf\xbd";
        for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.erase(at, mark.size());
        return std::ranges::all_of(text,
                                   [](const char c) { return c == '\n' || (c >= ' ' && c < 127); });
    }
};

TEST_F(NamesTest, OfFilesAreQuotedInLinesToBeRunAgain) {
    const std::string name = "it's $(touch planted); a 'model'.tflite";
    std::filesystem::copy(model(), folder_ / name);
    std::filesystem::copy(source_dir() / "models/digits/inputs.bin", folder_ / "two words.bin");
    write_text(
        folder_ / "run.sh",
        "set -e\nexec \"$TANDEM_BINARY\" run \"$1\" --input 'two words.bin' --count 2 --backend "
        "tandem --inject seed=1 --json r.json");
    const auto first = shell("sh run.sh 'it'\\''s $(touch planted); a '\\''model'\\''.tflite'");
    ASSERT_EQ(first.status, 1) << first.output;
    const auto found = nlohmann::json::parse(read_text(folder_ / "r.json"))["first_divergence"];
    const std::string again = found["rerun"], look = "gtkwave " + found["gtkw"].get<std::string>();
    EXPECT_NE(first.output.find("again         " + again), std::string::npos) << first.output;
    EXPECT_EQ(look.find_first_of("'$();"), std::string::npos) << "its name is plain: " << look;
    const auto second =
        shell("tandem() { \"$TANDEM_BINARY\" \"$@\"; }\n" + again + " --json again.json");
    EXPECT_EQ(second.status, 1) << second.output;
    EXPECT_EQ(
        nlohmann::json::parse(read_text(folder_ / "again.json"))["first_divergence"]["cycle_rtl"],
        found["cycle_rtl"]);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "planted"));
}

TEST_F(NamesTest, ThatSteerATerminalAreShownInstead) {
    write_graph("m.tgraph", "conv2/relu", "red\\x1b[31m\\x9b2J");
    for (const std::string command :
         {"run m.tgraph --host native --backend tandem --inject seed=1",
          "run m.tgraph --layers m.tgraph", "compile m.tgraph --explain",
          "run m.tgraph --csv l.csv --trace t.json --json r.json", "compile m.tgraph -o m.tpu",
          "disasm m.tpu", "run m.tpu", "run m.tgraph --wave-at x --wave w.fst --backend rtl"}) {
        const auto result = run(command);
        EXPECT_GE(result.status, 0) << command;
        EXPECT_LT(result.status, 3) << command << "\n" << result.output;
        EXPECT_TRUE(is_plain(result.output)) << command << "\n" << result.output;
    }
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "t.json")));
    EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "r.json")));
}

TEST_F(NamesTest, OfFilesThatSteerATerminalAreShownInstead) {
    const std::string name = "a\x1b]0;planted\x07\x9b.tflite";
    for (const std::string& command :
         {"run '" + name + "'", "run '" + name + ".yaml'", "run x --chip '" + name + "'",
          "compile '" + name + "' -o x", "fly'" + name + "'", "chips '" + name + "'",
          "run --x'" + name + "'", "run '" + model() + "' --backend '" + name + "'",
          "run '" + model() + "' --json '" + name + "/x'"}) {
        const auto result = run(command);
        EXPECT_EQ(result.status, 2) << result.output;
        EXPECT_TRUE(is_plain(result.output)) << command << "\n" << result.output;
        EXPECT_NE(result.output.find("\\x1b]0;planted\\x07\\x9b"), std::string::npos)
            << result.output;
    }
}

TEST_F(NamesTest, OfTensorsNeedNotBeUtf8) {
    std::string bytes = read_text(model());
    const std::string name = "conv2/relu";
    for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1))
        bytes.replace(at, 4, "\xff\xfe\"\x1b");
    write_text(folder_ / "m.tflite", bytes);
    for (const char* backend : {"tlm", "tandem --inject seed=1"}) {
        const auto result =
            run_with_report(std::string("run m.tflite --trace t.json --backend ") + backend);
        EXPECT_LT(result.status, 2) << result.output;
        EXPECT_TRUE(is_plain(result.output)) << result.output;
        EXPECT_TRUE(result.report.contains("layers"));
        EXPECT_TRUE(nlohmann::json::accept(read_text(folder_ / "t.json")));
    }
}

}  // namespace
}  // namespace tandem::testbench
