// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/schedule.h"

#include <gtest/gtest.h>

namespace tandem::testing {
namespace {

using compiler::Access;
using compiler::Space;
using compiler::Step;

Access bytes(uint64_t begin, uint64_t end) { return {Space::kUnifiedBuffer, begin, end}; }
Access sums(uint64_t begin, uint64_t end) { return {Space::kAccumulators, begin, end}; }

template <class Instruction>
Step step(std::vector<Access> reads, std::vector<Access> writes) {
    return {.instruction = Instruction{},
            .reads = std::move(reads),
            .writes = std::move(writes),
            .source = {}};
}

std::vector<isa::Header> headers(std::vector<Step> steps) {
    std::vector<isa::Header> result;
    for (Step& s : compiler::synchronise(std::move(steps))) result.push_back(s.header());
    return result;
}

int flags_of(const isa::Header& h) {
    return (h.wait_a != 0) + (h.wait_b != 0) + (h.signal_a != 0) + (h.signal_b != 0);
}

TEST(Schedule, LetsAReaderWaitForTheWriterInAnotherUnit) {
    const auto h = headers({step<isa::ReadHost>({}, {bytes(0, 64)}),
                            step<isa::Matmul>({bytes(32, 40)}, {sums(0, 8)})});
    EXPECT_NE(h[0].signal_a, 0);
    EXPECT_EQ(h[1].wait_a, h[0].signal_a);
    EXPECT_EQ(flags_of(h[0]), 1);
    EXPECT_EQ(flags_of(h[1]), 1);
}

TEST(Schedule, LetsAWriterWaitForReadersInOtherUnits) {
    const auto h = headers({step<isa::Matmul>({bytes(0, 64)}, {sums(0, 8)}),
                            step<isa::ReadMemory>({}, {bytes(63, 100)})});
    EXPECT_NE(h[1].wait_a, 0);
    EXPECT_EQ(h[1].wait_a, h[0].signal_a);
}

TEST(Schedule, OrdersTwoWritersOfDifferentUnits) {
    const auto h =
        headers({step<isa::ReadHost>({}, {bytes(0, 64)}), step<isa::Softmax>({}, {bytes(0, 64)})});
    EXPECT_NE(h[1].wait_a, 0);
}

TEST(Schedule, SetsNoFlagWithinAUnit) {
    const auto h = headers(
        {step<isa::Add>({}, {bytes(0, 64)}), step<isa::Softmax>({bytes(0, 64)}, {bytes(64, 70)})});
    EXPECT_EQ(flags_of(h[0]) + flags_of(h[1]), 0);
}

TEST(Schedule, SetsNoFlagForNeighbours) {
    const auto h = headers({step<isa::ReadHost>({}, {bytes(0, 64)}),
                            step<isa::Matmul>({bytes(64, 70)}, {sums(0, 8)}),
                            step<isa::Add>({bytes(70, 80)}, {bytes(80, 90)})});
    for (const auto& header : h) EXPECT_EQ(flags_of(header), 0);
}

TEST(Schedule, KeepsBufferAndAccumulatorsApart) {
    const auto h = headers({step<isa::Matmul>({}, {sums(0, 8)}),
                            step<isa::Activate>({bytes(0, 8)}, {bytes(100, 108)})});
    EXPECT_EQ(flags_of(h[0]), 0);
}

TEST(Schedule, WaitsForTheLastOfSeveralWriters) {
    const auto h =
        headers({step<isa::ReadHost>({}, {bytes(0, 8)}), step<isa::ReadHost>({}, {bytes(8, 16)}),
                 step<isa::Matmul>({bytes(0, 16)}, {})});
    EXPECT_EQ(h[0].signal_a, 0);
    EXPECT_EQ(h[2].wait_a, h[1].signal_a);
    EXPECT_NE(h[2].wait_a, 0);
}

TEST(Schedule, WaitsOnceForWhatItsUnitHasWaitedForBefore) {
    const auto h =
        headers({step<isa::ReadHost>({}, {bytes(0, 64)}), step<isa::Matmul>({bytes(0, 8)}, {}),
                 step<isa::Matmul>({bytes(8, 16)}, {})});
    EXPECT_EQ(flags_of(h[2]), 0);
}

TEST(Schedule, LeavesOutWhatAnotherWaitImplies) {
    // The activate waits for the matmul, which has waited for the transfer.
    const auto h = headers({step<isa::ReadHost>({}, {bytes(0, 64)}),
                            step<isa::Matmul>({bytes(0, 64)}, {sums(0, 8)}),
                            step<isa::Activate>({sums(0, 8), bytes(0, 4)}, {bytes(64, 80)})});
    EXPECT_EQ(h[2].wait_a, h[1].signal_a);
    EXPECT_EQ(h[2].wait_b, 0);
    EXPECT_EQ(h[0].signal_b, 0);
}

TEST(Schedule, SplitsARegionThatIsPartlyOverwritten) {
    const auto h =
        headers({step<isa::ReadHost>({}, {bytes(0, 64)}), step<isa::Add>({}, {bytes(16, 32)}),
                 step<isa::WriteHost>({bytes(32, 48)}, {})});
    // Of the writers, only the transfer touched bytes 32 to 47.
    EXPECT_EQ(h[2].wait_a, h[0].signal_a == h[1].wait_a ? h[0].signal_b : h[0].signal_a);
    EXPECT_NE(h[2].wait_a, 0);
    EXPECT_EQ(h[2].wait_b, 0);
}

TEST(Schedule, StopsTheSequencerForAThirdWait) {
    auto result = compiler::synchronise({step<isa::Matmul>({bytes(0, 8)}, {}),
                                         step<isa::ReadHost>({}, {bytes(8, 16)}),
                                         step<isa::WriteHost>({bytes(16, 24)}, {}),
                                         step<isa::Softmax>({bytes(8, 16)}, {bytes(0, 24)})});
    ASSERT_EQ(result.size(), 5u);
    ASSERT_TRUE(std::holds_alternative<isa::Nop>(result[3].instruction));
    EXPECT_NE(result[3].header().wait_a, 0);
    EXPECT_NE(result[4].header().wait_a, 0);
    EXPECT_NE(result[4].header().wait_b, 0);
    for (size_t i = 0; i < 3; ++i) EXPECT_NE(result[i].header().signal_a, 0) << i;
}

TEST(Schedule, CarriesAThirdSignalOnARepeatedWindow) {
    const isa::SetPoolWindow window{.header = {}, .geometry = {.in_height = 7, .in_width = 9}};
    auto result =
        compiler::synchronise({{.instruction = window, .reads = {}, .writes = {}, .source = {}},
                               step<isa::Pool>({bytes(64, 72)}, {bytes(0, 8)}),
                               step<isa::Matmul>({bytes(0, 8)}, {}),
                               step<isa::WriteHost>({bytes(0, 8)}, {}),
                               step<isa::ReadHost>({}, {bytes(64, 72)})});
    ASSERT_EQ(result.size(), 6u);
    const auto* repeated = std::get_if<isa::SetPoolWindow>(&result[4].instruction);
    ASSERT_NE(repeated, nullptr);
    EXPECT_EQ(repeated->geometry, window.geometry);
    EXPECT_EQ(repeated->header.wait_a, 0);
    EXPECT_NE(repeated->header.signal_a, 0);
    EXPECT_EQ(result[5].header().wait_a, repeated->header.signal_a);
    EXPECT_EQ(result[0].header().signal_a, 0) << "the first window must not signal early";
}

TEST(Schedule, TakesARoomySuccessorForAThirdSignal) {
    auto result = compiler::synchronise(
        {step<isa::Pool>({bytes(64, 72)}, {bytes(0, 8)}), step<isa::Matmul>({bytes(0, 8)}, {}),
         step<isa::WriteHost>({bytes(0, 8)}, {}), step<isa::Add>({}, {bytes(200, 208)}),
         step<isa::ReadHost>({}, {bytes(64, 72)})});
    ASSERT_EQ(result.size(), 5u);
    EXPECT_NE(result[3].header().signal_a, 0);
    EXPECT_EQ(result[4].header().wait_a, result[3].header().signal_a);
}

TEST(Schedule, NeverSignalsFromSetWindow) {
    auto result = compiler::synchronise({step<isa::Matmul>({bytes(0, 8)}, {sums(0, 8)}),
                                         step<isa::SetWindow>({}, {}),
                                         step<isa::Activate>({sums(0, 8)}, {bytes(0, 8)})});
    EXPECT_NE(result[0].header().signal_a, 0);
    EXPECT_EQ(flags_of(result[1].header()), 0);
}

}  // namespace
}  // namespace tandem::testing
