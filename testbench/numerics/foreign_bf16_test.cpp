// SPDX-License-Identifier: Apache-2.0
// bf16_pairs --rtl: an array that is not Tandem's to it (Tandem's own RTL under another top) is
// judged by MPFR alone, and faults of its arithmetic are found where they are planted.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ForeignBf16 : public CommandLineTest {
  protected:
    ForeignBf16() {
        for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "rtl"))
            if (entry.is_regular_file())
                std::filesystem::copy_file(entry.path(), folder_ / entry.path().filename());
        write_text(folder_ / "user.f", read_text(folder_ / "filelist.f") + "user_mxu.sv\n");
        std::string top = read_text(folder_ / "tpu_mxu.sv");
        const auto ports = top.find(") (", top.find("module tpu_mxu"));
        const auto end = top.find(");", ports);
        EXPECT_NE(end, std::string::npos);
        write_text(folder_ / "user_mxu.sv", R"(module user_mxu #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  parameter  int unsigned Dtype    = 1,
  localparam int unsigned ElemW    = 16,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
)" + top.substr(ports, end + 2 - ports) + R"(
  tpu_mxu #(.Rows(Rows), .Cols(Cols), .AccDepth(AccDepth), .Dtype(Dtype), .Form(1)) u_mxu (.*);
endmodule
)");
        write_text(folder_ / "user_mxu.yaml",
                   "name: user's\ncommit_latency: rows + cols + 1\ndtypes: [bf16]\n");
    }
    /// Small and compiled fast: it is the arithmetic that counts.
    CommandResult judge(const std::string& array, double results) const {
        const auto program = std::filesystem::path(environment("TANDEM_BINARY")).parent_path() /
                             "testbench/bf16_pairs";
        return shell("TANDEM_ARRAY_OPT=-O0 '" + program.string() + "' --pairs " +
                     std::to_string(results) + " " + array);
    }
    CommandResult judge_user(double results = 100'000) const {
        return judge("--rtl user.f --rtl-top user_mxu --rows 4 --cols 2 --accumulators 16 --seed 3",
                     results);
    }
};

TEST_F(ForeignBf16, IsJudgedByMpfrAlone) {
    expect(judge_user(), 0,
           {"user_mxu 4x2 bf16: seed 3", "product in a PE", "sum in a column",
            "sum in an accumulator", "group of four", "chain of a column", "mismatches 0,"});
}

TEST_F(ForeignBf16, AFaultOfTheArithmeticIsFoundWithItsOperands) {
    struct Fault {
        const char *what, *from, *to, *meeting;
    };
    for (const Fault& fault :
         {Fault{"ties away from zero", "mag = ((mag + 32'h3f) >> 7)", "mag = ((mag + 32'h40) >> 7)",
                "sum in a column"},
          Fault{"overflow at the edge of the last binade",
                "mag = (mag > Infinity) ? Infinity : mag;\n    round",
                "mag = (mag >= Infinity) ? 32'h7f7f_ffff : mag;\n    round", "sum in a column"},
          Fault{"a product one binade too early to zero", "biased >= (32'd128 << 23)",
                "biased >= (32'd129 << 23)", "product in a PE"},
          Fault{"no sticky bit", "lost     = (lost < 32'd2) ? lost : 32'd2;", "lost     = 32'd0;",
                "sum in an accumulator"}}) {
        SCOPED_TRACE(fault.what);
        const std::string right = read_text(folder_ / "tpu_bf16_pkg.sv");
        change("tpu_bf16_pkg.sv", fault.from, fault.to);
        const auto found = judge_user();
        expect(found, 1,
               {std::string("MISMATCH "), "expected", "activation x weight:", "row ",
                "again: bf16_pairs --rows 4"});
        const auto line = found.output.find(std::string("\n") + fault.meeting + ": ");
        ASSERT_NE(line, std::string::npos);
        const auto count = found.output.find("mismatches ", line);
        EXPECT_NE(found.output.substr(count, 13), "mismatches 0\n") << found.output;
        write_text(folder_ / "tpu_bf16_pkg.sv", right);
    }
}

TEST_F(ForeignBf16, TheSameSeedSaysTheSame) {
    const auto without_times = [](const std::string& text) {
        return text.substr(text.find("user_mxu 4x2"), text.rfind("mismatches") - text.find("user"));
    };
    expect(judge_user(1000), 0, {});
    const std::string once = without_times(judge_user(1000).output);
    EXPECT_EQ(once, without_times(judge_user(1000).output));
}

TEST_F(ForeignBf16, AnArrayThatIsNotThereOrHasNoBf16IsRefused) {
    const auto tree = (source_dir() / "rtl/adder_tree/filelist.f").string();
    expect(judge("--rtl '" + tree + "' --rtl-top tree_mxu", 1000), 2,
           {"tree_mxu.yaml: dtypes: expected int8", "bf16"});
    expect(judge("--rows 4 --dtype int8", 1000), 2, {"--dtype", "tandem verify judges int8"});
    expect(judge("--rtl nothing.f --rtl-top nothing", 1000), 2, {"nothing.f", "cannot be read"});
    expect(judge("--rtl user.f", 1000), 2, {"--rtl-top"});
}

TEST_F(ForeignBf16, AnArrayThatStandsStillIsToldNotWaitedFor) {
    change("user_mxu.sv", "u_mxu (.*);",
           "u_mxu (.*, .act_ready_o());\n  assign act_ready_o = 1'b0;");
    std::filesystem::remove(folder_ / "user_mxu.yaml");
    expect(judge_user(1000), 1,
           {"MISMATCH", "ActReady_A", "tandem verify tells more", "again: bf16_pairs"});
}

}  // namespace
}  // namespace tandem::testbench
