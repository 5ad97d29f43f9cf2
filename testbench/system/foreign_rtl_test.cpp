// SPDX-License-Identifier: Apache-2.0
// RTL that a user brings, by --rtl, in every command that takes it; the array of adder trees stands
// for it.
#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class ForeignRtlTest : public CommandLineTest {
  protected:
    static std::filesystem::path tree() { return source_dir() / "rtl" / "adder_tree"; }
    static std::string array(const std::filesystem::path& folder = tree()) {
        return " --rtl '" + (folder / "filelist.f").string() + "' --rtl-top tree_mxu";
    }
    /// A copy of the array, for changes.
    void copy_tree() {
        for (const auto& entry : std::filesystem::directory_iterator(tree()))
            std::filesystem::copy_file(entry.path(), folder_ / entry.path().filename());
    }
};

TEST_F(ForeignRtlTest, BuildTellsWhatIsDeclared) {
    expect(run("rtl build --rows 8 --cols 8" + array()), 0,
           {"8x8 int8", "form other", "declared and measured: commit latency 5"});
}

TEST_F(ForeignRtlTest, ItAgreesWithTheModelAtItsDeclaredLatency) {
    for (const char* size : {" --rows 8 --cols 8", " --rows 1 --cols 1", " --rows 5 --cols 3"})
        expect(run(std::string("verify --streams 20 --accumulators 64") + size + array()), 0, {});
}

TEST_F(ForeignRtlTest, ANetworkRunsOnIt) {
    const auto tandem =
        run_with_report(digits() + "--count 4 --chip test_8x8 --backend tandem" + array());
    expect(tandem, 0, {"model and RTL agree"});
    const auto rtl =
        run_with_report(digits() + "--count 4 --chip test_8x8 --backend rtl" + array());
    expect(rtl, 0, {});
    const auto tlm =
        run_with_report(digits() + "--count 4 --chip test_8x8 --backend tlm" + array());
    expect(tlm, 0, {});
    EXPECT_EQ(tandem.report["cycles"], rtl.report["cycles"]);
    EXPECT_EQ(tandem.report["cycles"], tlm.report["cycles"]);
    const auto own = run_with_report(digits() + "--count 4 --chip test_8x8");
    EXPECT_LT(tandem.report["cycles"], own.report["cycles"]) << "its latency is shorter";
    expect(run("gemm 20 30 40 --chip test_8x8 --backend tandem" + array()), 0, {});
}

TEST_F(ForeignRtlTest, ALatencyThatIsNotTrue) {
    copy_tree();
    change("tree_mxu.yaml", "log2ceil(rows) + 2", "log2ceil(rows) + 3");
    const std::vector<std::string> texts = {"tree_mxu.yaml", "declared commit_latency 6",
                                            "the RTL took 5"};
    expect(run("verify --rows 8 --cols 8 --streams 1" + array(folder_)), 2, texts);
    expect(run(digits() + "--count 1 --chip test_8x8 --backend tandem" + array(folder_)), 2, texts);
    expect(run("gemm 8 8 8 --chip test_8x8 --backend rtl" + array(folder_)), 2, texts);
    expect(run("verify --rows 8 --cols 8 --streams 1 --rtl-timing '" +
               (tree() / "tree_mxu.yaml").string() + "'" + array(folder_)),
           0, {});
}

TEST_F(ForeignRtlTest, WithoutADeclarationTheOwnTimingIsAssumedAndSaid) {
    copy_tree();
    std::filesystem::remove(folder_ / "tree_mxu.yaml");
    expect(run("verify --rows 8 --cols 8 --streams 1 --accumulators 64" + array(folder_)), 1,
           {"tree_mxu.yaml is not there", "cycle"});
}

TEST_F(ForeignRtlTest, APortThatBreaksTheContractIsFoundMadeSmallAndReplayed) {
    const std::string verify = "verify --rows 4 --cols 4 --accumulators 64";
    struct Fault {
        const char *file, *from, *to, *port;
    };
    for (const Fault& fault :
         {Fault{"tree_mxu.sv", "act_ready_o = rst_ni &&", "act_ready_o = rst_ni && act_valid_i &&",
                "act_ready_o"},
          Fault{"tree_mxu.sv", "wgt_ready_o = rst_ni &&", "wgt_ready_o = rst_ni && wgt_valid_i &&",
                "wgt_ready_o"},
          Fault{"tree_mxu.sv", "if (row) act_q <= act_data_i;",
                "if (act_valid_i || !rst_ni) act_q <= act_data_i ^ {Rows*8{!act_ready_o}};",
                nullptr}}) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        copy_tree();
        change(fault.file, fault.from, fault.to);
        const auto found = run_with_report(verify + " --streams 10" + array(folder_));
        if (fault.port == nullptr) {  // what nobody accepts makes no difference
            expect(found, 0, {"every port as the contract says"});
            continue;
        }
        expect(found, 1, {"port", fault.port, "waits for its valid", "made small", "--replay"});
        const auto& divergence = found.report["first_divergence"];
        EXPECT_EQ(divergence["port"], fault.port);
        EXPECT_LE(divergence["cycle_rtl"], 1u) << "an edge shows it";
        const std::string replay = " --replay tandem_verify_ports_seed0.txt";
        expect(run(verify + replay + array(folder_)), 1, {fault.port});
        expect(run(verify + replay + array()), 0, {"every port as the contract says"});
        expect(run(verify + replay), 0, {"every port as the contract says"});
        EXPECT_TRUE(std::filesystem::exists(folder_ / "tandem_verify_ports_seed0.fst"));
    }
    expect(run(verify + " --replay nothing.txt"), 2, {"nothing.txt", "cannot be read"});
    write_text(folder_ / "wrong.txt", "initial 3\n-\nact 01@5\n");
    expect(run(verify + " --replay wrong.txt"), 2, {"wrong.txt, line 3", "8 hexadecimal digits"});
}

