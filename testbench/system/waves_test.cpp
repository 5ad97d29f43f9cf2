// SPDX-License-Identifier: Apache-2.0
// Waveforms on request: all of a run or a window of it, what is in them, and what becomes of a run
// whose disk is full.
#include <set>

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

/// A waveform's changes, from its text form.
struct Recording {
    std::set<std::string> signals;  ///< as a save file names them: scope.name[31:0]
    std::set<std::string> texts;    ///< what stood in signals of text
    uint64_t first_fs = ~0ull, last_fs = 0;
};

std::string text_of_bits(const std::string& bits) {
    std::string text;
    for (size_t end = bits.size(); end >= 8; end -= 8) {
        const auto letter = static_cast<char>(std::stoul(bits.substr(end - 8, 8), nullptr, 2));
        if (letter != '\0') text.insert(0, 1, letter);
    }
    return text;
}

class WavesTest : public CommandLineTest {
  protected:
    static constexpr uint64_t kPeriodFs = 2'000'000;  // of test_16x16

    std::string digits_run(const std::string& rest) const {
        return digits() + "--host native --count 2 " + rest;
    }
    /// As a user who may write files of up to so many KB.
    CommandResult run_limited(int kilobytes, const std::string& arguments) const {
        const auto script = folder_ / "limited.sh";
        write_text(script, "ulimit -f " + std::to_string(kilobytes * 2) + "\nexec '" +
                               environment("TANDEM_BINARY") + "' \"$@\"\n");  // blocks of 512 bytes
        const auto log = folder_ / "limited.txt";
        const int status = std::system(("cd '" + folder_.string() + "' && sh limited.sh " +
                                        arguments + " 2>&1 | cat > limited.txt; true")
                                           .c_str());
        EXPECT_EQ(status, 0);
        return {0, read_text(log), {}};
    }
    Recording load(const std::string& wave) const {
        EXPECT_EQ(std::system(("cd '" + folder_.string() + "' && fst2vcd '" + wave +
                               "' > wave.vcd 2> /dev/null")
                                  .c_str()),
                  0)
            << wave;
        Recording recording;
        std::ifstream in(folder_ / "wave.vcd");
        std::vector<std::string> scopes;
        for (std::string line; std::getline(in, line);) read(line, scopes, recording);
        return recording;
    }
    static void read(const std::string& line, std::vector<std::string>& scopes,
                     Recording& recording) {
        std::istringstream words(line);
        std::string word, kind, bits, code, name, range;
        words >> word;
        if (word == "$scope") {
            words >> kind >> name;
            scopes.push_back(name);
        } else if (word == "$upscope") {
            scopes.pop_back();
        } else if (word == "$var") {
            words >> kind >> bits >> code >> name >> range;
            std::string path;
            for (const auto& scope : scopes) path += scope + ".";
            recording.signals.insert(path + name + (range == "$end" ? "" : range));
        } else if (word.starts_with("#")) {
            const uint64_t time = std::stoull(word.substr(1));
            recording.first_fs = std::min(recording.first_fs, time);
            recording.last_fs = std::max(recording.last_fs, time);
        } else if (word.starts_with("b") && (word.size() == 65 || word.size() == 161)) {
            recording.texts.insert(text_of_bits(word.substr(1)));
        }
    }
    /// The names that a save file asks for.
    std::vector<std::string> asked_for(const std::string& gtkw) const {
        std::vector<std::string> names;
        std::ifstream in(folder_ / gtkw);
        EXPECT_TRUE(in) << gtkw;
        for (std::string line; std::getline(in, line);) {
            if (line.empty() || std::string("[*@-^").find(line[0]) != std::string::npos) continue;
            const auto alias = line.find("} ");
            std::string name = alias == std::string::npos ? line : line.substr(alias + 2);
            // A lane is a list of bits of one signal.
            if (name.starts_with("(")) name = name.substr(name.find(')') + 1);
            names.push_back(name.substr(0, name.find(' ')));
        }
        return names;
    }
    void expect_all_there(const std::string& name, size_t at_least) const {
        const auto names = asked_for(name + ".gtkw");
        const auto recording = load(name + ".fst");
        EXPECT_GE(names.size(), at_least);
        for (const auto& signal : names)
            EXPECT_TRUE(recording.signals.contains(signal)) << signal << " in " << name;
    }
    void expect_mistake(const std::string& arguments, const std::string& text) {
        const auto result = run(arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
    }
    static bool says(const CommandResult& result, const std::string& text) {
        return result.output.find(text) != std::string::npos;
    }
};

TEST_F(WavesTest, AWholeRunHasModelAndRtlOnOneTimeAxis) {
    for (const std::string backend : {"rtl", "tandem"}) {
        const auto result = run_with_report(digits_run("--backend " + backend + " --wave w.fst"));
        ASSERT_EQ(result.status, 0) << result.output;
        const auto& wave = result.report["wave"];
        EXPECT_EQ(wave["from_cycle"], 0);
        EXPECT_EQ(wave["note"], "");
        EXPECT_EQ(wave["gtkw"], "w.gtkw");
        const auto recording = load("w.fst");
        EXPECT_EQ(recording.last_fs, wave["to_cycle"].get<uint64_t>() * kPeriodFs);
        for (const char* signal : {"rtl.act_data_i[127:0]", "pe.r15_c15.psum[31:0]",
                                   "model.mxu.instruction[159:0]", "model.vector.state[63:0]"})
            EXPECT_TRUE(recording.signals.contains(signal)) << signal;
        for (const char* text : {"idle", "flag", "busy", "matmul", "requantise"})
            EXPECT_TRUE(recording.texts.contains(text)) << text;
        const std::string save = read_text(folder_ / "w.gtkw");
        EXPECT_NE(save.find("-row 15:"), std::string::npos);
        EXPECT_NE(save.find("-column 15:"), std::string::npos);
        expect_all_there("w", 2 * 256 * 4);
    }
}

TEST_F(WavesTest, AWindowOfCycles) {
    const std::string window = "--wave w.fst --wave-from 1000 --wave-to 1100";
    const auto result = run_with_report(digits_run("--backend tandem " + window));
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.report["wave"]["from_cycle"], 1000);
    EXPECT_EQ(result.report["wave"]["to_cycle"], 1100);
    const auto recording = load("w.fst");
    EXPECT_EQ(recording.first_fs, 1000 * kPeriodFs);
    EXPECT_EQ(recording.last_fs, 1100 * kPeriodFs);
    expect_all_there("w", 2 * 256 * 4);
}

