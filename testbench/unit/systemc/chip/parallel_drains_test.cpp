// SPDX-License-Identifier: Apache-2.0
// Drains of several arrays: when they begin and retire, counted by hand from docs/timing.md, what
// they leave in the buffer, and mistakes in the middle of them. One simulation per process.
#include "arch/vector_state.h"
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

constexpr uint32_t kLatency = 8;
constexpr uint32_t kParams = 1024, kOutput = 2048;

/// A drain of n rows at interval i that is accepted at t retires at t + 2 + (n - 1) * i + latency.
constexpr Cycle drain_cycles(uint32_t rows, uint32_t interval = 1) {
    return 2 + (rows - 1) * interval + kLatency;
}

class ParallelDrains : public CoresTest {
  protected:
    /// 3 arrays of 4 columns; a drain takes 4 lanes.
    static arch::ChipConfig chip(uint32_t lanes) {
        arch::ChipConfig chip = small_chip();
        chip.mxu.count = 3;
        chip.vector.lanes = lanes;
        chip.sequencer.queue_entries = 16;
        return chip;
    }
    static isa::Words drain(uint32_t array, uint16_t rows, isa::Header header = {},
                            uint16_t acc_addr = 0, uint32_t out = kOutput) {
        return on_array(requantise(header, out, kParams, rows, 4, acc_addr), array);
    }
    /// Instructions of the vector unit that stand in its queue when the first one's flag rises:
    /// instruction i of `work` is number i + 1.
    static ProgramWords at_once(const ProgramWords& work) {
        ProgramWords program{read_host(signal(9), 0, 0, 8)};
        for (const isa::Words& words : work) program.push_back(words);
        program.push_back(halt());
        return program;
    }
    /// Cycles from the begin of the first drain, by place in `work`.
    std::vector<std::pair<Cycle, Cycle>> spans_of(const ProgramWords& work) {
        Spans spans;
        bench->chip.services().set_observer(&spans);
        EXPECT_FALSE(bench->program(0, at_once(work)));
        bench->chip.services().set_observer(nullptr);
        const Cycle zero = spans.of.at(1).first;
        std::vector<std::pair<Cycle, Cycle>> found;
        for (uint32_t i = 1; i <= work.size(); ++i)
            found.emplace_back(spans.of.at(i).first - zero, spans.of.at(i).second - zero);
        return found;
    }
    using Times = std::vector<std::pair<Cycle, Cycle>>;

    const Unit& vector_unit() { return *bench->chip.core(0).units().back(); }
    uint64_t vector_cause(Cause cause) { return CoresBench::cause(vector_unit().account(), cause); }
    void expect_every_cycle_has_a_cause() {
        uint64_t sum = 0;
        for (const uint64_t cycles : vector_unit().account().cycles()) sum += cycles;
        EXPECT_EQ(sum, bench->chip.core(0).sequencer().program_cycles());
    }
    /// Array a gets a tile of ones times a + 1 and multiplies rows of ones with it: every sum is
    /// 8 * (a + 1). Flag 9 rises when all sums are there.
    ProgramWords products(uint16_t rows) {
        std::ranges::fill(bench->buffer(0).first(512), uint8_t{1});
        for (uint32_t a = 0; a < 3; ++a)
            std::ranges::fill(bench->device().subspan(CoresBench::kDeviceData + a * 32, 32),
                              static_cast<uint8_t>(a + 1));
        const float one = 1.0f;
        for (uint32_t c = 0; c < 4; ++c) {
            uint32_t words[3] = {0, 0, 0};
            std::memcpy(&words[1], &one, 4);
            std::memcpy(bench->buffer(0).data() + kParams + c * 12, words, 12);
        }
        ProgramWords program{set_window(matrix_window(64, 8))};
        for (uint32_t a = 0; a < 3; ++a) {
            program.push_back(read_weights_of(a, a * 32, 1));
            program.push_back(on_array(matmul(signal(1), 0, rows, 8), a));
        }
        program.push_back(nop(wait(1, 1)));
        program.push_back(nop({.wait_a = 1, .signal_a = 9}));
        return program;
    }
    static void append(ProgramWords& program, const ProgramWords& more) {
        program.insert(program.end(), more.begin(), more.end());
    }
};

TEST_F(ParallelDrains, BeginOnePerCycleWhereThereAreLanes) {
    make(chip(12), false);
    bench->run([&] {
        EXPECT_EQ(
            spans_of({drain(0, 10, wait(9)), drain(2, 10), drain(1, 10)}),
            (Times{{0, drain_cycles(10)}, {1, 1 + drain_cycles(10)}, {2, 2 + drain_cycles(10)}}));
        EXPECT_EQ(vector_cause(Cause::kBusy), 2 + drain_cycles(10)) << "while at least one runs";
        EXPECT_EQ(vector_cause(Cause::kWaitPort), 0u);
        expect_every_cycle_has_a_cause();
    });
}

