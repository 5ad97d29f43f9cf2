// SPDX-License-Identifier: Apache-2.0
// Values of map, reduce, lookup and move against the interpreter, on every kernel.
#include "engine/vector_elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "testbench/support/interpreted_vector.h"
#include "testbench/support/seeded.h"

namespace tandem::engine {
namespace {

using arch::VectorOperand;
using arch::VectorState;
using arch::VectorType;
using testbench::Seeded;
using Bytes = testbench::InterpretedVector::Buffer;

constexpr uint32_t kBufferBytes = 1 << 16;

std::vector<VectorKernel> kernels() {
    std::vector<VectorKernel> list;
    for (const auto kernel : {VectorKernel::kPlain, VectorKernel::kAvx2, VectorKernel::kAvx512})
        if (kernel <= best_vector_kernel()) list.push_back(kernel);
    return list;
}

std::string first_difference(const Bytes& found, const Bytes& expected) {
    for (size_t i = 0; i < expected.size(); ++i)
        if (found[i] != expected[i])
            return "byte " + std::to_string(i) + ": expected " + std::to_string(expected[i]) +
                   ", found " + std::to_string(found[i]);
    return {};
}

/// Bits of numbers that matter: extremes, small integers, floats near 1, anything.
uint32_t any_bits(Seeded& random) {
    constexpr uint32_t kExtremes[] = {0,          0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                      0x80800000, 0x7f800000, 0xff800000, 0x7f800001, 0xffffffff,
                                      0x7f7fffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x4effffff,
                                      0x4f000000, 0xcf000000, 0x7fffffff, 1,          0xfffffffe};
    const auto bits = static_cast<uint32_t>(random.bits());
    switch (random.below(5)) {
        case 0:
            return kExtremes[random.below(std::size(kExtremes))];
        case 1:
            return static_cast<uint32_t>(random.between(-300, 300));
        case 2:
            return (bits & 0x83ffffff) | 0x3c000000;
        case 3:  // whole numbers and halves
            return std::bit_cast<uint32_t>(static_cast<float>(random.between(-99, 99)) / 2);
        default:
            return bits;
    }
}

Bytes random_buffer(Seeded& random) {
    Bytes buffer(kBufferBytes);
    for (size_t i = 0; i < buffer.size(); i += 4) {
        const uint32_t bits = any_bits(random);
        std::memcpy(buffer.data() + i, &bits, 4);
    }
    return buffer;
}

VectorType any_type(Seeded& random) { return static_cast<VectorType>(random.below(4)); }

void random_chain(Seeded& random, VectorState& state) {
    for (uint32_t& constant : state.constants) constant = any_bits(random);
    const size_t steps = random.below(arch::kChainSteps + 1);
    for (size_t i = 0; i < steps; ++i) {
        // Without nop, which ends the chain.
        const auto op = isa::kChainOps[1 + random.below(isa::kChainOps.size() - 1)].op;
        state.chain[i] = {
            op, static_cast<uint8_t>(random.below(4)), static_cast<uint8_t>(random.below(16)),
            static_cast<uint8_t>(random.below(16)), static_cast<uint8_t>(random.below(16))};
    }
}

/// Up to about 3000 elements, in few axes or many.
void random_shape(Seeded& random, VectorState& state) {
    for (uint32_t& extent : state.shape)
        extent = random.chance(40) ? 1 : static_cast<uint32_t>(1 + random.below(4));
    auto& large = state.shape[random.chance(60) ? 5 : random.below(6)];
    uint32_t others = 1;
    for (const uint32_t extent : state.shape) others *= extent;
    large = static_cast<uint32_t>(1 + random.below(std::max(1u, 1500 / others)));
}

/// Dense, with gaps, backwards, transposed, or (not for results) with axes that stand still.
/// Returns an address from which all of it lies inside [low, high).
uint32_t random_view(Seeded& random, VectorState& state, VectorOperand operand, VectorType type,
                     uint32_t low, uint32_t high, uint32_t without = 0, bool taps = false) {
    auto& view = state.view(operand);
    view.type = type;
    for (int attempt = 0;; ++attempt) {
        const bool dense = attempt > 20 || random.chance(50);
        const bool may_repeat = operand != VectorOperand::kOut && random.chance(30);
        std::array<size_t, 6> order = {5, 4, 3, 2, 1, 0};
        if (!dense)
            for (size_t i = 5; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
        int64_t stride = arch::bytes_of(type);
        for (const size_t axis : order) {
            uint32_t extent = (without >> axis & 1) != 0 ? 1 : state.shape[axis];
            if (taps && axis >= 1 && axis <= 4)
                extent = axis == 1 ? state.taps.h.size : axis == 2 ? state.taps.w.size : 1;
            if (!dense && random.chance(20)) stride += arch::bytes_of(type);
            const bool repeated = may_repeat && random.chance(40);
            const int sign = !dense && random.chance(20) ? -1 : 1;
            view.strides[axis] = repeated ? 0 : static_cast<int32_t>(sign * stride);
            if (!repeated) stride *= extent;
        }
        const arch::ByteSpan span = state.span(operand, without, taps);
        if (span.high - span.low >= high - low) continue;
        return static_cast<uint32_t>(low - span.low +
                                     static_cast<int64_t>(random.below(static_cast<uint64_t>(
                                         high - low - (span.high - span.low)))));
    }
}

void random_taps(Seeded& random, VectorState& state) {
    for (arch::TapLine* line : {&state.taps.h, &state.taps.w})
        *line = {static_cast<uint16_t>(random.below(4)), static_cast<uint16_t>(random.below(4)),
                 static_cast<uint16_t>(random.below(4)),
                 static_cast<uint16_t>(1 + random.below(6))};
    state.taps.fill = any_bits(random);
}

/// What map and reduce have in common: views, addresses, limits.
template <class Op>
void random_operands(Seeded& random, VectorState& state, Op& op, uint32_t without) {
    op.operands = static_cast<uint8_t>(1 + random.below(3));
    op.taps = random.chance(30);
    if (op.taps != 0) random_taps(random, state);
    op.a_addr = random_view(random, state, VectorOperand::kA, any_type(random), 0, 1 << 14, 0,
                            op.taps != 0);
    op.b_addr =
        random_view(random, state, VectorOperand::kB, any_type(random), 1 << 14, 2 << 14, without);
    op.c_addr =
        random_view(random, state, VectorOperand::kC, any_type(random), 2 << 14, 3 << 14, without);
    op.out_addr = random_view(random, state, VectorOperand::kOut, any_type(random), 3 << 14,
                              4 << 14, without);
    op.zero_a = random.int8(), op.zero_b = random.int8(), op.zero_c = random.int8(),
    op.zero_out = random.int8();
    if (random.chance(50)) op.clamp_min = random.int8(), op.clamp_max = random.int8();
}

std::string described(const VectorState& state, VectorKernel kernel, uint64_t seed) {
    std::string text = "shape";
    for (const uint32_t extent : state.shape) text += " " + std::to_string(extent);
    for (size_t i = 0; i < state.chain_length(); ++i)
        text += i == 0 ? ", chain " : " ",
            text +=
            std::ranges::find(isa::kChainOps, state.chain[i].op, &isa::ChainOpInfo::op)->name;
    return text + ", kernel " + std::to_string(static_cast<int>(kernel)) + ", seed " +
           std::to_string(seed);
}

/// The buffer after the instruction; throws where the machine would end the program.
template <class Op>
Bytes interpreted(const Op& op, const VectorState& state, Bytes buffer) {
    testbench::InterpretedVector unit;
    for (const isa::Words& words : arch::changes({}, state)) unit.set(words);
    const isa::Words words = op.encode();
    unit.write(words, unit.read(words, buffer), buffer);
    return buffer;
}

/// By every kernel.
template <class Op>
void expect_interpreted(const Op& op, const VectorState& state, const Bytes& buffer, uint64_t seed,
                        void (*elements)(const Op&, const VectorState&, std::span<uint8_t>,
                                         VectorKernel)) {
    const Bytes expected = interpreted(op, state, buffer);
    for (const auto kernel : kernels()) {
        Bytes found = buffer;
        elements(op, state, found, kernel);
        ASSERT_EQ(first_difference(found, expected), "") << described(state, kernel, seed);
    }
}

TEST(VectorMap, AgreesWithTheInterpreter) {
    for (uint64_t seed = 0; seed < 1500; ++seed) {
        Seeded random(seed);
        const Bytes buffer = random_buffer(random);
        VectorState state;
        random_shape(random, state);
        random_chain(random, state);
        isa::Map op;
        random_operands(random, state, op, 0);
        ASSERT_NO_FATAL_FAILURE(expect_interpreted(op, state, buffer, seed, map_elements));
    }
}

/// Every operation on bits of all kinds, as fp32 and as int32.
TEST(VectorMap, DoesEveryStepOnAnyBits) {
    constexpr uint32_t kCount = 2000;
    for (const isa::ChainOpInfo& info : isa::kChainOps) {
        if (info.op == isa::ChainOp::kNop) continue;
        Seeded random(static_cast<uint64_t>(info.op));
        const Bytes buffer = random_buffer(random);
        VectorState state;
        state.shape[5] = kCount;
        for (auto& view : state.views) view = {VectorType::kInt32, {0, 0, 0, 0, 0, 4}};
        state.chain[0] = {info.op, 0, 0, 1, 2};
        isa::Map op;
        op.operands = 3;
        op.a_addr = 0, op.b_addr = 4 * kCount, op.c_addr = 8 * kCount, op.out_addr = 12 * kCount;
        for (const auto kernel : kernels()) {
            Bytes found = buffer;
            map_elements(op, state, found, kernel);
            for (uint32_t i = 0; i < kCount; ++i) {
                uint32_t words[4];
                for (uint32_t k = 0; k < 4; ++k)
                    std::memcpy(&words[k], found.data() + 4 * (k * kCount + i), 4);
                ASSERT_EQ(words[3],
                          testbench::naive_chain_op(info.op, words[0], words[1], words[2]))
                    << info.name << std::hex << " of " << words[0] << ", " << words[1] << ", "
                    << words[2] << ", kernel " << static_cast<int>(kernel);
            }
        }
    }
}

TEST(VectorMap, WorksInPlace) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
        Seeded random(seed);
        const Bytes buffer = random_buffer(random);
        VectorState state;
        random_shape(random, state);
        random_chain(random, state);
        isa::Map op;
        op.operands = 2;
        op.out_addr = random_view(random, state, VectorOperand::kOut, any_type(random), 0, 1 << 15);
        op.b_addr =
            random_view(random, state, VectorOperand::kB, any_type(random), 1 << 15, 1 << 16);
        state.view(VectorOperand::kA) = state.view(VectorOperand::kOut);
        op.a_addr = op.out_addr;
        ASSERT_NO_FATAL_FAILURE(expect_interpreted(op, state, buffer, seed, map_elements));
    }
}

TEST(VectorReduce, AgreesWithTheInterpreter) {
    for (uint64_t seed = 0; seed < 2500; ++seed) {
        Seeded random(seed);
        const Bytes buffer = random_buffer(random);
        VectorState state;
        random_shape(random, state);
        if (random.chance(50)) random_chain(random, state);
        isa::Reduce op;
        op.kind = static_cast<uint8_t>(random.below(4));
        op.axes = static_cast<uint8_t>(random.below(64));
        random_operands(random, state, op, op.axes);
        const Bytes expected = interpreted(op, state, buffer);
        for (const auto kernel : kernels()) {
            Bytes found = buffer;
            reduce_elements(op, state, found, kernel);
            ASSERT_EQ(first_difference(found, expected), "")
                << "kind " << int{op.kind} << ", axes " << int{op.axes} << ", taps " << int{op.taps}
                << ", " << described(state, kernel, seed);
        }
    }
}

TEST(VectorReduce, GivesTheIdentityWhereNoTapIsInside) {
    for (const auto type : {VectorType::kInt32, VectorType::kFp32})
        for (uint8_t kind = 0; kind < 4; ++kind) {
            Bytes buffer(64, 1);
            VectorState state;
            state.shape[3] = 2;
            state.taps.h = {0, 1, 2, 5};  // lines -2 and -1
            state.view(VectorOperand::kA) = {type, {0, 4, 4, 0, 0, 4}};
            state.view(VectorOperand::kOut) = {type, {}};
            isa::Reduce op;
            op.kind = kind, op.axes = 0b001000, op.taps = 1, op.out_addr = 32;
            reduce_elements(op, state, buffer);
            uint32_t found;
            std::memcpy(&found, buffer.data() + 32, 4);
            const bool floats = type == VectorType::kFp32;
            const uint32_t expected[] = {0, floats ? 0xff800000u : 0x80000000u,
                                         floats ? 0x7f800000u : 0x7fffffffu, 0};
            EXPECT_EQ(found, expected[kind]) << "kind " << int{kind};
        }
}

TEST(VectorReduce, TakesTheFirstOfEqualsAndTheFirstNan) {
    const auto place = [](std::vector<float> values) {
        Bytes buffer(128);
        std::memcpy(buffer.data(), values.data(), 4 * values.size());
        VectorState state;
        state.shape[5] = static_cast<uint32_t>(values.size());
        state.view(VectorOperand::kA) = {VectorType::kFp32, {0, 0, 0, 0, 0, 4}};
        state.view(VectorOperand::kOut) = {VectorType::kInt32, {}};
        isa::Reduce op;
        op.kind = 3, op.axes = 0b100000, op.out_addr = 64;
        reduce_elements(op, state, buffer);
        return int{buffer[64]};
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(place({1, 3, 3, 2}), 1);
    EXPECT_EQ(place({-0.0f, 0.0f}), 0) << "zeros are equal";
    EXPECT_EQ(place({1, nan, 7, nan}), 1);
    EXPECT_EQ(place({nan, nan}), 0);
}

TEST(VectorLookup, AgreesWithTheInterpreter) {
    for (uint64_t seed = 0; seed < 300; ++seed) {
        Seeded random(seed);
        const Bytes buffer = random_buffer(random);
        VectorState state;
        random_shape(random, state);
        isa::Lookup op;
        op.a_addr = random_view(random, state, VectorOperand::kA, VectorType::kInt8, 0, 1 << 14);
        op.table_addr = static_cast<uint32_t>((1 << 14) + random.below(5000));
        op.out_addr =
            random_view(random, state, VectorOperand::kOut, any_type(random), 2 << 14, 4 << 14);
        ASSERT_NO_FATAL_FAILURE(expect_interpreted(op, state, buffer, seed, lookup_elements));
    }
}

TEST(VectorMove, AgreesWithTheInterpreter) {
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        Seeded random(seed);
        Bytes buffer = random_buffer(random);
        VectorState state;
        random_shape(random, state);
        isa::Move op;
        op.taps = random.chance(30);
        if (op.taps != 0) random_taps(random, state);
        op.gather = random.chance(30);
        const auto type = any_type(random);
        const uint32_t rows = state.shape[0];
        op.rows = rows;
        op.a_addr =
            random_view(random, state, VectorOperand::kA, type, 0, 1 << 14, 0, op.taps != 0);
        op.out_addr = random_view(random, state, VectorOperand::kOut, type, 2 << 14, 4 << 14);
        op.index_addr = 1 << 14;
        for (uint32_t i = 0; i < rows; ++i) {
            const auto index = static_cast<uint32_t>(random.below(rows));
            std::memcpy(buffer.data() + op.index_addr + size_t{i} * 4, &index, 4);
        }
        const Bytes expected = interpreted(op, state, buffer);
        Bytes found = buffer;
        ASSERT_TRUE(move_elements(op, state, found));
        ASSERT_EQ(first_difference(found, expected), "")
            << "gather " << int{op.gather} << ", taps " << int{op.taps} << ", "
            << described(state, VectorKernel::kPlain, seed);
    }
}

TEST(VectorMove, RefusesAnIndexOutsideOfTheRows) {
    for (const int32_t index :
         {-1, 3, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
        Bytes buffer(256);
        std::memcpy(buffer.data() + 100, &index, 4);
        VectorState state;
        state.shape = {2, 1, 1, 1, 1, 4};
        state.view(VectorOperand::kA).strides = {4, 0, 0, 0, 0, 1};
        state.view(VectorOperand::kOut).strides = {4, 0, 0, 0, 0, 1};
        isa::Move op;
        op.gather = 1, op.rows = 3, op.index_addr = 96, op.out_addr = 128;
        EXPECT_FALSE(move_elements(op, state, buffer)) << index;
        EXPECT_THROW(interpreted(op, state, buffer), std::runtime_error) << index;
        const int32_t last = 2;
        std::memcpy(buffer.data() + 100, &last, 4);
        EXPECT_TRUE(move_elements(op, state, buffer));
        EXPECT_NO_THROW(interpreted(op, state, buffer));
    }
}

}  // namespace
}  // namespace tandem::engine
