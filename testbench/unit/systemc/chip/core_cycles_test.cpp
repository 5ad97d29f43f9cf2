// SPDX-License-Identifier: Apache-2.0
// Cycles of small programs, counted by hand from docs/timing.md: weights and their shift,
// synchronisation, programs that are made while they run. One simulation per process.
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

constexpr uint32_t kTileBytes = 32;

class CoreCycles : public CoresTest {
  protected:
    uint64_t mxu_cause(Cause cause) {
        return CoresBench::cause(bench->chip.core(0).mxu().account(), cause);
    }
    uint64_t sequencer_cause(Cause cause) {
        return CoresBench::cause(bench->chip.core(0).sequencer().account(), cause);
    }
};

// 8 x 4 array, 500 MHz. Memory: 4 GB/s are 8 bytes a cycle, latency 100 ns are 50 cycles.
TEST_F(CoreCycles, WaitingForATileIsToldFromItsShift) {
    make(small_chip(), false);
    bench->run([&] {
        ASSERT_FALSE(bench->program(0, {read_weights_of(0, 0, 1), set_window(matrix_window(64, 8)),
                                        matmul({}, 0, 4, 8).encode(), halt()}));
        const uint64_t fetched = 4 * 32 / 8 + 50;                // 66: four instructions have come
        const uint64_t arrived = fetched + kTileBytes / 8 + 50;  // 120: the tile is in the FIFO
        const uint64_t first_beat = arrived + 1;                 // 121: at the weight port
        const uint64_t last_beat = first_beat + 8 - 1;           // 128: row 0 of the tile
        const uint64_t first_row = last_beat + 1;                // 129: swaps
        const uint64_t last_commit = first_row + 3 + 8 + 4 + 1;  // 145: R + C + 1 behind its row
        const uint64_t at_array = fetched + 2 + 1;  // 69: third instruction, and its issue
        EXPECT_EQ(bench->cycles(), last_commit + 1);
        EXPECT_EQ(mxu_cause(Cause::kWaitWeights), first_beat - at_array);
        EXPECT_EQ(mxu_cause(Cause::kWaitShift), first_row - first_beat);
        EXPECT_EQ(mxu_cause(Cause::kBusy), 4u);
        EXPECT_EQ(mxu_cause(Cause::kIdle), at_array + (last_commit + 1 - (first_row + 4)));
    });
}

TEST_F(CoreCycles, ATileThatStandsInTheFifoIsShiftedBehindTheSwap) {
    make(small_chip(), false);
    bench->run([&] {
        ASSERT_FALSE(bench->program(
            0, {read_weights_of(0, 0, 2), set_window(matrix_window(64, 8)),
                matmul({}, 0, 4, 8).encode(), matmul({}, 0, 3, 8, 8).encode(), halt()}));
        const uint64_t fetched = 5 * 32 / 8 + 50;                       // 70
        const uint64_t first_beat = fetched + kTileBytes / 8 + 50 + 1;  // 125
        const uint64_t first_row = first_beat + 8;                      // 133: the first swap
        const uint64_t second_beat = first_row + 1;                     // 134: L(i)
        const uint64_t second_row = second_beat + 8;                    // 142: the second swap
        const uint64_t at_array = fetched + 2 + 1;                      // 73
        EXPECT_EQ(bench->cycles(), second_row + 2 + 8 + 4 + 1 + 1);
        EXPECT_EQ(mxu_cause(Cause::kWaitWeights), first_beat - at_array);
        // The first tile's shift, and of the second one what the four rows do not cover.
        EXPECT_EQ(mxu_cause(Cause::kWaitShift), 8 + (second_row - (first_row + 4)));
        EXPECT_EQ(mxu_cause(Cause::kBusy), 7u);
    });
}