TEST_F(ForeignRtlTest, AHintNamesTheMistake) {
    struct Mistake {
        const char *file, *from, *to, *hint;
    };
    const char* const beat = ".load_data_i (wgt_data_i[c*8 +: 8])";
    const char* const adds = "(sum_accumulate_i ? old_row[c*32 +: 32] : 32'd0)";
    const char* const sum =
        "    assign new_row[c*32 +: 32] = sum_data_i[c*32 +: 32]\n"
        "                               + (sum_accumulate_i ? old_row[c*32 +: 32] : 32'd0);";
    const char* const saturating_sum =
        "    logic [31:0] a, s;\n"
        "    assign a = sum_accumulate_i ? old_row[c*32 +: 32] : 32'd0;\n"
        "    assign s = sum_data_i[c*32 +: 32] + a;\n"
        "    assign new_row[c*32 +: 32] = (a[31] == sum_data_i[c*32+31] && s[31] != a[31])\n"
        "                               ? {a[31], {31{!a[31]}}} : s;";
    for (const Mistake& mistake :
         {Mistake{"tree_mxu.sv", beat, ".load_data_i (wgt_data_i[(Cols-1-c)*8 +: 8])",
                  "with the columns mirrored"},
          Mistake{"tree_mxu.sv", "RowW'(left_q - 1'b1)", "RowW'(Rows - left_q)", "upside down"},
          Mistake{"tree_accumulators.sv", adds, "old_row[c*32 +: 32]", "which it should replace"},
          Mistake{"tree_accumulators.sv", adds, "32'd0", "to which it should be added"},
          Mistake{"tree_column.sv", "$signed(act_i[r*8 +: 8])", "act_i[r*8 +: 8]",
                  "with activations taken as unsigned"},
          Mistake{"tree_column.sv", "$signed(weight_q[r])", "weight_q[r]",
                  "with weights taken as unsigned"},
          Mistake{"tree_mxu.sv", ".act_i       (act_q)", ".act_i       (act_data_i)",
                  "taken too late"},
          Mistake{"tree_column.sv", "assign sum_o = node_q[1];",
                  "assign sum_o = {{16{node_q[1][15]}}, node_q[1][15:0]};", "cut to 16 bits"},
          Mistake{"tree_accumulators.sv", sum, saturating_sum, "saturated"},
          Mistake{"tree_mxu.sv", beat,
                  ".load_data_i (wgt_data_i[c*8 +: 8] & (c == 2 ? 8'h7f : 8'hff))",
                  "column 2 of 4 alone is wrong"}}) {
        SCOPED_TRACE(mistake.hint);
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        copy_tree();
        change(mistake.file, mistake.from, mistake.to);
        const auto found = run_with_report(
            "verify --rows 4 --cols 4 --accumulators 64 --streams 4" + array(folder_));
        expect(found, 1, {"hint: ", mistake.hint});
        EXPECT_NE(found.report["first_divergence"]["hint"].get<std::string>().find(mistake.hint),
                  std::string::npos);
    }
    expect(run("gemm 64 8 8 --chip test_8x8 --backend tandem" + array(folder_)), 1,
           {"hint", "column 2 of 8 alone is wrong"});
}

