// SPDX-License-Identifier: Apache-2.0
#include "compiler/sync/synchroniser.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tandem::testbench {
namespace {

using compiler::Access;
using compiler::Space;
using compiler::Step;
using compiler::Synchroniser;
using isa::Unit;

Access reads(uint64_t begin, uint64_t end, uint32_t core = 0) {
    return {{Space::Kind::kBuffer, core, 0}, begin, end};
}
Access writes(uint64_t begin, uint64_t end, uint32_t core = 0) {
    return {{Space::Kind::kBuffer, core, 0}, begin, end, true};
}
Access sums(uint64_t begin, uint64_t end, bool written, uint32_t array = 0) {
    return {{Space::Kind::kAccumulators, 0, array}, begin, end, written};
}
Access memory(uint64_t begin, uint64_t end, bool written, bool shared = false) {
    return {{Space::Kind::kMemory, 0, 0}, begin, end, written, shared};
}

template <class Instruction>
Step step(std::initializer_list<Access> accesses, uint32_t core = 0, uint32_t array = 0) {
    Step s;
    s.place = {core, Instruction::kUnit, array};
    s.words = Instruction{}.encode();
    for (const Access& access : accesses) s.touches(access);
    return s;
}

struct Placed {
    uint32_t core = 0;
    isa::Words words{};
    isa::Header header;
};

std::vector<Placed> synchronise(const std::vector<Step>& steps, uint32_t cores = 1,
                                uint32_t arrays = 1) {
    std::vector<Placed> result;
    Synchroniser synchroniser(cores, arrays,
                              [&](uint32_t core, const isa::Words& words, const Step&) {
                                  result.push_back({core, words, isa::header_of(words)});
                              });
    for (const Step& s : steps) synchroniser.add(s);
    synchroniser.finish();
    return result;
}

std::vector<isa::Header> headers(const std::vector<Step>& steps) {
    std::vector<isa::Header> result;
    for (const Placed& p : synchronise(steps)) result.push_back(p.header);
    return result;
}

int flags_of(const isa::Header& h) {
    return (h.wait_a != 0) + (h.wait_b != 0) + (h.signal_a != 0) + (h.signal_b != 0);
}
bool is_fence_of(const Placed& placed, Unit unit) {
    return isa::opcode_of(placed.words) == static_cast<uint32_t>(isa::Opcode::kFence) &&
           isa::Fence::decode(placed.words).unit == static_cast<uint8_t>(unit);
}

TEST(Sync, LetsAReaderWaitForTheWriterInAnotherUnit) {
    const auto h = headers({step<isa::ReadHost>({writes(0, 64)}),
                            step<isa::Matmul>({reads(32, 40), sums(0, 8, true)})});
    EXPECT_NE(h[0].signal_a, 0);
    EXPECT_EQ(h[1].wait_a, h[0].signal_a);
    EXPECT_EQ(flags_of(h[0]), 1);
    EXPECT_EQ(flags_of(h[1]), 1);
}

TEST(Sync, LetsAWriterWaitForReadersInOtherUnits) {
    const auto h = headers({step<isa::Matmul>({reads(0, 64), sums(0, 8, true)}),
                            step<isa::ReadMemory>({writes(63, 100)})});
    EXPECT_NE(h[1].wait_a, 0);
    EXPECT_EQ(h[1].wait_a, h[0].signal_a);
}

TEST(Sync, OrdersTwoWritersOfDifferentUnits) {
    const auto h =
        headers({step<isa::ReadHost>({writes(0, 64)}), step<isa::Reduce>({writes(0, 64)})});
    EXPECT_NE(h[1].wait_a, 0);
}

TEST(Sync, SetsNoFlagWithinAUnit) {
    const auto h = headers(
        {step<isa::Map>({writes(0, 64)}), step<isa::Reduce>({reads(0, 64), writes(64, 70)})});
    EXPECT_EQ(flags_of(h[0]) + flags_of(h[1]), 0);
}

TEST(Sync, SetsNoFlagForNeighbours) {
    const auto h = headers({step<isa::ReadHost>({writes(0, 64)}),
                            step<isa::Matmul>({reads(64, 70), sums(0, 8, true)}),
                            step<isa::Map>({reads(70, 80), writes(80, 90)})});
    for (const auto& header : h) EXPECT_EQ(flags_of(header), 0);
}

TEST(Sync, KeepsSpacesApart) {
    const auto buffer_and_sums = headers({step<isa::Matmul>({sums(0, 8, true)}),
                                          step<isa::Requantise>({reads(0, 8), writes(100, 108)})});
    EXPECT_EQ(flags_of(buffer_and_sums[0]), 0);
    const auto arrays = synchronise({step<isa::Matmul>({sums(0, 8, true, 0)}, 0, 0),
                                     step<isa::Requantise>({sums(0, 8, false, 1)})},
                                    1, 2);
    EXPECT_EQ(flags_of(arrays[0].header), 0);
    const auto cores = synchronise(
        {step<isa::ReadHost>({writes(0, 8, 0)}), step<isa::Map>({reads(0, 8, 1)}, 1)}, 2);
    EXPECT_EQ(flags_of(cores[0].header), 0);
    const auto buffer_and_memory = headers(
        {step<isa::ReadHost>({writes(0, 8)}), step<isa::WriteMemory>({memory(0, 8, true)})});
    EXPECT_EQ(flags_of(buffer_and_memory[0]), 0);
}

TEST(Sync, WaitsForTheLastOfSeveralWriters) {
    const auto h =
        headers({step<isa::ReadHost>({writes(0, 8)}), step<isa::ReadHost>({writes(8, 16)}),
                 step<isa::Matmul>({reads(0, 16)})});
    EXPECT_EQ(h[0].signal_a, 0);
    EXPECT_EQ(h[2].wait_a, h[1].signal_a);
    EXPECT_NE(h[2].wait_a, 0);
}

TEST(Sync, WaitsOnceForWhatItsUnitHasWaitedForBefore) {
    const auto h = headers({step<isa::ReadHost>({writes(0, 64)}), step<isa::Matmul>({reads(0, 8)}),
                            step<isa::Matmul>({reads(8, 16)})});
    EXPECT_EQ(flags_of(h[2]), 0);
}

TEST(Sync, LeavesOutWhatAnotherWaitImplies) {
    // The requantise waits for the matmul, which has waited for the transfer.
    const auto h = headers(
        {step<isa::ReadHost>({writes(0, 64)}), step<isa::Matmul>({reads(0, 64), sums(0, 8, true)}),
         step<isa::Requantise>({sums(0, 8, false), reads(0, 4), writes(64, 80)})});
    EXPECT_EQ(h[2].wait_a, h[1].signal_a);
    EXPECT_EQ(h[2].wait_b, 0);
    EXPECT_EQ(h[0].signal_b, 0);
}

TEST(Sync, SplitsARegionThatIsPartlyOverwritten) {
    const auto h = headers({step<isa::ReadHost>({writes(0, 64)}), step<isa::Map>({writes(16, 32)}),
                            step<isa::WriteHost>({reads(32, 48)})});
    // Among the writers, only the transfer touched bytes 32 to 47.
    EXPECT_EQ(h[2].wait_a, h[0].signal_a == h[1].wait_a ? h[0].signal_b : h[0].signal_a);
    EXPECT_NE(h[2].wait_a, 0);
    EXPECT_EQ(h[2].wait_b, 0);
}

TEST(Sync, HasAFenceTakeTheWaitsThatAreTooMany) {
    const auto result = synchronise(
        {step<isa::Matmul>({reads(0, 8)}), step<isa::ReadHost>({writes(8, 16)}),
         step<isa::WriteHost>({reads(16, 24)}), step<isa::Reduce>({reads(8, 16), writes(0, 24)})});
    ASSERT_EQ(result.size(), 5u);
    ASSERT_TRUE(is_fence_of(result[3], Unit::kVector));
    EXPECT_NE(result[3].header.wait_a, 0);
    EXPECT_NE(result[3].header.wait_b, 0);
    EXPECT_NE(result[4].header.wait_a, 0);
    EXPECT_EQ(result[4].header.wait_b, 0);
    for (size_t i = 0; i < 3; ++i) EXPECT_NE(result[i].header.signal_a, 0) << i;
}

TEST(Sync, HasAFenceRaiseTheSignalThatIsOneTooMany) {
    const auto result = synchronise(
        {step<isa::Move>({reads(64, 72), writes(0, 8)}), step<isa::Matmul>({reads(0, 8)}),
         step<isa::WriteHost>({reads(0, 8)}), step<isa::ReadHost>({writes(64, 72)})});
    ASSERT_EQ(result.size(), 5u);
    ASSERT_TRUE(is_fence_of(result[3], Unit::kVector));
    EXPECT_EQ(result[3].header.wait_a, 0);
    EXPECT_NE(result[3].header.signal_a, 0);
    EXPECT_EQ(result[4].header.wait_a, result[3].header.signal_a);
}

TEST(Sync, TakesARoomySuccessorForAThirdSignal) {
    const auto h =
        headers({step<isa::Move>({reads(64, 72), writes(0, 8)}), step<isa::Matmul>({reads(0, 8)}),
                 step<isa::WriteHost>({reads(0, 8)}), step<isa::Map>({writes(200, 208)}),
                 step<isa::ReadHost>({writes(64, 72)})});
    ASSERT_EQ(h.size(), 5u);
    EXPECT_NE(h[3].signal_a, 0);
    EXPECT_EQ(h[4].wait_a, h[3].signal_a);
}

TEST(Sync, NeverSignalsFromSetWindow) {
    // The third signal of the product passes the window by.
    const auto result =
        synchronise({step<isa::Matmul>({reads(0, 8), sums(0, 8, true)}), step<isa::SetWindow>({}),
                     step<isa::Requantise>({sums(0, 8, false), writes(8, 16)}),
                     step<isa::ReadHost>({writes(0, 4)}), step<isa::Nop>({sums(0, 8, false)})});
    ASSERT_EQ(result.size(), 6u);
    EXPECT_NE(result[0].header.signal_a, 0);
    EXPECT_NE(result[0].header.signal_b, 0);
    EXPECT_EQ(flags_of(result[1].header), 0);
    ASSERT_TRUE(is_fence_of(result[4], Unit::kMxu));
    EXPECT_EQ(result[4].header.signal_a, result[5].header.wait_a);
}

TEST(Sync, RaisesAFlagOfTheCoreThatWaits) {
    const auto result = synchronise({step<isa::WriteMemory>({memory(0, 64, true)}, 0),
                                     step<isa::ReadMemory>({memory(0, 8, false)}, 1)},
                                    2);
    EXPECT_EQ(result[0].header.signal_a, 0);
    EXPECT_NE(result[0].header.signal_b, 0);
    EXPECT_EQ(result[0].header.core, 2);
    EXPECT_EQ(result[1].header.wait_a, result[0].header.signal_b);
}

TEST(Sync, LetsWritersOfASharedValueBe) {
    const auto writers = [](bool shared) {
        const auto result = synchronise({step<isa::WriteMemory>({memory(0, 64, true, shared)}, 0),
                                         step<isa::WriteMemory>({memory(0, 64, true, shared)}, 1),
                                         step<isa::ReadMemory>({memory(0, 64, false)}, 0)},
                                        2);
        return std::pair{flags_of(result[1].header), flags_of(result[2].header)};
    };
    EXPECT_EQ(writers(true).first, 1) << "raises one flag, waits for none";
    EXPECT_EQ(writers(true).second, 2) << "the reader waits for both";
    EXPECT_EQ(writers(false).first, 2);
    EXPECT_EQ(writers(false).second, 1) << "one has waited for the other";
}

TEST(Sync, WaitsForStepsThatWereHandedOutLongAgo) {
    std::vector<Step> steps = {step<isa::ReadHost>({writes(0, 64)})};
    for (int64_t i = 0; i < 3 * Synchroniser::kWindow; ++i)
        steps.push_back(step<isa::Map>({writes(200, 208)}));
    steps.push_back(step<isa::Matmul>({reads(0, 8)}));
    const auto result = synchronise(steps);
    ASSERT_EQ(result.size(), steps.size() + 1);
    ASSERT_TRUE(is_fence_of(result[result.size() - 2], Unit::kDmaIn));
    EXPECT_EQ(result.back().header.wait_a, result[result.size() - 2].header.signal_a);
    EXPECT_NE(result.back().header.wait_a, 0);
}

TEST(Sync, NeverForgetsWhoTouchedWhat) {
    // So many pieces that the maps are made coarser; each byte still has its writer.
    std::vector<Step> steps;
    constexpr uint64_t kPieces = 20'000;
    for (uint64_t i = 0; i < kPieces; ++i)
        steps.push_back(step<isa::ReadHost>({writes(2 * i, 2 * i + 1)}));
    for (int64_t i = 0; i < 2 * Synchroniser::kWindow; ++i)
        steps.push_back(step<isa::Map>({writes(100'000, 100'008)}));
    for (const uint64_t i : {uint64_t{0}, uint64_t{7777}, kPieces - 1}) {
        auto with_reader = steps;
        with_reader.push_back(step<isa::Matmul>({reads(2 * i, 2 * i + 1)}));
        EXPECT_NE(synchronise(with_reader).back().header.wait_a, 0) << i;
    }
}

TEST(Sync, NeedsNoFlagBehindItsSequencer) {
    const auto h =
        headers({step<isa::Map>({writes(0, 8)}), step<isa::Nop>({reads(0, 8)}),
                 step<isa::WriteHost>({reads(0, 8)}), step<isa::ReadHost>({writes(0, 8)})});
    EXPECT_EQ(h[1].wait_a, h[0].signal_a);
    EXPECT_EQ(h[1].signal_a, 0);
    EXPECT_EQ(h[2].wait_a, 0) << "the barrier has waited";
    EXPECT_EQ(h[3].wait_a, h[2].signal_a) << "and only the transfer is left to wait for";
    EXPECT_EQ(h[3].wait_b, 0);
}

TEST(Sync, SaysWhenThereAreTooFewFlags) {
    const auto everybody_waits = [](uint32_t arrays) {
        std::vector<Step> steps;
        // Each array's product is read by the next one.
        for (uint32_t a = 0; a < arrays; ++a)
            for (uint32_t b = 0; b < arrays; ++b) {
                steps.push_back(step<isa::Matmul>({writes(0, 8)}, 0, a));
                steps.push_back(step<isa::Matmul>({reads(0, 8)}, 0, b));
            }
        synchronise(steps, 1, arrays);
    };
    EXPECT_NO_THROW(everybody_waits(15));
    EXPECT_THROW(everybody_waits(18), std::out_of_range);
}

}  // namespace
}  // namespace tandem::testbench
