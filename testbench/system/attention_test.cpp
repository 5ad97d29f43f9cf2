// SPDX-License-Identifier: Apache-2.0
// A block of attention on chips: by firmware and as streams on all cores and arrays, and
// with RTL, the bytes of plain loops in the same cycles.
#include "testbench/support/attention_graph.h"

#include "testbench/system/command_line.h"

namespace tandem::testbench {
namespace {

class AttentionTest : public CommandLineTest,
                      public ::testing::WithParamInterface<bool /* int8 */> {
  protected:
    AttentionTest() {
        write_text(folder_ / "block.tgraph", attention_text(GetParam(), 3, 21, 37, 10));
        write_text(folder_ / "projected.tgraph", attention_text(GetParam(), 3, 21, 37, 10, true));
    }

    /// `rows`: of accumulators that RTL and model agree in.
    void expect_right(const std::string& arguments, int bytes, int rows) const {
        const std::string chip = GetParam() ? "test_16x16" : "test_16x16_bf16";
        const std::string all = "run " + arguments + " --chip " + chip + " --seed 3";
        uint64_t cycles = 0;
        for (const char* backend : {"tlm", "tandem"}) {
            SCOPED_TRACE(all + " --backend " + backend);
            const auto result = run_with_report(all + " --backend " + backend);
            ASSERT_EQ(result.status, 0) << result.output;
            EXPECT_EQ(result.report["checks"]["compared"], bytes * (GetParam() ? 1 : 2));
            EXPECT_EQ(result.report["checks"]["mismatches"], 0);
            const auto now = result.report["cycles"].get<uint64_t>();
            if (cycles != 0) {
                EXPECT_EQ(now, cycles);
                EXPECT_EQ(result.report["checks"]["rows_compared"], rows);
            }
            cycles = now;
        }
    }
};

// Products of 21 rows: 3 column tiles of one K tile, then one of 3 K tiles; 3 heads.
constexpr int kRows = 3 * 21 * (3 + 3);

TEST_P(AttentionTest, ByFirmware) {
    expect_right("block.tgraph --check plain --batch 2", 2 * 3 * 21 * 10, 2 * kRows);
    expect_right("block.tgraph --check plain --set cores=2 --set mxu.count=3", 3 * 21 * 10, kRows);
}

TEST_P(AttentionTest, OnAllCoresAndArrays) {
    expect_right("projected.tgraph --mode functional", 3 * 21 * 10, kRows + 3 * 21);
    expect_right("projected.tgraph --mode functional --set cores=3 --set mxu.count=2", 3 * 21 * 10,
                 kRows + 3 * 21);
}

INSTANTIATE_TEST_SUITE_P(Types, AttentionTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Int8" : "Bf16"; });

}  // namespace
}  // namespace tandem::testbench