TEST_F(CoreCycles, RowsThatAreManyHideTheShift) {
    make(small_chip(), false);
    bench->run([&] {
        ASSERT_FALSE(bench->program(
            0, {read_weights_of(0, 0, 2), set_window(matrix_window(64, 8)),
                matmul({}, 0, 20, 8).encode(), matmul({}, 0, 3, 8, 32).encode(), halt()}));
        EXPECT_EQ(mxu_cause(Cause::kWaitShift), 8u) << "of the first tile alone";
        EXPECT_EQ(bench->cycles(), 125u + 8 + 20 + 2 + 8 + 4 + 1 + 1);
    });
}

TEST_F(CoreCycles, SynchronisationIsChargedToANopThatWaits) {
    arch::ChipConfig config = small_chip();
    make(config, false);
    config.sequencer.sync_latency_ps = 200'000;  // 100 cycles
    CoresBench slow("slow", config, false);
    bench->run([&] {
        const struct {
            const char* what;
            ProgramWords program;
            uint64_t times;
        } cases[] = {
            {"one wait", {nop(signal(5)), nop(wait(5)), halt()}, 1},
            {"two flags of one nop", {nop(signal(5, 6)), nop(wait(5, 6)), halt()}, 1},
            {"second flag alone", {nop(signal(5)), nop(wait(0, 5)), halt()}, 1},
            {"two waits", {nop(signal(5, 6)), nop(wait(5)), nop(wait(6)), halt()}, 2},
            {"a scalar that waits",
             {nop(signal(5)), isa::SetScalar{.header = wait(5), .rd = 5, .imm = 1}.encode(),
              halt()},
             1},
            {"a halt that waits", {nop(signal(5)), isa::Halt{.header = wait(5)}.encode()}, 1},
            {"no wait", {nop(), nop(signal(5)), halt()}, 0},
            {"a unit waits", {nop(signal(5)), read_memory(wait(5), 0, 0, 8), halt()}, 0},
            {"a scalar", {isa::SetScalar{.header = {}, .rd = 5, .imm = 1}.encode(), halt()}, 0},
        };
        for (const auto& each : cases) {
            const auto flag_before =
                CoresBench::cause(slow.chip.core().sequencer().account(), Cause::kWaitFlag);
            ASSERT_FALSE(bench->program(0, each.program)) << each.what;
            ASSERT_FALSE(slow.program(0, each.program)) << each.what;
            EXPECT_EQ(slow.cycles(), bench->cycles() + 100 * each.times) << each.what;
            EXPECT_EQ(CoresBench::cause(slow.chip.core().sequencer().account(), Cause::kWaitFlag) -
                          flag_before,
                      100 * each.times)
                << each.what;
        }
    });
}

TEST_F(CoreCycles, SynchronisationCountsFromTheLastFlag) {
    arch::ChipConfig config = small_chip();
    config.sequencer.sync_latency_ps = 200'000;  // 100 cycles
    make(config, false);
    bench->run([&] {
        // The DMA needs 500 ns of latency and 1000 bytes at 4 GB/s: 375 cycles.
        ASSERT_FALSE(
            bench->program(0, {read_host(signal(5), 0, 0, 1000), nop(wait(5)), nop(), halt()}));
        const uint64_t fetched = 4 * 32 / 8 + 50;
        EXPECT_EQ(bench->cycles(), fetched + 375 + 100 + 2);
        EXPECT_EQ(sequencer_cause(Cause::kWaitFlag), 375u - 1 + 100);
        EXPECT_EQ(sequencer_cause(Cause::kBusy), 3u);
        EXPECT_EQ(sequencer_cause(Cause::kWaitMemory), fetched);
    });
}

