// SPDX-License-Identifier: Apache-2.0
// Several transfers of a DMA engine under way: their times, counted by hand from docs/timing.md,
// their order, and mistakes in the middle of them. One simulation per process.
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

// 500 MHz, memory and host 4 GB/s: 8 bytes a cycle; latency 100 ns are 50 cycles, 500 ns 250.
constexpr Cycle kMemoryLatency = 50, kHostLatency = 250;

class TransfersInFlight : public CoresTest {
  protected:
    static arch::ChipConfig chip(uint32_t in_flight) {
        arch::ChipConfig chip = small_chip();
        chip.dma.in_flight = in_flight;
        chip.sequencer.queue_entries = 16;
        return chip;
    }
    using Times = std::vector<std::pair<Cycle, Cycle>>;
    /// Cycles from the begin of the first transfer, by place in `transfers`, which all stand in the
    /// queue when the first one's flag 9 rises.
    Times spans_of(const ProgramWords& transfers) {
        ProgramWords program = {write_host(signal(9), 0, 0, 8)};
        program.insert(program.end(), transfers.begin(), transfers.end());
        program.push_back(halt());
        Spans spans;
        bench->chip.services().set_observer(&spans);
        EXPECT_FALSE(bench->program(0, program));
        bench->chip.services().set_observer(nullptr);
        Times found;
        for (uint32_t i = 1; i <= transfers.size(); ++i)
            found.emplace_back(spans.of.at(i).first - spans.of.at(1).first,
                               spans.of.at(i).second - spans.of.at(1).first);
        return found;
    }
    const Unit& engine() { return *bench->chip.core(0).units().front(); }
    void expect_every_cycle_has_a_cause() {
        uint64_t sum = 0;
        for (const uint64_t cycles : engine().account().cycles()) sum += cycles;
        EXPECT_EQ(sum, bench->chip.core(0).sequencer().program_cycles());
    }
    uint64_t busy() { return engine().account().busy(); }
};

// 800 bytes take 100 cycles of the bandwidth.
TEST_F(TransfersInFlight, OneAtATimePaysTheLatencyEachTime) {
    make(chip(1), false);
    bench->run([&] {
        const ProgramWords three{read_host(wait(9), 0, 0, 800), read_host({}, 800, 0, 800),
                                 read_host({}, 1600, 0, 800)};
        constexpr Cycle kWhole = 100 + kHostLatency;
        EXPECT_EQ(spans_of(three),
                  (Times{{0, kWhole}, {kWhole, 2 * kWhole}, {2 * kWhole, 3 * kWhole}}));
        EXPECT_EQ(busy(), 3 * kWhole);
        expect_every_cycle_has_a_cause();
    });
}

TEST_F(TransfersInFlight, SeveralShareTheBandwidthAndOverlapTheirLatency) {
    make(chip(3), false);
    bench->run([&] {
        const ProgramWords three{read_host(wait(9), 0, 0, 800), read_host({}, 800, 0, 800),
                                 read_host({}, 1600, 0, 800)};
        EXPECT_EQ(
            spans_of(three),
            (Times{{0, 100 + kHostLatency}, {1, 200 + kHostLatency}, {2, 300 + kHostLatency}}));
        EXPECT_EQ(busy(), 300 + kHostLatency) << "while something is under way";
        expect_every_cycle_has_a_cause();
    });
}

// With two at a time the third one begins when the first one has retired.
TEST_F(TransfersInFlight, NoMoreThanTheChipAllows) {
    make(chip(2), false);
    bench->run([&] {
        constexpr Cycle kFirst = 100 + kHostLatency;
        EXPECT_EQ(
            spans_of({read_host(wait(9), 0, 0, 800), read_host({}, 800, 0, 800),
                      read_host({}, 1600, 0, 800)}),
            (Times{{0, kFirst}, {1, 200 + kHostLatency}, {kFirst, kFirst + 100 + kHostLatency}}));
    });
}

// The bytes of memory are there long before those of the host, which were asked for first.
TEST_F(TransfersInFlight, RetireInTheirOrder) {
    make(chip(3), false);
    bench->run([&] {
        const Times spans = spans_of({read_host(wait(9), 0, 0, 800), read_memory({}, 800, 0, 800),
                                      read_host({}, 1600, 0, 80)});
        EXPECT_EQ(
            spans,
            (Times{{0, 100 + kHostLatency}, {1, 100 + kHostLatency}, {2, 110 + kHostLatency}}));
        const Times memory_first =
            spans_of({read_memory(wait(9), 0, 0, 800), read_host({}, 800, 0, 800)});
        EXPECT_EQ(memory_first, (Times{{0, 100 + kMemoryLatency}, {1, 1 + 100 + kHostLatency}}));
    });
}