TEST_F(ForeignRtlTest, AHintNamesTheRuleOfFloatsThatDiffers) {
    struct Mistake {
        const char *file, *from, *to, *array, *hint;
    };
    for (const Mistake& mistake :
         {Mistake{"tpu_bf16_pkg.sv", "mag = normal | ((normal >> 7) & 32'd1);",
                  "mag = normal | 32'd1;", "", "with ties rounded away from zero, not to even"},
          Mistake{"tpu_bf16_pkg.sv", "mag = ((mag + 32'h3f) >> 7)", "mag = (normal >> 7)", "",
                  "with sums truncated, not rounded to nearest"},
          Mistake{"tpu_array_flat.sv", "if (Sum4 == 0) begin", "if (1'b1) begin",
                  " --pipeline 4 --sum4", "with column sums formed product by product"}}) {
        SCOPED_TRACE(mistake.hint);
        std::filesystem::remove_all(folder_);
        std::filesystem::copy(source_dir() / "rtl", folder_,
                              std::filesystem::copy_options::recursive);
        change(mistake.file, mistake.from, mistake.to);
        expect(run("verify --rows 4 --cols 3 --dtype bf16 --form flat --streams 2 --rtl '" +
                   (folder_ / "filelist.f").string() + "' --rtl-top tpu_mxu" + mistake.array),
               1, {"hint: ", mistake.hint});
    }
}

/// What no port of the model shows is left to the checker beside the array, which names its rule.
TEST_F(ForeignRtlTest, TheCheckerNamesTheRule) {
    copy_tree();
    change("tree_mxu.sv", "wgt_ready_o = rst_ni && left_q", "wgt_ready_o = left_q");
    const auto found =
        run_with_report("verify --rows 4 --cols 4 --streams 1 --accumulators 64" + array(folder_));
    expect(found, 1, {"assertion", "tpu_port_contract.sv:", "NotReadyInReset_A: a port is ready"});
    EXPECT_EQ(found.report["first_divergence"]["kind"], "assertion");
    EXPECT_EQ(found.report["first_divergence"]["signal"], "NotReadyInReset_A");
    expect(run("gemm 8 8 8 --chip test_8x8 --backend tandem" + array(folder_)), 1,
           {"assertion", "NotReadyInReset_A"});
}

TEST_F(ForeignRtlTest, VectorsOfAStream) {
    const std::string verify = "verify --rows 4 --cols 2 --accumulators 5 --streams 1";
    const std::string file = (folder_ / "vectors.hex").string();
    expect(run(verify + " --seed 3 --vectors '" + file + "'" + array()), 0, {});
    EXPECT_NE(read_text(file).find("// Rows=4 Cols=2 AccDepth=5 Dtype=0 CommitLatency=4 Weight"),
              std::string::npos);
    write_text(folder_ / "stream.txt", "initial 3\nwgt 0102\nwgt~ 0102 hold reset\n");
    expect(run(verify + " --replay stream.txt --vectors '" + file + "'" + array()), 0, {});
    const std::string zeros(16, '0');
    // Two edges: a beat that makes work, and a reset.
    const std::string words = "\n0_00000002_00000005_0002_0004\n43_0_0_0201_00000000_0_27_0_" +
                              zeros + '_' + zeros + "\n00_0_0_0201_00000000_0_00_0_" + zeros + '_' +
                              zeros + '\n';
    EXPECT_NE(read_text(file).find(words), std::string::npos) << read_text(file);
    expect(run(verify + " --vectors /proc/nothing/x" + array()), 2, {"/proc/nothing/x"});
}

TEST_F(ForeignRtlTest, AWrongSumIsFound) {
    copy_tree();
    change("tree_column.sv", "node_q[2*n] + node_q[2*n+1]", "node_q[2*n] | node_q[2*n+1]");
    expect(run("verify --rows 4 --cols 4 --streams 1 --accumulators 64" + array(folder_)), 1,
           {"value", "expected"});
    // In a run, where the program starts long after the reset, the window counts from its start.
    const auto found =
        run_with_report("gemm 8 8 8 --chip test_8x8 --backend tandem" + array(folder_));
    expect(found, 1, {"value"});
    const auto window = found.report["first_divergence"]["wave_window"];
    const uint64_t cycle = found.report["first_divergence"]["cycle_rtl"];
    EXPECT_LE(window["from_cycle"].get<uint64_t>(), cycle);
    EXPECT_GT(window["to_cycle"].get<uint64_t>(), cycle);
    EXPECT_LT(window["to_cycle"].get<uint64_t>(), cycle + 1000);
}

TEST_F(ForeignRtlTest, MistakesOfTheCommandLine) {
    expect(run("verify --rtl x.f"), 2, {"--rtl-top"});
    expect(run("verify --rtl-top x"), 2, {"--rtl"});
    expect(run("verify --rtl nothing.f --rtl-top x"), 2, {"nothing.f", "cannot be read"});
    expect(run("verify --rows 8 --cols 8 --dtype bf16" + array()), 2, {"dtypes", "int8", "bf16"});
    expect(run("verify --rows 8 --cols 8 --rtl-timing none.yaml" + array()), 2, {"none.yaml"});
    expect(run("verify --sum4"), 2, {"--sum4", "bf16"});
    expect(run("verify --sum4 --dtype bf16 --pipeline 6"), 2, {"--sum4", "multiple of 4"});
    expect(run("verify --form grid --rows 128 --cols 128"), 2, {"grid", "1024"});
}

}  // namespace
}  // namespace tandem::testbench