// 500 MHz: 200 ns and a picosecond more are 101 cycles.
TEST_F(CoreCycles, ALaunchTakesItsTime) {
    arch::ChipConfig config = small_chip();
    config.sequencer.kernel_launch_ps = 200'001;
    make(config, false);
    bench->run([&] {
        ASSERT_FALSE(bench->program(0, {launch(), nop(), launch(), halt()}));
        const uint64_t fetched = 4 * 32 / 8 + 50;
        EXPECT_EQ(bench->cycles(), fetched + 101 + 1 + 101);
        EXPECT_EQ(sequencer_cause(Cause::kLaunch), 2u * 101);
        EXPECT_EQ(sequencer_cause(Cause::kBusy), 1u) << "the nop";
        EXPECT_EQ(sequencer_cause(Cause::kWaitMemory), fetched);
        EXPECT_EQ(sequencer_cause(Cause::kWaitFlag), 0u);
    });
}

TEST_F(CoreCycles, ALaunchOfNoTimeTakesACycle) {
    make(small_chip(), false);
    bench->run([&] {
        ASSERT_FALSE(bench->program(0, {launch(), nop(), launch(), halt()}));
        EXPECT_EQ(bench->cycles(), 4u * 32 / 8 + 50 + 3);
        EXPECT_EQ(sequencer_cause(Cause::kLaunch), 2u);
    });
}

// Its flags: taken before, with the synchronisation's time, raised in its last cycle.
TEST_F(CoreCycles, ALaunchTakesAndRaisesFlags) {
    arch::ChipConfig config = small_chip();
    config.sequencer.kernel_launch_ps = 200'000;
    config.sequencer.sync_latency_ps = 60'000;
    make(config, false);
    bench->run([&] {
        ASSERT_FALSE(bench->program(
            0, {read_memory(wait(6), 0, 0, 8), nop(signal(5)), launch(wait_signal(5, 6)), halt()}));
        const uint64_t fetched = 4 * 32 / 8 + 50;           // 66: the DMA has its instruction
        const uint64_t flag_taken = fetched + 2;            // 68
        const uint64_t raised = flag_taken + 30 + 100 - 1;  // 197
        EXPECT_EQ(bench->cycles(), raised + 8 / 8 + 50);    // the transfer that waits for it
        EXPECT_EQ(sequencer_cause(Cause::kWaitFlag), 30u);
        EXPECT_EQ(sequencer_cause(Cause::kLaunch), 100u);
        EXPECT_EQ(sequencer_cause(Cause::kBusy), 2u);
        EXPECT_EQ(sequencer_cause(Cause::kIdle), 50u) << "the halt, from 198 to 248";
    });
}

// Units go on while the sequencer launches; what it launches is behind.
TEST_F(CoreCycles, UnitsWorkDuringALaunch) {
    arch::ChipConfig config = small_chip();
    config.sequencer.kernel_launch_ps = 2'000'000;
    make(config, false);
    bench->run([&] {
        // 500 ns of latency and 1000 bytes at 4 GB/s are 375 cycles, the launch takes 1000.
        ASSERT_FALSE(bench->program(0, {read_host(signal(5), 0, 0, 1000), launch(),
                                        read_host(wait(5), 0, 0, 1000), halt()}));
        EXPECT_EQ(bench->cycles(), 4u * 32 / 8 + 50 + 1 + 1000 + 375);
    });
}

// 500 MHz: 1 us and a picosecond more are 501 cycles.
TEST_F(CoreCycles, AProgramsStartTakesItsTimeOncePerProgramAndCore) {
    arch::ChipConfig config = many_arrays();
    make(config, false);
    config.sequencer.program_launch_ps = 1'000'001;
    CoresBench slow("slow", config, false);
    const auto launched = [&](size_t core) {
        return CoresBench::cause(slow.chip.core(core).sequencer().account(), Cause::kLaunch);
    };
    bench->run([&] {
        const ProgramWords first = {nop(), read_memory({}, 0, 0, 64), nop(), halt()},
                           second = {nop(), nop(), halt()};
        for (uint64_t runs = 1; runs <= 3; ++runs) {
            bench->programs(first, second);
            slow.programs(first, second);
            for (const size_t core : {0u, 1u}) {
                EXPECT_EQ(slow.cycles(core), bench->cycles(core) + 501) << "core " << core;
                EXPECT_EQ(launched(core), 501 * runs) << "core " << core;
            }
        }
    });
}

