// SPDX-License-Identifier: Apache-2.0
// Ports of the unified buffer inside a chip: narrow ports make rows take several cycles, and array
// and vector unit take turns. Cycles counted by hand from docs/timing.md and the ports' widths.
#include "arch/vector_state.h"
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

/// 8 x 4 array: a row has 8 bytes, one of its outputs 4. No latency of the memory.
arch::ChipConfig chip_with_ports(uint32_t read, uint32_t write, uint32_t arrays = 1) {
    arch::ChipConfig chip = small_chip();
    chip.buffer_ports = {read, write};
    chip.mxu.count = arrays;
    return chip;
}

/// Four instructions: what a sum of `count` elements needs to be set.
ProgramWords setting_of(uint32_t count) {
    arch::VectorState state;
    state.shape[5] = count;
    for (size_t operand = 0; operand < 3; ++operand) state.views[operand].strides[5] = 1;
    return arch::changes({}, state);
}

/// A sum of as many elements as are set: reads twice as many bytes, writes as many.
isa::Words sum(isa::Header header) {
    isa::Map add;
    add.header = header;
    add.operands = 2;
    add.out_addr = 2048;
    return add.encode();
}

void append(ProgramWords& program, const ProgramWords& more) {
    program.insert(program.end(), more.begin(), more.end());
}

class BufferPorts : public CoresTest {
  protected:
    uint64_t cause_of(const Unit& unit, Cause cause) {
        return CoresBench::cause(unit.account(), cause);
    }
    uint64_t mxu_cause(Cause cause) { return cause_of(bench->chip.core(0).mxu(), cause); }
    uint64_t vector_cause(Cause cause) {
        return cause_of(*bench->chip.core(0).units().back(), cause);
    }
    static ProgramWords product(uint16_t rows) {
        return {read_weights_of(0, 0, 1), set_window(matrix_window(64, 8)),
                matmul(signal(1), 0, rows, 8).encode(), halt()};
    }
    uint64_t run_program(const ProgramWords& program) {
        EXPECT_FALSE(bench->program(0, program));
        return bench->cycles();
    }
    /// Counted from the program's begin.
    static Spans spans_of(CoresBench& bench, const ProgramWords& program) {
        Spans spans;
        bench.chip.services().set_observer(&spans);
        EXPECT_FALSE(bench.program(0, program));
        for (auto& [index, span] : spans.of) {
            span.first -= bench.began();
            span.second -= bench.began();
        }
        bench.chip.services().set_observer(nullptr);
        return spans;
    }
    /// A flag that rises late enough for all weights to stand in the array.
    static void append_pause(ProgramWords& program, uint8_t flag) {
        program.push_back(read_host(signal(flag), 0, 0, 8));
        program.push_back(nop(wait(flag)));
    }
};

class NarrowPort : public BufferPorts, public testing::WithParamInterface<uint32_t> {};

// The first row stands at the array at once, each one after it as many cycles later as its bytes
// need; all the rest is as with an unlimited port.
TEST_P(NarrowPort, ARowTakesAsManyCyclesAsItsBytesNeed) {
    const uint32_t width = GetParam();
    make(chip_with_ports(width, 0), false);
    CoresBench wide("wide", chip_with_ports(0, 0), false);
    bench->run([&] {
        const uint64_t beat = (8 + width - 1) / width;
        uint64_t rows_so_far = 0, waits_so_far = 0;
        for (const uint16_t rows : {1, 2, 17, 64}) {
            const ProgramWords program = product(rows);
            ASSERT_FALSE(bench->program(0, program));
            ASSERT_FALSE(wide.program(0, program));
            EXPECT_EQ(bench->cycles(), wide.cycles() + (rows - 1) * (beat - 1)) << rows << " rows";
            rows_so_far += rows;
            waits_so_far += rows * (beat - 1);
            EXPECT_EQ(mxu_cause(Cause::kBusy), rows_so_far) << rows << " rows";
            // The cycles of the rows: rows x beats in all.
            EXPECT_EQ(mxu_cause(Cause::kWaitPort), waits_so_far) << rows << " rows";
        }
        EXPECT_EQ(cause_of(wide.chip.core().mxu(), Cause::kWaitPort), 0u);
    });
}
INSTANTIATE_TEST_SUITE_P(Widths, NarrowPort, testing::Values(1, 2, 3, 4, 5, 7, 8, 9, 64));

TEST_F(BufferPorts, TheArrayWaitsForTheVectorUnit) {
    make(chip_with_ports(8, 0), false);
    CoresBench free("free", chip_with_ports(0, 0), false);
    bench->run([&] {
        ProgramWords program = setting_of(400);
        append(program, {read_weights_of(0, 0, 1), set_window(matrix_window(64, 8))});
        append_pause(program, 9);
        program.push_back(sum({}));  // 800 bytes: 100 cycles of the read port
        program.push_back(matmul({}, 0, 10, 8).encode());
        program.push_back(halt());
        Spans alone = spans_of(free, program), shared = spans_of(*bench, program);
        ASSERT_EQ(shared.of[8].first, alone.of[8].first) << "start of the sum";
        const uint64_t port_free = shared.of[8].first + 100;
        EXPECT_EQ(shared.of[9].first, port_free) << "first row";
        EXPECT_EQ(shared.of[9].second, port_free + 9 + 8 + 4 + 1 + 1) << "end of the matmul";
        // Without a common port it would have entered in the cycle behind its issue.
        EXPECT_EQ(mxu_cause(Cause::kWaitPort), port_free - alone.of[9].first);
        EXPECT_EQ(vector_cause(Cause::kWaitPort), 0u) << "100 cycles of 4 lanes are as long";
    });
}