// 11 lanes hold two drains of 4: the third one has those of the first, 10 cycles after that.
TEST_F(ParallelDrains, WaitForLanes) {
    make(chip(11), false);
    CoresBench narrow("narrow", chip(4), false);
    bench->run([&] {
        const ProgramWords work{drain(0, 10, wait(9)), drain(1, 10), drain(2, 10)};
        EXPECT_EQ(
            spans_of(work),
            (Times{{0, drain_cycles(10)}, {1, 1 + drain_cycles(10)}, {10, 10 + drain_cycles(10)}}));
        EXPECT_EQ(vector_cause(Cause::kBusy), 10 + drain_cycles(10));
        expect_every_cycle_has_a_cause();
        ASSERT_FALSE(narrow.program(0, at_once(work)));
        EXPECT_EQ(narrow.cycles(), bench->cycles() + 10) << "one after the other";
    });
}

TEST_F(ParallelDrains, OfOneArrayFollowEachOtherWithoutTheLatency) {
    make(chip(12), false);
    bench->run([&] {
        EXPECT_EQ(
            spans_of({drain(0, 10, wait(9)), drain(0, 5, {}, 10), drain(0, 7, {}, 15)}),
            (Times{{0, drain_cycles(10)}, {10, 10 + drain_cycles(5)}, {15, 15 + drain_cycles(7)}}));
    });
}

TEST_F(ParallelDrains, ThatWaitForTheirArrayHoldUpThoseBehind) {
    make(chip(12), false);
    bench->run([&] {
        EXPECT_EQ(
            spans_of({drain(0, 20, wait(9)), drain(0, 5, {}, 20), drain(1, 5)}),
            (Times{{0, drain_cycles(20)}, {20, 20 + drain_cycles(5)}, {21, 21 + drain_cycles(5)}}));
    });
}

// Four columns through two lanes: a row every other cycle.
TEST_F(ParallelDrains, TakeAsManyLanesAsTheChipSays) {
    arch::ChipConfig config = chip(4);
    config.vector.drain_lanes = 2;
    make(config, false);
    bench->run([&] {
        EXPECT_EQ(spans_of({drain(0, 10, wait(9)), drain(1, 10), drain(2, 10)}),
                  (Times{{0, drain_cycles(10, 2)},
                         {1, 1 + drain_cycles(10, 2)},
                         {20, 20 + drain_cycles(10, 2)}}));
    });
}

TEST_F(ParallelDrains, RetireInTheirOrder) {
    make(chip(12), false);
    bench->run([&] {
        EXPECT_EQ(spans_of({drain(0, 30, wait(9)), drain(1, 1), drain(2, 2)}),
                  (Times{{0, drain_cycles(30)}, {1, drain_cycles(30)}, {2, drain_cycles(30)}}));
        const isa::Words fence =
            isa::Fence{.header = {}, .unit = static_cast<uint8_t>(isa::Unit::kVector)}.encode();
        EXPECT_EQ(spans_of({drain(0, 30, wait(9)), fence, drain(1, 40)}),
                  (Times{{0, drain_cycles(30)}, {1, drain_cycles(30)}, {2, 2 + drain_cycles(40)}}))
            << "a fence behind the first";
    });
}

// 40 elements: four vectors of 12 lanes. What only sets something takes its cycle and waits for
// nobody, but retires in its turn.
TEST_F(ParallelDrains, AreOverBeforeElementsStream) {
    make(chip(12), false);
    bench->run([&] {
        const isa::Words map = isa::Map{.header = {}, .out_addr = 3000}.encode();
        EXPECT_EQ(spans_of({drain(0, 10, wait(9)), isa::SetShape{.header = {}, .n5 = 40}.encode(),
                            drain(1, 10), map, drain(2, 10)}),
                  (Times{{0, drain_cycles(10)},
                         {1, drain_cycles(10)},
                         {2, 2 + drain_cycles(10)},
                         {2 + drain_cycles(10), 2 + drain_cycles(10) + 4 + kLatency},
                         {2 + drain_cycles(10) + 4 + kLatency,
                          2 + 2 * drain_cycles(10) + 4 + kLatency}}));
    });
}

// 10 rows of 4 bytes take the write port for 10 cycles.
TEST_F(ParallelDrains, TakeTurnsAtANarrowPort) {
    arch::ChipConfig config = chip(12);
    config.buffer_ports = {0, 4};
    make(config, false);
    bench->run([&] {
        const auto spans = spans_of({drain(0, 10, wait(9)), drain(1, 10), drain(2, 10)});
        EXPECT_EQ(spans[0].second, drain_cycles(10));
        EXPECT_EQ(spans[1].second, 10 + drain_cycles(10));
        EXPECT_EQ(spans[2].second, 20 + drain_cycles(10));
        EXPECT_EQ(vector_cause(Cause::kWaitPort), 0u) << "another drain runs meanwhile";
        expect_every_cycle_has_a_cause();
    });
}

