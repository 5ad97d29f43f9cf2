// SPDX-License-Identifier: Apache-2.0
// Random programs for the typed vector unit, valid in a buffer of 4 KiB: what is read lies anywhere
// in the first half, results in the second one, none above another.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "arch/vector_state.h"
#include "testbench/support/seeded.h"

namespace tandem::testbench {

class RandomVectorProgram {
  public:
    static constexpr uint32_t kBufferBytes = 4096, kHalf = kBufferBytes / 2;

    explicit RandomVectorProgram(uint64_t seed) : random_(seed) {}

    /// With special floats and small integers in between; the last lines of the first half are
    /// indices for gather.
    std::vector<uint8_t> buffer() {
        std::vector<uint8_t> bytes(kBufferBytes);
        for (size_t at = 0; at < bytes.size(); at += 4) {
            uint32_t bits = any_bits();
            if (at >= kIndices && at < kHalf) bits = static_cast<uint32_t>(random_.below(kRows));
            std::memcpy(bytes.data() + at, &bits, 4);
        }
        return bytes;
    }

    /// `count` instructions that read and write the buffer, and those that set what they need;
    /// without halt.
    std::vector<isa::Words> program(size_t count) {
        std::vector<isa::Words> words;
        state_ = {};
        while (count-- > 0) {
            const arch::VectorState before = state_;
            const isa::Words work = instruction();
            const auto set = arch::changes(before, state_);
            words.insert(words.end(), set.begin(), set.end());
            words.push_back(work);
        }
        return words;
    }

    /// From the state at the start of a program.
    std::vector<isa::Words> settings_of_a_chain() {
        state_ = {};
        chain();
        return arch::changes({}, state_);
    }

    uint32_t any_bits() {
        constexpr uint32_t kSpecial[] = {0,          0x80000000, 0x00000001, 0x807fffff,
                                         0x00800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                         0xffa00001, 0x7f7fffff, 0x3f800000, 0xbf800000,
                                         0x4b800000, 0xc2b00000, 0x7fffffff};
        switch (random_.below(4)) {
            case 0:
                return kSpecial[random_.below(std::size(kSpecial))];
            case 1:
                return static_cast<uint32_t>(random_.int32());
            case 2:
                return std::bit_cast<uint32_t>(static_cast<float>(random_.between(-2000, 2000)) /
                                               static_cast<float>(random_.between(1, 300)));
            default:
                return static_cast<uint32_t>(random_.bits());
        }
    }

  private:
    static constexpr uint32_t kIndices = kHalf - 64, kRows = 4;
    using Operand = arch::VectorOperand;

    isa::Words instruction() {
        do shape();
        while (elements(0) > 400);
        if (random_.chance(60)) chain();
        switch (random_.below(5)) {
            case 0:
                return lookup();
            case 1:
                return move();
            case 2:
                return reduce();
            default:
                return map();
        }
    }

    void shape() {
        for (uint32_t& extent : state_.shape)
            extent = random_.chance(40) ? 1 : static_cast<uint32_t>(1 + random_.below(4));
        if (random_.chance(40)) state_.shape[5] = static_cast<uint32_t>(1 + random_.below(70));
    }
    uint64_t elements(uint32_t without) const {
        uint64_t count = 1;
        for (size_t axis = 0; axis < 6; ++axis)
            if ((without >> axis & 1) == 0) count *= state_.shape[axis];
        return count;
    }
    void chain() {
        state_.chain.fill({});
        const auto four_bits = [&] { return static_cast<uint8_t>(random_.below(16)); };
        const uint64_t steps = random_.below(arch::kChainSteps + 1);
        for (size_t i = 0; i < steps; ++i)
            state_.chain[i] = {isa::kChainOps[random_.below(isa::kChainOps.size())].op,
                               static_cast<uint8_t>(random_.below(4)), four_bits(), four_bits(),
                               four_bits()};
        for (uint32_t& constant : state_.constants)
            if (random_.chance(50)) constant = any_bits();
    }
    arch::VectorType any_type() { return static_cast<arch::VectorType>(random_.below(4)); }