TEST_F(BufferPorts, TheVectorUnitWaitsForTheArray) {
    make(chip_with_ports(8, 0), false);
    CoresBench free("free", chip_with_ports(0, 0), false);
    bench->run([&] {
        ProgramWords program{read_weights_of(0, 0, 1), set_window(matrix_window(64, 8))};
        append_pause(program, 9);
        program.push_back(matmul({}, 0, 60, 8).encode());
        append(program, setting_of(40));
        program.push_back(sum({}));
        program.push_back(halt());
        Spans alone = spans_of(free, program), shared = spans_of(*bench, program);
        const uint64_t rows_done = shared.of[4].first + 60;
        ASSERT_EQ(shared.of[4].first, alone.of[4].first) << "first row";
        EXPECT_EQ(vector_cause(Cause::kWaitPort), rows_done - shared.of[9].first);
        EXPECT_EQ(shared.of[9].second, rows_done + 40 / 4 + 8) << "end of the sum";
        EXPECT_EQ(mxu_cause(Cause::kWaitPort), 0u);
    });
}

TEST_F(BufferPorts, AVectorUnitWiderThanThePortTakesThePortsTime) {
    make(chip_with_ports(4, 0), false);
    bench->run([&] {
        ProgramWords program = setting_of(400);
        append(program, {sum({}), halt()});
        run_program(program);
        // 800 bytes through 4 a cycle; the unit itself needs 4 cycles to be set, 100 and 8 of
        // latency.
        EXPECT_EQ(vector_cause(Cause::kBusy), 4u + 108u);
        EXPECT_EQ(vector_cause(Cause::kWaitPort), 200u - 108);
    });
}

TEST_F(BufferPorts, DrainingTakesTheWritePortsTime) {
    make(chip_with_ports(0, 1), false);
    CoresBench wide("wide", chip_with_ports(0, 0), false);
    bench->run([&] {
        ProgramWords program = product(20);
        program.back() = requantise(wait(1), 2048, 3072, 20).encode();
        program.push_back(halt());
        ASSERT_FALSE(bench->program(0, program));
        ASSERT_FALSE(wide.program(0, program));
        // A row of 4 bytes every 4 cycles instead of every cycle.
        EXPECT_EQ(bench->cycles(), wide.cycles() + 19 * 3);
    });
}

// Two arrays read through one port: what they read needs the port's time.
TEST_F(BufferPorts, TwoArraysTakeTurns) {
    make(chip_with_ports(8, 0, 2), false);
    bench->run([&] {
        ProgramWords program{read_weights_of(0, 0, 1), read_weights_of(1, 32, 1),
                             set_window(matrix_window(64, 8))};
        append_pause(program, 9);
        program.push_back(on_array(matmul({}, 0, 50, 8), 0));
        for (int i = 0; i < 4; ++i) program.push_back(nop());
        program.push_back(on_array(matmul({}, 0, 50, 8), 1));
        program.push_back(halt());
        Spans spans;
        bench->chip.services().set_observer(&spans);
        run_program(program);
        EXPECT_EQ(spans.of[10].first, spans.of[5].first + 50) << "first row of array 1";
    });
}

// The second block has no tile to wait for; its first row comes when the last one of the first
// block has all its bytes.
TEST_F(BufferPorts, EveryRowOfBlocksThatFollowEachOtherIsACycleBusy) {
    make(chip_with_ports(5, 0), false);
    bench->run([&] {
        isa::Matmul second = matmul({}, 0, 30, 8, 32);
        second.new_weights = 0;
        run_program({read_weights_of(0, 0, 1), set_window(matrix_window(64, 8)),
                     matmul({}, 0, 30, 8).encode(), second.encode(), halt()});
        EXPECT_EQ(bench->chip.core(0).mxu().rows_streamed(), 60u);
        EXPECT_EQ(mxu_cause(Cause::kBusy), 60u) << "cycles for 60 rows";
    });
}

// A row of 8 bytes takes 2 cycles of 5 bytes, 60 rows take 120: the sum begins behind them.
TEST_F(BufferPorts, TheVectorUnitWaitsForAllBytesOfTheRows) {
    make(chip_with_ports(5, 0), false);
    bench->run([&] {
        ProgramWords program{read_weights_of(0, 0, 1), set_window(matrix_window(64, 8))};
        append_pause(program, 9);
        program.push_back(matmul({}, 0, 60, 8).encode());
        append(program, setting_of(40));
        program.push_back(sum({}));
        program.push_back(halt());
        const Spans spans = spans_of(*bench, program);
        EXPECT_EQ(vector_cause(Cause::kWaitPort),
                  spans.of.at(4).first + 120 - spans.of.at(9).first);
    });
}

// While a block waits for its tile it does not hold the port, and a sum that comes then runs beside
// it; who comes after both waits for both: 60 x 8 + 800 bytes, 8 in a cycle.
TEST_F(BufferPorts, WhoComesAfterTwoWaitsForBoth) {
    make(chip_with_ports(8, 0), false);
    bench->run([&] {
        ProgramWords program = setting_of(400);
        append(program,
               {set_window(matrix_window(64, 8)), matmul(signal(1), 0, 60, 8).encode(),
                read_weights_of(0, 0, 1), sum({}), setting_of(40).front(), sum(wait(1)), halt()});
        const Spans spans = spans_of(*bench, program);
        const Cycle first = spans.of.at(7).first;
        ASSERT_LT(first, spans.of.at(5).first) << "the sum is first";
        ASSERT_LT(spans.of.at(5).first, first + 100) << "and the rows enter beside it";
        const Cycle begin = std::max(first + 160, spans.of.at(9).first);
        EXPECT_EQ(spans.of.at(9).second, begin + 10 + 8);
    });
}

}  // namespace
}  // namespace tandem::sim