TEST_F(WavesTest, AWindowThatNeverComesIsSaid) {
    const auto result =
        run_with_report(digits_run("--backend rtl --wave w.fst --wave-from 999999999"));
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_TRUE(says(result, "no whole wave")) << result.output;
    EXPECT_NE(result.report["wave"]["note"], "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "w.fst"));
}

// All ways to name a node give the same window, and it is the node's: what runs there is its own.
TEST_F(WavesTest, ASourceNode) {
    nlohmann::json first;
    for (const std::string at :
         {"4", "'#4'", "FULLY_CONNECTED", "dense/logits", "'#4 FULLY_CONNECTED dense/logits'"}) {
        const auto result =
            run_with_report(digits_run("--backend tandem --wave w.fst --wave-at " + at));
        ASSERT_EQ(result.status, 0) << result.output;
        const auto& wave = result.report["wave"];
        if (first.is_null()) first = wave;
        EXPECT_EQ(wave, first) << at;
    }
    const uint64_t from = first["from_cycle"], to = first["to_cycle"];
    EXPECT_GT(to, from);
    EXPECT_LT(to - from, 1871u) << "an inference takes as long as that";
    EXPECT_TRUE(load("w.fst").texts.contains("matmul"));
}

TEST_F(WavesTest, AnInstruction) {
    const auto node = run_with_report(digits_run("--backend rtl --wave n.fst --wave-at 1"));
    const auto one =
        run_with_report(digits_run("--backend rtl --wave w.fst --wave-at 'instruction 19'"));
    ASSERT_EQ(one.status, 0) << one.output;
    const auto& inside = one.report["wave"];
    EXPECT_GE(inside["from_cycle"], node.report["wave"]["from_cycle"]);
    EXPECT_LE(inside["to_cycle"], node.report["wave"]["to_cycle"]);
    EXPECT_LT(inside["from_cycle"], inside["to_cycle"]);
    EXPECT_TRUE(load("w.fst").texts.contains("matmul"));
}

TEST_F(WavesTest, AProductCanBeRecordedToo) {
    const auto result = run_with_report(
        "gemm 32 48 32 --host native --backend tandem --wave w.fst --wave-at FULLY_CONNECTED");
    ASSERT_EQ(result.status, 0) << result.output;
    expect_all_there("w", 2 * 256 * 4);
}

TEST_F(WavesTest, TheLimitBoundsTheFileAndTheRunGoesOn) {
    const auto result = run_with_report(
        digits() + "--host native --count 20 --backend rtl --wave w.fst --wave-limit 1");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_LE(std::filesystem::file_size(folder_ / "w.fst"), 1'000'000u);
    EXPECT_GE(std::filesystem::file_size(folder_ / "w.fst"), 300'000u) << "much room was left";
    EXPECT_TRUE(says(result, "--wave-limit")) << result.output;
    EXPECT_TRUE(says(result, "outputs: all 200 bytes as expected")) << result.output;
    const auto recording = load("w.fst");
    EXPECT_EQ(recording.last_fs, result.report["wave"]["to_cycle"].get<uint64_t>() * kPeriodFs);
}

TEST_F(WavesTest, TheSaveFileOfADivergenceNamesOnlyWhatWasRecorded) {
    ASSERT_EQ(run(digits_run("--backend tandem --inject seed=3")).status, 1);
    expect_all_there("tandem_divergence_digits_int8", 30);
    for (const std::string array :
         {"--dtype bf16 --rows 8 --cols 8", "--dtype int8 --rows 8 --cols 8 --pipeline 2"}) {
        const auto result = run("verify --accumulators 256 --streams 1 --seed 8 " + array +
                                " --inject 'pe[3][4].psum:bit7@cycle=150'");
        ASSERT_EQ(result.status, 1) << result.output;
        expect_all_there("tandem_verify_seed8", 20);
    }
}

TEST_F(WavesTest, TheFilterDecodesBf16AndFp32) {
    const auto filter = std::filesystem::path(environment("TANDEM_BINARY")).parent_path() /
                        "libexec/tandem/tandem-float-filter";
    write_text(folder_ / "in.txt", "3f80\nc0a0\n7f80\nff80\n0001\n456a1409\nBF800000\nxxxx\n12\n");
    ASSERT_EQ(std::system(("'" + filter.string() + "' < '" + (folder_ / "in.txt").string() +
                           "' > '" + (folder_ / "out.txt").string() + "'")
                              .c_str()),
              0);
    EXPECT_EQ(read_text(folder_ / "out.txt"),
              "1\n-5\ninf\n-inf\n9.18355e-41\n3745.25\n-1\nxxxx\n12\n");
}

TEST_F(WavesTest, AllThatASaveFileOfAFailureShowsIsThere) {
    const std::string flip = " --inject 'pe[3][4].psum:bit7@cycle=150'";
    const std::string array = "verify --rows 8 --cols 8 --streams 1 --seed 8 --wave ";
    const auto flat = run(array + "f.fst" + flip);
    EXPECT_EQ(flat.status, 1) << flat.output;
    expect_all_there("f", 100);
    const auto names = asked_for("f.gtkw");
    for (const char* signal :
         {"tandem.edge[63:0]", "expected.r3_c4.weight[7:0]", "expected.r2_c4.psum[31:0]",
          "expected.r3_c3.activation[7:0]", "expected.cmt_data_o[255:0]", "expected.wr_valid"})
        EXPECT_NE(std::ranges::find(names, signal), names.end()) << signal;
    const auto vcd = run(array + "v.vcd" + flip);
    EXPECT_EQ(vcd.status, 1) << vcd.output;
    EXPECT_EQ(asked_for("v.gtkw"), names);
    EXPECT_TRUE(read_text(folder_ / "v.vcd").find("$enddefinitions") != std::string::npos);
}

TEST_F(WavesTest, AStreamThatPassesIsRecordedWithItsResets) {
    // Of the stream with this seed: two resets at least.
    const auto result =
        run_with_report("verify --rows 4 --cols 4 --streams 1 --seed 2 --wave s.fst");
    ASSERT_EQ(result.status, 0) << result.output;
    ASSERT_GE(result.report["counters"]["resets"], 2) << "another seed has some";
    EXPECT_EQ(result.report["wave"]["file"], "s.fst");
    expect_all_there("s", 2 * 16 * 4);
    EXPECT_GE(load("s.fst").last_fs, result.report["edges"].get<uint64_t>() * 990'000)
        << "a reset ends no wave";
}

TEST_F(WavesTest, MistakesOfTheCommandLine) {
    const std::string run = digits_run("--backend rtl ");
    expect_mistake(run + "--wave w.fst --wave-from 10 --wave-to 5", "at least 10");
    expect_mistake(run + "--wave w.fst --wave-from -1", "--wave-from");
    expect_mistake(run + "--wave w.fst --wave-to x", "--wave-to");
    expect_mistake(run + "--wave w.fst --wave-at nonesuch", "4 FULLY_CONNECTED dense/logits");
    expect_mistake(run + "--wave w.fst --wave-at CONV_2D", "0 CONV_2D conv1/relu, 1 CONV_2D");
    expect_mistake(run + "--wave w.fst --wave-at RESHAPE", "no instructions");
    expect_mistake(run + "--wave w.fst --wave-at 99", "99");
    expect_mistake(run + "--wave w.fst --wave-at 'instruction 99'", "from 0 to 98");
    expect_mistake(run + "--wave w.fst --wave-at 1 --wave-from 3", "--wave-at");
    expect_mistake(run + "--wave w.fst --wave-limit 0", "--wave-limit");
    expect_mistake(run + "--wave-limit 5", "--wave");
    expect_mistake(run + "--wave-at 1", "--wave");
    expect_mistake(run + "--wave ''", "--wave");
    expect_mistake(run + "--wave w.gtkw", "w.gtkw");
    expect_mistake(run + "--wave w.txt", "expected the name of an FST or a VCD (.fst, .vcd)");
    expect_mistake(run + "--wave nothing/w.fst", "cannot be written");
    expect_mistake(run + "--wave .", "Is a directory");
    expect_mistake(digits_run("--backend tlm --wave w.fst"), "--backend rtl or tandem");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "w.fst"));
}

TEST_F(WavesTest, ADeviceIsNotReplacedByAWave) {
    std::filesystem::create_symlink("/dev/full", folder_ / "w.fst");
    expect_mistake(digits_run("--backend rtl --wave w.fst"), "w.fst");
    EXPECT_TRUE(std::filesystem::is_character_file(folder_ / "w.fst"));
}

TEST_F(WavesTest, ADiskThatIsFullAtOnceCostsTheWaveNotTheRun) {
    for (const int kilobytes : {1, 16, 64, 1000}) {
        const auto result =
            run_limited(kilobytes, digits_run("--backend rtl --wave w.fst --wave-at 1"));
        EXPECT_TRUE(says(result, "outputs: all 20 bytes as expected")) << kilobytes << " KB\n"
                                                                       << result.output;
        EXPECT_TRUE(says(result, "no whole wave: w.fst")) << kilobytes << " KB\n" << result.output;
        EXPECT_FALSE(std::filesystem::exists(folder_ / "w.fst")) << kilobytes << " KB";
    }
}

TEST_F(WavesTest, ADiskThatFillsUpCostsTheWaveNotTheRun) {
    const auto result =
        run_limited(4200, digits() +
                              "--host native --count 20 --backend rtl --wave w.fst --wave-at 0 "
                              "--json report.json");
    EXPECT_TRUE(says(result, "outputs: all 200 bytes as expected")) << result.output;
    EXPECT_FALSE(says(result, "no whole wave")) << "the window of a node is small";
    const auto all =
        run_limited(4200, digits() +
                              "--host native --count 20 --backend rtl --wave w.fst --wave-from 5 "
                              "--json report.json");
    EXPECT_TRUE(says(all, "outputs: all 200 bytes as expected")) << all.output;
    EXPECT_TRUE(says(all, "w.fst: cannot be written whole; is the disk full?")) << all.output;
    const auto report = nlohmann::json::parse(read_text(folder_ / "report.json"));
    EXPECT_NE(report["wave"]["note"].get<std::string>().find("cannot be written whole"),
              std::string::npos);
    EXPECT_EQ(report["checks"]["mismatches"], 0);
}

TEST_F(WavesTest, ADivergenceIsReportedWithoutItsWaveWhenTheDiskIsFull) {
    const auto result = run_limited(64, digits_run("--backend tandem --inject seed=1"));
    EXPECT_TRUE(says(result, "first wrong")) << result.output;
    EXPECT_TRUE(says(result, "no waveform")) << result.output;
}

}  // namespace
}  // namespace tandem::testbench
