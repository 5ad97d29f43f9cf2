// SPDX-License-Identifier: Apache-2.0
// Cycles of the vector unit, counted by hand.
#include "engine/vector_timing.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "arch/vector_rules.h"

namespace tandem::engine {
namespace {

constexpr VectorTiming kTiming{{.lanes = 8, .latency_cycles = 5}};

TEST(VectorTimingDrain, TakesOneCyclePerStartedGroupOfLanes) {
    EXPECT_EQ(kTiming.drain_interval(1), 1u);
    EXPECT_EQ(kTiming.drain_interval(8), 1u);
    EXPECT_EQ(kTiming.drain_interval(9), 2u);
    EXPECT_EQ(kTiming.drain_interval(256), 32u);
    constexpr VectorTiming kNarrow{{.lanes = 8, .latency_cycles = 5}, 3};
    EXPECT_EQ(kNarrow.drain_interval(3), 1u);
    EXPECT_EQ(kNarrow.drain_interval(8), 3u);
}

using arch::VectorOperand;
using arch::VectorState;
using arch::VectorType;
using isa::ChainOp;

constexpr uint32_t kLatency = 5;

/// Dense operands of one type, axis 5 innermost.
VectorState dense(std::array<uint32_t, 6> shape, VectorType type = VectorType::kInt8) {
    VectorState state;
    state.shape = shape;
    for (auto& view : state.views) {
        view.type = type;
        auto stride = static_cast<int32_t>(arch::bytes_of(type));
        for (size_t axis = 6; axis-- > 0;) {
            view.strides[axis] = stride;
            stride *= static_cast<int32_t>(shape[axis]);
        }
    }
    return state;
}

void set_chain(VectorState& state, std::initializer_list<ChainOp> ops) {
    size_t step = 0;
    for (const ChainOp op : ops) state.chain[step++].op = op;
}

TEST(VectorTimingChain, CostsOnePassOnAFixedPipelineElseItsSteps) {
    VectorState state;
    const VectorTiming steps{{.lanes = 8, .latency_cycles = 5, .fixed_pipeline = false}};
    EXPECT_EQ(arch::chain_cycles(state, steps.unit), 1u) << "an empty chain streams, too";
    set_chain(state, {ChainOp::kAddF, ChainOp::kExpF, ChainOp::kMulF});
    EXPECT_EQ(arch::chain_cycles(state, kTiming.unit), 1u);
    EXPECT_EQ(arch::chain_cycles(state, steps.unit), 3u);
    const VectorTiming slow{
        {.lanes = 8, .latency_cycles = 5, .fixed_pipeline = false, .transcendental_lanes = 3}};
    EXPECT_EQ(arch::chain_cycles(state, slow.unit), 1u + 3 + 1);
}

TEST(VectorTimingMap, TakesAxesTogetherThatLieOneBehindTheOther) {
    isa::Map op;
    EXPECT_EQ(kTiming.map(op, dense({1, 1, 1, 1, 1, 1})), 1 + kLatency);
    EXPECT_EQ(kTiming.map(op, dense({1, 1, 1, 1, 1, 17})), 3 + kLatency);
    // 6 x 5 dense elements are 30 in a row.
    VectorState state = dense({1, 1, 6, 1, 5, 1});
    EXPECT_EQ(kTiming.map(op, state), 4 + kLatency);
    // A gap in any operand that is read parts them into 6 rows of 5.
    state.view(VectorOperand::kB).strides[2] += 1;
    EXPECT_EQ(kTiming.map(op, state), 4 + kLatency) << "b is not read";
    op.operands = 2;
    EXPECT_EQ(kTiming.map(op, state), 6 + kLatency);
}

TEST(VectorTimingMap, PaysEveryStepWithoutAFixedPipeline) {
    const VectorTiming steps{{.lanes = 8, .latency_cycles = 5, .fixed_pipeline = false}};
    VectorState state = dense({1, 1, 1, 1, 3, 8});
    set_chain(state, {ChainOp::kToFloat, ChainOp::kMulF});
    EXPECT_EQ(kTiming.map({}, state), 3 + kLatency);
    EXPECT_EQ(steps.map({}, state), 3 * 2 + kLatency);
}

TEST(VectorTimingMap, KeepsWindowsApart) {
    isa::Map op;
    op.taps = 1;
    // 4 x 4 outputs, 2 x 2 taps, 10 channels: 64 rows of two vectors.
    EXPECT_EQ(kTiming.map(op, dense({1, 4, 4, 2, 2, 10})), 64 * 2 + kLatency);
    EXPECT_EQ(kTiming.map({}, dense({1, 4, 4, 2, 2, 10})), 80 + kLatency) << "640 in a row";
}

TEST(VectorTimingReduce, StreamsEveryTapAndTheChainOverTheResults) {
    const VectorTiming steps{{.lanes = 8, .latency_cycles = 5, .fixed_pipeline = false}};
    isa::Reduce op;
    op.taps = 1, op.axes = 0b011000;
    VectorState state = dense({2, 4, 4, 3, 3, 10});
    state.view(VectorOperand::kOut) = dense({2, 4, 4, 1, 1, 10}).view(VectorOperand::kOut);
    EXPECT_EQ(kTiming.reduce(op, state), 32 * 9 * 2 + kLatency);
    EXPECT_EQ(steps.reduce(op, state), 32 * 9 * 2 + kLatency) << "no chain";
    set_chain(state, {ChainOp::kToFloat, ChainOp::kMulF, ChainOp::kRound});
    EXPECT_EQ(kTiming.reduce(op, state), 32 * 9 * 2 + kLatency);
    EXPECT_EQ(steps.reduce(op, state), 32 * 9 * 2 + 40 * 3 + kLatency) << "320 results in a row";
}

TEST(VectorTimingReduce, AddsATreeOverTheLanesWhereTheseAreReduced) {
    isa::Reduce op;
    op.axes = 0b100000;
    EXPECT_EQ(kTiming.reduce(op, dense({1, 1, 1, 1, 3, 20})), 3 * 3 + 3 * 3 + kLatency);
    EXPECT_EQ(kTiming.reduce(op, dense({1, 1, 1, 1, 3, 5})), 3 * 1 + 3 * 3 + kLatency)
        << "five lanes: three levels";
    EXPECT_EQ(kTiming.reduce(op, dense({1, 1, 1, 1, 3, 1})), 1 + kLatency) << "nothing to reduce";
    op.axes = 0b110000;  // 60 in a row, one result
    EXPECT_EQ(kTiming.reduce(op, dense({1, 1, 1, 1, 3, 20})), 8 + 3 + kLatency);
    op.axes = 0b010000;
    EXPECT_EQ(kTiming.reduce(op, dense({1, 1, 1, 1, 3, 20})), 3 * 3 + kLatency);
}

TEST(VectorTimingMove, KeepsGatheredRowsApart) {
    isa::Move op;
    const VectorState state = dense({6, 1, 1, 1, 1, 4});
    EXPECT_EQ(kTiming.move(op, state), 3 + kLatency);
    EXPECT_EQ(kTiming.lookup({}, state), 3 + kLatency);
    op.gather = 1;
    EXPECT_EQ(kTiming.move(op, state), 6 + kLatency);
}

TEST(VectorTiming, StaysAtTheLargestNumber) {
    constexpr uint32_t kMost = 0xffffffff;
    VectorState state;
    state.shape = {kMost, kMost, kMost, kMost, kMost, kMost};
    EXPECT_EQ(kTiming.map({}, state), ~uint64_t{0});
    EXPECT_EQ(buffer_bytes(isa::Map{}, state).written, ~uint64_t{0});
}

TEST(VectorTimingBytes, CountsDistinctElementsAndResults) {
    VectorState state = dense({1, 1, 1, 2, 3, 4}, VectorType::kFp32);
    state.view(VectorOperand::kB) = {VectorType::kBf16, {0, 0, 0, 0, 2, 0}};  // three of them
    state.view(VectorOperand::kOut).type = VectorType::kInt8;
    isa::Map map;
    EXPECT_EQ(buffer_bytes(map, state).read, 24u * 4);
    EXPECT_EQ(buffer_bytes(map, state).written, 24u);
    map.operands = 2;
    EXPECT_EQ(buffer_bytes(map, state).read, 24u * 4 + 3 * 2);
    isa::Reduce reduce;
    reduce.axes = 0b010000, reduce.operands = 2;
    EXPECT_EQ(buffer_bytes(reduce, state).read, 24u * 4 + 2) << "b stands still";
    EXPECT_EQ(buffer_bytes(reduce, state).written, 8u);
    isa::Move move;
    move.gather = 1;
    EXPECT_EQ(buffer_bytes(move, state).read, 24u * 4 + 4) << "and one index";
    EXPECT_EQ(buffer_bytes(isa::Lookup{}, state).written, 24u);
}

TEST(VectorTimingBytes, CountsEveryTap) {
    VectorState state = dense({1, 4, 4, 3, 3, 2});
    state.view(VectorOperand::kA).strides = {0, 8, 2, 0, 0, 1};
    isa::Reduce op;
    op.taps = 1, op.axes = 0b011000;
    EXPECT_EQ(buffer_bytes(op, state).read, 16u * 9 * 2);
    EXPECT_EQ(buffer_bytes(op, state).written, 16u * 2);
}

TEST(VectorTimingCeilDiv, RoundsUp) {
    EXPECT_EQ(base::divide_up(0, 3), 0u);
    EXPECT_EQ(base::divide_up(1, 3), 1u);
    EXPECT_EQ(base::divide_up(3, 3), 1u);
    EXPECT_EQ(base::divide_up(4, 3), 2u);
}

}  // namespace
}  // namespace tandem::engine