TEST_F(ParallelDrains, OfEachArrayBringItsSums) {
    make(chip(12), true);
    bench->run([&] {
        ProgramWords program = products(10);
        for (uint32_t a = 0; a < 3; ++a)
            program.push_back(drain(a, 10, wait(a == 0 ? 9 : 0), 0, kOutput + 100 * a));
        program.push_back(halt());
        ASSERT_FALSE(bench->program(0, program));
        for (uint32_t a = 0; a < 3; ++a)
            for (uint32_t i = 0; i < 40; ++i)
                ASSERT_EQ(bench->buffer(0)[kOutput + 100 * a + i], 8 * (a + 1)) << a << ", " << i;
    });
}

// The second one has its row long before the first one has all of its rows.
TEST_F(ParallelDrains, ToTheSamePlaceLeaveTheBytesOfTheLast) {
    make(chip(12), true);
    bench->run([&] {
        ProgramWords program = products(30);
        append(program, {drain(0, 30, wait(9)), drain(2, 1), halt()});
        ASSERT_FALSE(bench->program(0, program));
        for (uint32_t i = 0; i < 120; ++i)
            ASSERT_EQ(bench->buffer(0)[kOutput + i], i < 4 ? 24 : 8) << i;
    });
}

TEST_F(ParallelDrains, KeepTheChainThatTheyBeganWith) {
    make(chip(12), true);
    bench->run([&] {
        const auto constant = [](uint32_t value) {
            return isa::SetConstants{.header = {}, .k0 = value}.encode();
        };
        const auto convert = [](uint32_t array, isa::Header header, uint32_t out) {
            isa::Convert op{
                .header = header, .ub_addr = out, .rows = 12, .row_stride = 16, .cols = 4};
            op.function = 2, op.wide = 1;
            return on_array(op, array);
        };
        arch::VectorState add;
        add.chain[0] = {isa::ChainOp::kAddI, 0, 0, arch::kFirstConstant, 0};
        ProgramWords program = products(12);
        append(program, arch::changes({}, add));
        append(program, {constant(100), convert(0, wait(9), kOutput), constant(1000),
                         convert(1, {}, kOutput + 192), constant(7), halt()});
        ASSERT_FALSE(bench->program(0, program));
        for (uint32_t i = 0; i < 96; ++i) {
            int32_t sum = 0;
            std::memcpy(&sum, bench->buffer(0).data() + kOutput + 4 * i, 4);
            ASSERT_EQ(sum, i < 48 ? 108 : 1016) << i;
        }
    });
}

TEST_F(ParallelDrains, AMatmulToRowsThatAreReadIsAHazard) {
    make(chip(12), true);
    bench->run([&] {
        for (const uint32_t array : {0u, 1u, 2u}) {
            ProgramWords program = products(40);
            append(program, {drain(0, 30, wait(9)), drain(1, 30)});
            const auto bad = static_cast<uint32_t>(program.size());
            isa::Matmul over = matmul({}, 0, 4, 8, 20);
            over.new_weights = 0;
            append(program, {on_array(over, array), halt()});
            const auto error = bench->program(0, program);
            ASSERT_EQ(error.has_value(), array != 2) << "array " << array;
            if (!error) continue;
            EXPECT_EQ(error->code, arch::DeviceError::kAccHazard);
            EXPECT_EQ(error->instruction, bad);
        }
    });
}

TEST_F(ParallelDrains, AMistakeInTheMiddleLeavesAUsableChip) {
    make(chip(12), true);
    bench->run([&] {
        const ProgramWords good{drain(0, 10, wait(9)), drain(1, 10), drain(2, 10)};
        const auto times = spans_of(good);
        for (const isa::Words& bad :
             {drain(7, 10), drain(0, 10, {}, 60), isa::SetShape{.header = {}, .n0 = 0}.encode()}) {
            ProgramWords program = at_once({drain(0, 10, wait(9)), drain(1, 30), bad});
            const auto error = bench->program(0, program);
            ASSERT_TRUE(error);
            EXPECT_EQ(error->instruction, 3u);
            expect_every_cycle_has_a_cause();
            EXPECT_TRUE(vector_unit().idle());
            EXPECT_EQ(spans_of(good), times);
        }
    });
}

// Whatever is under way then is given back: the sanitizers look.
TEST_F(ParallelDrains, ASimulationMayEndInTheMiddle) {
    make(chip(12), true);
    bench->run([&] {
        // Not of the process, whose stack is never unwound.
        ProgramWords program = products(40);
        append(program, {drain(0, 40, wait(9)), drain(1, 40), drain(2, 40), halt()});
        sc_core::sc_spawn([&] { bench->program(0, program); });
        while (vector_unit().account().busy() == 0) sc_core::wait(2, sc_core::SC_NS);
        EXPECT_FALSE(vector_unit().idle());
    });
}

}  // namespace
}  // namespace tandem::sim