TEST_F(CoreCycles, TimesOfTheSequencerDoNotShrinkWithTheClock) {
    arch::ChipConfig config = small_chip();
    config.sequencer.sync_latency_ps = 200'000;
    config.sequencer.kernel_launch_ps = 100'000;
    make(config, false);
    config.clock_hz = 2 * config.clock_hz;
    CoresBench fast("fast", config, false);
    bench->run([&] {
        const ProgramWords program = {launch(signal(5)), nop(wait(5)), halt()};
        ASSERT_FALSE(bench->program(0, program));
        ASSERT_FALSE(fast.program(0, program));
        const auto of = [](CoresBench& bench, Cause cause) {
            return CoresBench::cause(bench.chip.core().sequencer().account(), cause);
        };
        EXPECT_EQ(of(*bench, Cause::kWaitFlag), 100u);
        EXPECT_EQ(of(fast, Cause::kWaitFlag), 200u);
        EXPECT_EQ(of(*bench, Cause::kLaunch), 50u);
        EXPECT_EQ(of(fast, Cause::kLaunch), 100u);
    });
}

/// Loads, products and drains in rounds, `count` instructions with the halt.
ProgramWords rounds(size_t count) {
    ProgramWords program{set_window(matrix_window(64, 8))};
    while (program.size() < count) {
        program.push_back(read_weights_of(0, 0, 1));
        program.push_back(matmul(signal(1), 0, 5, 8).encode());
        program.push_back(requantise(wait_signal(1, 2), 1024, 2048, 5).encode());
        program.push_back(nop(wait(2)));
    }
    program.resize(count - (count - 1) % 4);
    while (program.size() < count) program.push_back(nop());
    program.back() = halt();
    return program;
}

TEST_F(CoreCycles, AProgramThatIsMadeTakesAsLongAsOneInMemory) {
    make(small_chip(), false);
    CoresBench other("other", small_chip(), false);
    bench->run([&] {
        for (size_t count = 1; count < 60; ++count) {
            const ProgramWords program = rounds(count);
            ASSERT_FALSE(bench->program(0, program)) << count << " instructions";
            ASSERT_FALSE(other.made_program(0, program, program.size())) << count;
            EXPECT_EQ(other.cycles(), bench->cycles()) << count << " instructions";
        }
    });
}

TEST_F(CoreCycles, AProgramThatIsMadeMayBeLongerThanItsWindow) {
    make(small_chip(), false);
    CoresBench other("other", small_chip(), false);
    bench->run([&] {
        for (const size_t count : {2047, 2048, 2049, 4096}) {
            const ProgramWords program = rounds(count);
            ASSERT_FALSE(bench->program(0, program)) << count << " instructions";
            ASSERT_FALSE(other.made_program(0, program, program.size())) << count;
            EXPECT_EQ(other.cycles(), bench->cycles()) << count << " instructions";
        }
    });
}

TEST_F(CoreCycles, TheLengthOfAProgramThatIsMadeNeedNotBeKnown) {
    make(small_chip(), false);
    CoresBench other("other", small_chip(), false);
    bench->run([&] {
        for (const size_t count : {1, 5, 8, 9, 16, 23, 24, 60, 2048, 2050}) {
            const ProgramWords program = rounds(count);
            ASSERT_FALSE(bench->program(0, program)) << count << " instructions";
            ASSERT_FALSE(other.made_program(0, program, ~uint64_t{0})) << count;
            EXPECT_EQ(other.cycles(), bench->cycles()) << count << " instructions";
        }
        const auto error = other.made_program(0, {nop(), nop()}, ~uint64_t{0});
        ASSERT_TRUE(error) << "a program without halt";
        EXPECT_EQ(error->code, arch::DeviceError::kProgramEnd);
        EXPECT_EQ(error->instruction, 2u);
    });
}

}  // namespace
}  // namespace tandem::sim
