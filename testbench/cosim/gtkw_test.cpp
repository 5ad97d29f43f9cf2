// SPDX-License-Identifier: Apache-2.0
// Save files for GTKWave: which groups they have, and how every signal is shown.
#include "cosim/gtkw.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"

namespace tandem::cosim {
namespace {

// Flags of a trace, as GTKWave's own sources number them.
constexpr unsigned kHex = 1u << 1, kBinary = 1u << 3, kSigned = 1u << 10, kAscii = 1u << 11,
                   kClosed = 1u << 22, kThroughProgram = 1u << 14, kGroup = 1u << 23,
                   kGroupEnd = 1u << 24;

struct Trace {
    unsigned flags;
    std::string name;     ///< of the signal or, without the dash, of the group
    std::string program;  ///< that translates its values
};

class GtkwTest : public ::testing::Test {
  protected:
    GtkwTest() {
        std::string form = (std::filesystem::temp_directory_path() / "tandem_gtkw_XXXXXX").string();
        folder_ = ::mkdtemp(form.data());
        request_.wave = (folder_ / "w.fst").string();
        request_.shape.rows = request_.shape.cols = 4;
        request_.shape.accumulator_rows = 32;
        request_.model_units = {"mxu", "vector"};
        request_.float_filter = "/some/tandem-float-filter";
    }
    ~GtkwTest() override { std::filesystem::remove_all(folder_); }

    std::vector<Trace> write() {
        std::ifstream in(write_gtkw(request_));
        std::vector<Trace> traces;
        unsigned flags = 0;
        std::string program;
        for (std::string line; std::getline(in, line);) {
            text_ += line + "\n";
            if (line.starts_with("@")) {
                flags = static_cast<unsigned>(std::stoul(line.substr(1), nullptr, 16));
                program.clear();
            } else if (line.starts_with("[color]")) {
                continue;
            } else if (line.starts_with("^>")) {
                program = line.substr(line.find(' ') + 1);
            } else if (line.starts_with("-")) {
                traces.push_back({flags, line.substr(1), {}});
            } else if (!line.starts_with("[") && !line.starts_with("*")) {
                const auto alias = line.find("} ");
                traces.push_back(
                    {flags, alias == std::string::npos ? line : line.substr(alias + 2), program});
            }
        }
        return traces;
    }
    static const Trace* find(const std::vector<Trace>& traces, const std::string& name) {
        const auto at = std::find_if(traces.begin(), traces.end(),
                                     [&](const Trace& trace) { return trace.name == name; });
        return at == traces.end() ? nullptr : &*at;
    }
    /// The signals between begin and end of a group.
    static std::vector<std::string> group(const std::vector<Trace>& traces,
                                          const std::string& title) {
        std::vector<std::string> names;
        bool inside = false;
        for (const Trace& trace : traces) {
            if (trace.name.starts_with(title)) inside = (trace.flags & kGroup) != 0;
            if (inside && (trace.flags & (kGroup | kGroupEnd)) == 0) names.push_back(trace.name);
        }
        return names;
    }
    void put(const std::string& bytes) const {
        std::ofstream(request_.wave, std::ios::binary) << bytes;
    }