    /// Some address from which the operand lies inside [low, high), its strides made smaller
    /// until there is one.
    uint32_t address(Operand operand, uint32_t low, uint32_t high, uint32_t without = 0,
                     bool taps = false) {
        arch::ByteSpan span = state_.span(operand, without, taps);
        while (span.high - span.low > high - low) {
            for (int32_t& stride : state_.view(operand).strides) stride /= 2;
            span = state_.span(operand, without, taps);
        }
        const auto room = static_cast<uint64_t>(high - low - (span.high - span.low));
        return static_cast<uint32_t>(low - span.low +
                                     static_cast<int64_t>(random_.below(room + 1)));
    }
    uint32_t read_from(Operand operand, arch::VectorType type, bool taps = false,
                       uint32_t without = 0) {
        auto& view = state_.view(operand);
        view.type = type;
        const auto bytes = static_cast<int32_t>(arch::bytes_of(type));
        for (int32_t& stride : view.strides)
            stride =
                random_.chance(30) ? 0 : static_cast<int32_t>(random_.between(-40, 40)) * bytes;
        if (random_.chance(60)) view.strides[5] = bytes;
        return address(operand, 0, kHalf, without, taps);
    }
    /// Axes in any order, with gaps; those of `without` have any stride.
    uint32_t write_to(arch::VectorType type, uint32_t without = 0) {
        auto& view = state_.view(Operand::kOut);
        view.type = type;
        std::array<size_t, 6> order = {5, 4, 3, 2, 1, 0};
        if (random_.chance(40))
            for (size_t i = 5; i > 0; --i) std::swap(order[i], order[random_.below(i + 1)]);
        auto stride = static_cast<int32_t>(arch::bytes_of(type));
        for (const size_t axis : order) {
            if ((without >> axis & 1) != 0) {
                view.strides[axis] = random_.int32();
                continue;
            }
            view.strides[axis] = random_.chance(20) ? -stride : stride;
            stride *= static_cast<int32_t>(state_.shape[axis]);
        }
        const arch::ByteSpan span = state_.span(Operand::kOut, without);
        const auto room = static_cast<uint64_t>(kHalf - (span.high - span.low));
        return static_cast<uint32_t>(kHalf - span.low +
                                     static_cast<int64_t>(random_.below(room + 1)));
    }
    uint8_t taps() {
        if (!random_.chance(30)) return 0;
        const auto below = [&](uint64_t bound) {
            return static_cast<uint16_t>(random_.below(bound));
        };
        for (arch::TapLine* line : {&state_.taps.h, &state_.taps.w})
            *line = {below(4), below(3), below(3), static_cast<uint16_t>(1 + below(6))};
        state_.taps.fill = any_bits();
        return 1;
    }

    template <class Op>
    Op operands(uint32_t reduced) {
        Op op;
        op.taps = taps();
        op.operands = static_cast<uint8_t>(1 + random_.below(3));
        op.a_addr = read_from(Operand::kA, any_type(), op.taps != 0);
        op.b_addr = read_from(Operand::kB, any_type(), false, reduced);
        op.c_addr = read_from(Operand::kC, any_type(), false, reduced);
        op.out_addr = write_to(any_type(), reduced);
        op.zero_a = random_.int8(), op.zero_b = random_.int8(), op.zero_c = random_.int8();
        op.zero_out = random_.int8();
        if (random_.chance(50)) op.clamp_min = random_.int8(), op.clamp_max = random_.int8();
        return op;
    }
    isa::Words map() {
        auto op = operands<isa::Map>(0);
        if (op.taps == 0 && random_.chance(20)) {  // in place
            state_.view(Operand::kA) = state_.view(Operand::kOut);
            op.a_addr = op.out_addr;
        }
        return op.encode();
    }
    isa::Words reduce() {
        const auto axes = static_cast<uint8_t>(random_.below(64));
        auto op = operands<isa::Reduce>(axes);
        op.axes = axes;
        op.kind = static_cast<uint8_t>(random_.below(4));
        return op.encode();
    }
    isa::Words lookup() {
        isa::Lookup op;
        const arch::VectorType type = any_type();
        op.a_addr = read_from(Operand::kA, arch::VectorType::kInt8);
        op.out_addr = write_to(type);
        op.table_addr = static_cast<uint32_t>(random_.below(kHalf - 256 * arch::bytes_of(type)));
        return op.encode();
    }
    isa::Words move() {
        isa::Move op;
        const arch::VectorType type = any_type();
        op.taps = taps();
        op.gather = random_.chance(30) ? 1 : 0;
        op.rows = op.gather != 0 ? kRows : 0;
        op.index_addr = kIndices;
        op.out_addr = write_to(type);
        const uint32_t rows = state_.shape[0];
        if (op.gather != 0) state_.shape[0] = kRows;
        op.a_addr = read_from(Operand::kA, type, op.taps != 0);
        state_.shape[0] = rows;
        return op.encode();
    }

    Seeded random_;
    arch::VectorState state_;
};

}  // namespace tandem::testbench