// The fence retires with the transfer before it; what is behind it has begun by then.
TEST_F(TransfersInFlight, AFenceRetiresWithTheTransferBeforeIt) {
    make(chip(3), false);
    bench->run([&] {
        const isa::Words fence =
            isa::Fence{.header = {}, .unit = static_cast<uint8_t>(isa::Unit::kDmaIn)}.encode();
        EXPECT_EQ(
            spans_of({read_host(wait(9), 0, 0, 800), fence, read_host({}, 800, 0, 800)}),
            (Times{{0, 100 + kHostLatency}, {1, 100 + kHostLatency}, {2, 200 + kHostLatency}}));
    });
}

// The third transfer has no flag to wait for, and yet begins behind the second one, whose flag
// comes with 800 bytes that go out.
TEST_F(TransfersInFlight, BeginInTheirOrder) {
    make(chip(3), false);
    bench->run([&] {
        const Times spans =
            spans_of({read_memory(wait(9), 0, 0, 80), read_memory(wait(8), 0, 0, 80),
                      read_memory({}, 0, 0, 80), write_host(signal(8), 0, 0, 800)});
        EXPECT_GE(spans[1].first, 90u);
        EXPECT_EQ(spans[2].first, spans[1].first + 1);
    });
}

TEST_F(TransfersInFlight, ToTheSamePlaceLeaveTheBytesOfTheLast) {
    make(chip(4), true);
    bench->run([&] {
        std::ranges::fill(std::span(bench->memory.at(kData), 800), uint8_t{1});
        std::ranges::fill(bench->device().subspan(CoresBench::kDeviceData, 80), uint8_t{2});
        ASSERT_FALSE(bench->program(0, {read_host({}, 0, 0, 800), read_memory(signal(1), 40, 0, 80),
                                        write_memory(wait(1), 0, 200, 160), halt()}));
        for (uint32_t i = 0; i < 160; ++i)
            ASSERT_EQ(bench->device()[CoresBench::kDeviceData + 200 + i],
                      i >= 40 && i < 120 ? 2 : 1)
                << i;
    });
}

TEST_F(TransfersInFlight, AMistakeInTheMiddleLeavesAUsableChip) {
    make(chip(4), true);
    bench->run([&] {
        const ProgramWords good{read_host(wait(9), 0, 0, 800), read_host({}, 800, 0, 800)};
        const Times times = spans_of(good);
        const auto error =
            bench->program(0, {read_host({}, 0, 0, 800), read_memory({}, 0, 0, 8),
                               read_memory({}, 4090, 0, 8), read_host({}, 0, 0, 8), halt()});
        ASSERT_TRUE(error);
        EXPECT_EQ(error->code, arch::DeviceError::kUbAddress);
        EXPECT_EQ(error->instruction, 2u);
        expect_every_cycle_has_a_cause();
        EXPECT_TRUE(engine().idle());
        EXPECT_EQ(spans_of(good), times);
    });
}

TEST_F(TransfersInFlight, AProgramThatHaltsEndsWithTheLastOfThem) {
    make(chip(4), false);
    bench->run([&] {
        ASSERT_FALSE(
            bench->program(0, {read_host({}, 0, 0, 800), read_host({}, 0, 0, 800), halt()}));
        // Three instructions come after 3 * 32 / 8 + 50 cycles; both transfers share the bus.
        EXPECT_EQ(bench->cycles(), 12 + kMemoryLatency + 200 + kHostLatency);
    });
}

// Whatever is under way then is given back: the sanitizers look.
TEST_F(TransfersInFlight, ASimulationMayEndInTheMiddle) {
    make(chip(4), true);
    bench->run([&] {
        // Not of the process, whose stack is never unwound.
        const ProgramWords program{read_host({}, 0, 0, 800), read_memory({}, 0, 0, 80), halt()};
        sc_core::sc_spawn([&] { bench->program(0, program); });
        while (bench->chip.core(0).services().instructions_retired() == 0 && engine().idle())
            sc_core::wait(2, sc_core::SC_NS);
        sc_core::wait(10, sc_core::SC_NS);
        EXPECT_FALSE(engine().idle());
    });
}

}  // namespace
}  // namespace tandem::sim
