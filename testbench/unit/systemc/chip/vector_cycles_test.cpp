// SPDX-License-Identifier: Apache-2.0
// Cycles of the typed vector unit inside a chip, counted by hand from docs/timing.md: 4 lanes, 8
// cycles of latency.
#include "arch/vector_state.h"
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;
using arch::VectorOperand;
using arch::VectorState;
using arch::VectorType;
using enum isa::ChainOp;

constexpr uint64_t kLatency = 8;

/// n lines of m elements each along axes 4 and 5, `line` elements apart, for all operands.
VectorState lines(uint32_t n, uint32_t m, int32_t line, VectorType type = VectorType::kInt8) {
    VectorState state;
    state.shape[4] = n;
    state.shape[5] = m;
    const auto bytes = static_cast<int32_t>(arch::bytes_of(type));
    for (auto& view : state.views) view = {type, {0, 0, 0, 0, line * bytes, bytes}};
    return state;
}

VectorState with_chain(VectorState state, std::initializer_list<isa::ChainOp> ops) {
    size_t step = 0;
    for (const isa::ChainOp op : ops) state.chain[step++].op = op;
    return state;
}

isa::Words map(uint8_t operands = 1) {
    isa::Map op;
    op.b_addr = 1000, op.c_addr = 2000, op.out_addr = 3000;
    op.operands = operands;
    return op.encode();
}
isa::Words reduce(uint8_t axes, uint8_t taps = 0) {
    isa::Reduce op;
    op.out_addr = 3000;
    op.axes = axes, op.taps = taps;
    return op.encode();
}

class VectorCycles : public CoresTest {
  protected:
    static arch::ChipConfig chip(bool fixed_pipeline, uint32_t transcendental_lanes = 0) {
        arch::ChipConfig chip = small_chip();
        chip.vector.fixed_pipeline = fixed_pipeline;
        chip.vector.transcendental_lanes = transcendental_lanes;
        return chip;
    }
    /// Cycles of the last instruction, less the latency; those that set something take one each.
    uint64_t cycles(const VectorState& state, const isa::Words& work) {
        ProgramWords program = arch::changes({}, state);
        program.push_back(work);
        const auto last = static_cast<uint32_t>(program.size() - 1);
        program.push_back(halt());
        Spans spans;
        bench->chip.services().set_observer(&spans);
        EXPECT_FALSE(bench->program(0, program));
        bench->chip.services().set_observer(nullptr);
        for (uint32_t i = 0; i < last; ++i)
            EXPECT_EQ(spans.of[i].second - spans.of[i].first, 1u) << "instruction " << i;
        return spans.of[last].second - spans.of[last].first - kLatency;
    }
};

TEST_F(VectorCycles, ElementsThatFollowEachOtherFillVectors) {
    make(chip(true), false);
    bench->run([&] {
        EXPECT_EQ(cycles(lines(1, 1, 0), map()), 1u);
        EXPECT_EQ(cycles(lines(1, 10, 0), map()), 3u);
        EXPECT_EQ(cycles(lines(3, 10, 10), map()), 8u) << "30 elements in a row";
        EXPECT_EQ(cycles(lines(3, 10, 12), map()), 9u) << "three lines";
        VectorState repeated = lines(3, 10, 10);
        repeated.view(VectorOperand::kB).strides = {0, 0, 0, 0, 1, 0};
        EXPECT_EQ(cycles(repeated, map(2)), 9u) << "b stands still within a line only";
        EXPECT_EQ(cycles(repeated, map(1)), 8u) << "b is not read";
        repeated.view(VectorOperand::kB).strides = {};
        EXPECT_EQ(cycles(repeated, map(2)), 8u) << "b stands still";
        EXPECT_EQ(cycles(lines(3, 10, 12), isa::Lookup{.header = {}, .out_addr = 3000}.encode()),
                  9u);
        EXPECT_EQ(cycles(lines(3, 10, 10), isa::Move{.header = {}, .out_addr = 3000}.encode()), 8u);
    });
}

TEST_F(VectorCycles, AChainCostsOnePassOfAFixedPipeline) {
    make(chip(true, 1), false);
    bench->run([&] {
        EXPECT_EQ(cycles(with_chain(lines(1, 10, 0), {kAddI, kMaxI, kExpF}), map()), 3u);
        EXPECT_EQ(cycles(with_chain(lines(3, 10, 10), {kAddI}), reduce(0b100000)), 9u + 3 * 2);
    });
}