    std::filesystem::path folder_;
    SaveFileRequest request_;
    std::string text_;
};

TEST_F(GtkwTest, EveryRowAndEveryColumnIsAClosedGroupOfItsPes) {
    request_.all_pes = true;
    const auto traces = write();
    for (int i = 0; i < 4; ++i) {
        const std::string n = std::to_string(i);
        for (const std::string& title : {"row " + n + ":", "column " + n + ":"}) {
            const auto names = group(traces, title);
            EXPECT_EQ(names.size(), 16u) << title;  // four PEs of four registers
            const auto begin = std::find_if(traces.begin(), traces.end(), [&](const Trace& t) {
                return t.name.starts_with(title);
            });
            ASSERT_NE(begin, traces.end()) << title;
            EXPECT_TRUE(begin->flags & kClosed) << title;
            const bool row = title.starts_with("row");
            for (int j = 0; j < 4; ++j) {
                const std::string m = std::to_string(j);
                const std::string pe = row ? "pe.r" + n + "_c" + m : "pe.r" + m + "_c" + n;
                EXPECT_EQ(std::count(names.begin(), names.end(), pe + ".psum[31:0]"), 1) << pe;
            }
        }
    }
}

TEST_F(GtkwTest, GroupsAreClosedInTheOrderTheyWereOpened) {
    request_.all_pes = true;
    std::string open;
    int groups = 0;
    for (const Trace& trace : write()) {
        if (trace.flags & kGroup) {
            EXPECT_EQ(open, "") << "groups are not nested";
            open = trace.name;
            ++groups;
        } else if (trace.flags & kGroupEnd) {
            EXPECT_EQ(trace.name, open);
            open.clear();
        } else {
            EXPECT_NE(open, "") << trace.name << " stands in no group";
        }
    }
    EXPECT_EQ(open, "");
    // The edge, rows, columns, ports, their lanes, what was expected of ports, units.
    EXPECT_EQ(groups, 1 + 4 + 4 + 1 + 4 + 1 + 2);
}

TEST_F(GtkwTest, TheWrongPeComesFirstThenWhatSurroundsIt) {
    request_.shape.rows = request_.shape.cols = 16;
    request_.wrong_pe = PeMismatch{PeRegister::kPsum, 9, 0, 77, 5, 6};
    request_.marker = 77;
    const auto traces = write();
    ASSERT_GT(traces.size(), 8u);
    EXPECT_EQ(traces[1].name, "tandem.edge[63:0]");
    const auto wrong = group(traces, "PE row 9 column 0");
    ASSERT_GE(wrong.size(), 3u);
    EXPECT_EQ(wrong[0], "expected.r9_c0.psum[31:0]");
    EXPECT_EQ(wrong[1], "pe.r9_c0.psum[31:0]");
    EXPECT_EQ(wrong[2], "expected.r9_c0.psum_known");
    EXPECT_NE(text_.find("[color] 1\n+{r9_c0 psum} pe.r9_c0.psum"), std::string::npos) << "red";
    EXPECT_EQ(group(traces, "column 0:").size(), 5u * 4);  // two above, two below
    EXPECT_EQ(group(traces, "row 9:").size(), 3u * 4);     // there is nothing to the left
    EXPECT_EQ(find(traces, "pe.r12_c0.psum[31:0]"), nullptr) << "was not recorded";
    EXPECT_NE(text_.find(" 77000000 -1"), std::string::npos) << "the marker";
    EXPECT_NE(text_.find("[timestart] 72000000"), std::string::npos);
}

TEST_F(GtkwTest, TheWrongColumnOfAPortStandsAloneAndFirst) {
    request_.wrong_port = "cmt_data_o";
    request_.wrong_col = 2;
    request_.signals = {{"expected.cmt_data_o", 128},
                        {"expected.cmt_data_o_known", 1},
                        {"rtl.cmt_data_o", 128},
                        {"rtl.top.cmt_data_o", 128},
                        {"rtl.top.mine", 5}};
    const auto traces = write();
    const auto wrong = group(traces, "cmt_data_o: expected and found");
    ASSERT_EQ(wrong.size(), 3u);
    EXPECT_TRUE(wrong[1].starts_with("(32)rtl.cmt_data_o[127:0] (33)rtl.cmt_data_o[127:0]"))
        << wrong[1];
    EXPECT_TRUE(wrong[1].ends_with(" (63)rtl.cmt_data_o[127:0]")) << wrong[1];
    EXPECT_EQ(group(traces, "cmt_data_o: columns 0 to 3").size(), 8u);
    EXPECT_EQ(group(traces, "signals of the top module"),
              std::vector<std::string>{"rtl.top.mine[4:0]"});
    EXPECT_EQ(find(traces, "rtl.busy_o"), nullptr) << "the waveform does not have it";
}

TEST_F(GtkwTest, TheMarkerOfANetStandsBeforeItsEdge) {
    Divergence found;
    found.what = "port";
    found.port = "act_ready_o";
    found.cycle_rtl = 77;
    look_at(request_, found);
    write();
    EXPECT_NE(text_.find(" 76750000 -1"), std::string::npos) << text_.substr(0, 300);
    found.port = "busy_o";
    text_.clear();
    look_at(request_, found);
    write();
    EXPECT_NE(text_.find(" 77000000 -1"), std::string::npos) << text_.substr(0, 300);
}

TEST_F(GtkwTest, Int8IsSignedDecimal) {
    request_.all_pes = true;
    const auto traces = write();
    for (const char* name : {"pe.r1_c2.activation[7:0]", "pe.r1_c2.weight[7:0]",
                             "pe.r1_c2.shadow[7:0]", "pe.r1_c2.psum[31:0]"}) {
        const Trace* trace = find(traces, name);
        ASSERT_NE(trace, nullptr) << name;
        EXPECT_TRUE(trace->flags & kSigned) << name;
        EXPECT_FALSE(trace->flags & (kHex | kBinary | kAscii | kThroughProgram)) << name;
    }
}

TEST_F(GtkwTest, Bf16GoesThroughTheFilter) {
    request_.all_pes = true;
    request_.shape.dtype = arch::Dtype::kBf16;
    const auto traces = write();
    for (const char* name : {"pe.r1_c2.activation[15:0]", "pe.r1_c2.weight[15:0]",
                             "pe.r1_c2.shadow[15:0]", "pe.r1_c2.psum[31:0]"}) {
        const Trace* trace = find(traces, name);
        ASSERT_NE(trace, nullptr) << name;
        EXPECT_TRUE(trace->flags & kHex) << "the filter reads hexadecimal digits: " << name;
        EXPECT_TRUE(trace->flags & kThroughProgram) << name;
        EXPECT_EQ(trace->program, request_.float_filter) << name;
    }
    text_.clear();
    request_.float_filter.clear();
    const Trace plain = *find(write(), "pe.r1_c2.psum[31:0]");
    EXPECT_TRUE(plain.flags & kHex);
    EXPECT_FALSE(plain.flags & kThroughProgram) << "without a filter";
}

TEST_F(GtkwTest, StatesAndInstructionsOfTheModelAreText) {
    const auto traces = write();
    for (const char* name :
         {"model.mxu.state[63:0]", "model.mxu.instruction[159:0]", "model.vector.state[63:0]"}) {
        const Trace* trace = find(traces, name);
        ASSERT_NE(trace, nullptr) << name;
        EXPECT_TRUE(trace->flags & kAscii) << name;
    }
    EXPECT_EQ(find(traces, "pe.r0_c0.psum[31:0]"), nullptr) << "no PE was recorded";
}

TEST_F(GtkwTest, APipelineHasFewerRegisters) {
    request_.all_pes = true;
    request_.shape.pipeline = 2;
    const auto traces = write();
    EXPECT_NE(find(traces, "pe.r0_c2.activation[7:0]"), nullptr);
    EXPECT_EQ(find(traces, "pe.r0_c1.activation[7:0]"), nullptr);
    EXPECT_NE(find(traces, "pe.r1_c0.psum[31:0]"), nullptr);
    EXPECT_EQ(find(traces, "pe.r0_c0.psum[31:0]"), nullptr);
}

TEST_F(GtkwTest, AFileThatCannotBeWrittenIsNotNamed) {
    request_.wave = (folder_ / "nothing" / "w.fst").string();
    EXPECT_THROW(write_gtkw(request_), UserError);
    request_.wave = (folder_ / "full.fst").string();
    std::filesystem::create_symlink("/dev/full", folder_ / "full.gtkw");
    EXPECT_THROW(write_gtkw(request_), UserError);
}

TEST_F(GtkwTest, AWaveformIsCompleteWhenItsLastBlockIs) {
    const std::string block = std::string(1, '\1') + std::string(7, '\0') + '\x0a' + "ab";
    put(block + block);
    EXPECT_TRUE(fst_is_complete(request_.wave));
    put(block + block.substr(0, 10));
    EXPECT_FALSE(fst_is_complete(request_.wave)) << "cut in the second block";
    put(block + block.substr(0, 5));
    EXPECT_FALSE(fst_is_complete(request_.wave)) << "cut in the length";
    put(std::string(100, '\0'));
    EXPECT_FALSE(fst_is_complete(request_.wave)) << "blocks of no length";
    put("");
    EXPECT_FALSE(fst_is_complete(request_.wave));
    EXPECT_FALSE(fst_is_complete((folder_ / "none").string()));
}

}  // namespace
}  // namespace tandem::cosim