TEST_F(VectorCycles, EachStepOfAChainCostsAPassElsewhere) {
    make(chip(false), false);
    bench->run([&] {
        EXPECT_EQ(cycles(lines(1, 10, 0), map()), 3u) << "no step";
        EXPECT_EQ(cycles(with_chain(lines(1, 10, 0), {kAddI, kMaxI, kExpF}), map()), 9u);
        const VectorState chain = with_chain(lines(1, 10, 0), {kAddI, kMaxI});
        EXPECT_EQ(cycles(chain, isa::Move{.header = {}, .out_addr = 3000}.encode()), 3u);
    });
}

TEST_F(VectorCycles, TranscendentalStepsHaveFewerLanes) {
    make(chip(false, 3), false);
    bench->run([&] {
        EXPECT_EQ(cycles(with_chain(lines(1, 10, 0), {kAddF, kExpF}), map()), 3u * (1 + 2));
        EXPECT_EQ(cycles(with_chain(lines(1, 10, 0), {kAddF, kMulF}), map()), 3u * 2);
    });
}

TEST_F(VectorCycles, AReductionReadsEverythingOnceAndThenTakesItsChain) {
    make(chip(false), false);
    bench->run([&] {
        const uint8_t innermost = 0b100000, lines_of_all = 0b010000;
        EXPECT_EQ(cycles(lines(3, 10, 10), reduce(innermost)), 9u + 3 * 2)
            << "for each result a tree over 4 lanes";
        EXPECT_EQ(cycles(lines(3, 2, 2), reduce(innermost)), 3u + 3 * 1) << "over 2 elements";
        EXPECT_EQ(cycles(lines(3, 10, 10), reduce(lines_of_all)), 9u) << "lane by lane";
        EXPECT_EQ(cycles(lines(3, 10, 10), reduce(innermost | lines_of_all)), 8u + 2);
        // Results: 10 elements, 3 vectors, two steps.
        EXPECT_EQ(cycles(with_chain(lines(3, 10, 10), {kAddI, kMaxI}), reduce(lines_of_all)),
                  9u + 3 * 2);
    });
}

TEST_F(VectorCycles, EveryTapOfAWindowIsRead) {
    make(chip(true), false);
    bench->run([&] {
        VectorState state;
        state.shape = {1, 2, 2, 3, 3, 5};
        state.view(VectorOperand::kA).strides = {0, 20, 5, 0, 0, 1};
        state.view(VectorOperand::kOut).strides = {0, 10, 5, 0, 0, 1};
        state.taps = {{1, 1, 1, 4}, {1, 1, 1, 4}, 0};
        EXPECT_EQ(cycles(state, reduce(0b011000, 1)), 2u * 2 * 3 * 3 * 2);
    });
}

TEST_F(VectorCycles, NarrowPortsTakeTheBytesTime) {
    arch::ChipConfig narrow = chip(true);
    narrow.buffer_ports = {1, 2};
    make(narrow, false);
    bench->run([&] {
        VectorState state = lines(1, 10, 0, VectorType::kInt32);
        EXPECT_EQ(cycles(state, map(2)), 80 - kLatency) << "80 bytes, one per cycle";
        state.view(VectorOperand::kB).strides = {};
        EXPECT_EQ(cycles(state, map(2)), 44 - kLatency) << "b is one element";
        state.view(VectorOperand::kA).strides = {};
        EXPECT_EQ(cycles(state, map(1)), 20 - kLatency) << "40 bytes written, two per cycle";
    });
}

TEST_F(VectorCycles, AChainSlowsADrainDown) {
    make(chip(false), false);
    bench->run([&] {
        isa::Convert op{.header = {}, .ub_addr = 3000, .rows = 5, .row_stride = 16, .cols = 4};
        op.function = 2, op.wide = 1;
        EXPECT_EQ(cycles({}, op.encode()), 2u + 4);
        EXPECT_EQ(cycles(with_chain({}, {kAddI, kToFloat, kMulF}), op.encode()), 2u + 4 * 3);
    });
}

}  // namespace
}  // namespace tandem::sim
