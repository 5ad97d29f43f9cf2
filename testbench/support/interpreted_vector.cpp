// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/interpreted_vector.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "testbench/support/interpreted_memory.h"
#include "testbench/support/naive_bf16.h"

namespace tandem::testbench {

namespace {

isa::Opcode opcode_of(const isa::Words& words) {
    return static_cast<isa::Opcode>(isa::opcode_of(words));
}

/// A span of a buffer that may be const.
template <class Buffer>
auto* at(Buffer& buffer, int64_t address, uint64_t bytes) {
    require(address >= 0 && static_cast<uint64_t>(address) + bytes <= buffer.size(),
            "address " + std::to_string(address) + " beyond the unified buffer");
    return buffer.data() + address;
}

bool is_float(uint8_t type) { return type >= 2; }

}  // namespace

// ---- what the others go by

bool InterpretedVector::set(const isa::Words& words) {
    switch (opcode_of(words)) {
        case isa::Opcode::kSetShape: {
            const auto op = isa::SetShape::decode(words);
            shape_ = {op.n0, op.n1, op.n2, op.n3, op.n4, op.n5};
            for (const uint32_t extent : shape_) require(extent >= 1, "an extent of 0");
            return true;
        }
        case isa::Opcode::kSetView: {
            const auto op = isa::SetView::decode(words);
            require(op.type <= kFp32, "an element type that there is not");
            views_.at(op.operand) = {op.type, {op.s0, op.s1, op.s2, op.s3, op.s4, op.s5}};
            return true;
        }
        case isa::Opcode::kSetTaps:
            taps_ = isa::SetTaps::decode(words);
            require(taps_.size_h >= 1 && taps_.size_w >= 1, "a window over nothing");
            return true;
        case isa::Opcode::kSetChain: {
            const uint32_t first = isa::SetChain::decode(words).first;
            require(first == 0 || first == 6, "the first step of a set_chain");
            if (first == 0) steps_ = {};
            for (uint32_t i = 0; i < 6; ++i) {
                const uint32_t word = words[2 + i];
                const auto bits = [&](int lsb, uint32_t count) {
                    return static_cast<uint8_t>((word >> lsb) % count);
                };
                steps_[first + i] = {static_cast<isa::ChainOp>(bits(0, 256)), bits(8, 4),
                                     bits(12, 16), bits(16, 16), bits(20, 16)};
                if (steps_[first + i].op != isa::ChainOp::kNop)
                    naive_chain_op(steps_[first + i].op, 0, 0, 0);  // throws if there is none
            }
            return true;
        }
        case isa::Opcode::kSetConstants: {
            const uint32_t first = isa::SetConstants::decode(words).first;
            require(first == 0 || first == 6, "the first constant of a set_constants");
            std::copy_n(words.begin() + 2, 6, constants_.begin() + first);
            return true;
        }
        default:
            return false;
    }
}

// ---- elements

uint64_t InterpretedVector::size_of(uint8_t type) {
    constexpr uint64_t kSizes[] = {1, 4, 2, 4};
    return kSizes[type];
}

uint32_t InterpretedVector::element(const View& view, const uint8_t* at, int8_t zero) {
    if (view.type == kInt8) return static_cast<uint32_t>(int32_t{static_cast<int8_t>(*at)} - zero);
    uint32_t bits = 0;
    for (uint64_t byte = 0; byte < size_of(view.type); ++byte)
        bits |= uint32_t{at[byte]} << (8 * byte);
    if (view.type == kInt32) return bits;
    return naive_plain_float(view.type == kBf16 ? bits << 16 : bits);
}

/// `op` has zero_out and the clamps.
template <class Op>
void InterpretedVector::append(std::vector<uint8_t>& bytes, const View& out, const Op& op,
                               uint32_t r0) {
    if (out.type == kInt8) {
        const int64_t value = int64_t{static_cast<int32_t>(r0)} + op.zero_out;
        const int64_t raised = std::max<int64_t>(value, op.clamp_min);
        r0 = static_cast<uint32_t>(std::min<int64_t>(raised, std::max(op.clamp_min, op.clamp_max)));
    } else if (is_float(out.type)) {
        r0 = naive_plain_float(r0);
        if (out.type == kBf16) r0 = naive_bf16::narrow(r0);
    }
    for (uint64_t byte = 0; byte < size_of(out.type); ++byte)
        bytes.push_back(static_cast<uint8_t>(r0 >> (8 * byte)));
}

/// Row-major over the axes of the mask, the others stay as in `i`.
template <class Visit>
void InterpretedVector::for_all(uint32_t axes, Index i, const Visit& visit) const {
    for (size_t axis = 0; axis < i.size(); ++axis)
        if ((axes >> axis & 1) != 0) i[axis] = 0;
    do {
        visit(i);
    } while (advanced(axes, i));
}

bool InterpretedVector::advanced(uint32_t axes, Index& i) const {
    for (size_t axis = i.size(); axis-- > 0;) {
        if ((axes >> axis & 1) == 0) continue;
        if (++i[axis] < shape_[axis]) return true;
        i[axis] = 0;
    }
    return false;
}

int64_t InterpretedVector::place(Operand operand, uint32_t address, const Index& i) const {
    int64_t result = address;
    for (size_t axis = 0; axis < i.size(); ++axis)
        result += int64_t{i[axis]} * views_[operand].strides[axis];
    return result;
}

std::optional<int64_t> InterpretedVector::place_of_a(uint32_t address, const Index& i,
                                                     bool taps) const {
    if (!taps) return place(kA, address, i);
    const int64_t h = int64_t{i[1]} * taps_.step_h + int64_t{i[3]} * taps_.tap_h - taps_.before_h;
    const int64_t w = int64_t{i[2]} * taps_.step_w + int64_t{i[4]} * taps_.tap_w - taps_.before_w;
    if (h < 0 || h >= taps_.size_h || w < 0 || w >= taps_.size_w) return std::nullopt;
    const auto& s = views_[kA].strides;
    return int64_t{address} + int64_t{i[0]} * s[0] + h * s[1] + w * s[2] + int64_t{i[5]} * s[5];
}

// ---- instructions

std::vector<uint8_t> InterpretedVector::read(const isa::Words& words, const Buffer& buffer) const {
    switch (opcode_of(words)) {
        case isa::Opcode::kMap:
            return read_map(isa::Map::decode(words), buffer);
        case isa::Opcode::kReduce:
            return read_reduce(isa::Reduce::decode(words), buffer);
        case isa::Opcode::kLookup:
            return read_lookup(isa::Lookup::decode(words), buffer);
        default:
            return read_move(isa::Move::decode(words), buffer);
    }
}

std::vector<uint8_t> InterpretedVector::read_map(const isa::Map& op, const Buffer& buffer) const {
    require(op.operands >= 1, "a map of nothing");
    std::vector<uint8_t> bytes;
    const auto operand = [&](Operand which, int64_t address, int8_t zero) {
        const View& view = views_[which];
        return element(view, at(buffer, address, size_of(view.type)), zero);
    };
    for_all(kAllAxes, {}, [&](const Index& i) {
        const auto place_a = place_of_a(op.a_addr, i, op.taps != 0);
        const uint32_t a = place_a ? operand(kA, *place_a, op.zero_a) : taps_.fill;
        const uint32_t b = op.operands >= 2 ? operand(kB, place(kB, op.b_addr, i), op.zero_b) : 0;
        const uint32_t c = op.operands >= 3 ? operand(kC, place(kC, op.c_addr, i), op.zero_c) : 0;
        append(bytes, views_[kOut], op, chain(a, b, c));
    });
    return bytes;
}

/// The elements of a along the reduced axes.
template <class Op>
uint32_t InterpretedVector::reduced(const Op& op, const Index& kept, const Buffer& buffer) const {
    const View& view = views_[kA];
    const bool floats = is_float(view.type);
    constexpr uint32_t kMinusInfinity = 0xff800000, kInfinity = 0x7f800000;
    constexpr uint32_t kLeast = 0x80000000, kMost = 0x7fffffff;
    uint32_t result = 0, number = 0;
    if (op.kind == 1) result = floats ? kMinusInfinity : kLeast;
    if (op.kind == 2) result = floats ? kInfinity : kMost;
    std::optional<uint32_t> largest;  // of kind 3
    for_all(op.axes, kept, [&](const Index& i) {
        const uint32_t place_in_order = number++;
        const auto place = place_of_a(op.a_addr, i, op.taps != 0);
        if (!place) return;
        const uint32_t x = element(view, at(buffer, *place, size_of(view.type)), op.zero_a);
        if (op.kind == 0) {
            result = floats ? naive_bf16::sum(result, x) : result + x;
        } else if (op.kind < 3) {
            const auto ints = op.kind == 1 ? isa::ChainOp::kMaxI : isa::ChainOp::kMinI;
            const auto reals = op.kind == 1 ? isa::ChainOp::kMaxF : isa::ChainOp::kMinF;
            result = naive_chain_op(floats ? reals : ints, result, x, 0);
        } else {
            const auto less = floats ? isa::ChainOp::kLessF : isa::ChainOp::kLessI;
            const bool was_nan = floats && largest && *largest == naive_bf16::kNan;
            const bool is_nan = floats && x == naive_bf16::kNan;
            if (largest && !(is_nan && !was_nan) && naive_chain_op(less, *largest, x, 0) == 0)
                return;
            largest = x, result = place_in_order;
        }
    });
    return result;
}

std::vector<uint8_t> InterpretedVector::read_reduce(const isa::Reduce& op,
                                                    const Buffer& buffer) const {
    require(op.operands >= 1, "a reduce of nothing");
    std::vector<uint8_t> bytes;
    for_all(kAllAxes & ~uint32_t{op.axes}, {}, [&](const Index& i) {
        const auto operand = [&](Operand which, uint32_t address, int8_t zero) {
            const View& view = views_[which];
            return element(view, at(buffer, place(which, address, i), size_of(view.type)), zero);
        };
        const uint32_t b = op.operands >= 2 ? operand(kB, op.b_addr, op.zero_b) : 0;
        const uint32_t c = op.operands >= 3 ? operand(kC, op.c_addr, op.zero_c) : 0;
        append(bytes, views_[kOut], op, chain(reduced(op, i, buffer), b, c));
    });
    return bytes;
}

std::vector<uint8_t> InterpretedVector::read_lookup(const isa::Lookup& op,
                                                    const Buffer& buffer) const {
    require(views_[kA].type == kInt8, "a lookup of something else than int8");
    const uint64_t size = size_of(views_[kOut].type);
    std::vector<uint8_t> bytes;
    for_all(kAllAxes, {}, [&](const Index& i) {
        const auto a = static_cast<int8_t>(*at(buffer, place(kA, op.a_addr, i), 1));
        const auto entry = static_cast<uint64_t>(a + 128);
        const uint8_t* from =
            at(buffer, int64_t{op.table_addr} + static_cast<int64_t>(entry * size), size);
        bytes.insert(bytes.end(), from, from + size);
    });
    return bytes;
}

std::vector<uint8_t> InterpretedVector::read_move(const isa::Move& op, const Buffer& buffer) const {
    require(views_[kA].type == views_[kOut].type, "a move between types");
    const uint64_t size = size_of(views_[kA].type);
    std::vector<uint8_t> bytes;
    for_all(kAllAxes, {}, [&](Index i) {
        if (op.gather != 0) {
            int32_t row;
            std::memcpy(&row, at(buffer, int64_t{op.index_addr} + 4 * int64_t{i[0]}, 4), 4);
            require(row >= 0 && static_cast<uint32_t>(row) < op.rows, "a row that there is not");
            i[0] = static_cast<uint32_t>(row);
        }
        const auto place = place_of_a(op.a_addr, i, op.taps != 0);
        const uint8_t* from = place ? at(buffer, *place, size) : nullptr;
        for (uint64_t byte = 0; byte < size; ++byte)
            bytes.push_back(place ? from[byte] : static_cast<uint8_t>(taps_.fill >> (8 * byte)));
    });
    return bytes;
}

void InterpretedVector::write(const isa::Words& words, const std::vector<uint8_t>& bytes,
                              Buffer& buffer) const {
    uint32_t axes = kAllAxes, address = 0;
    switch (opcode_of(words)) {
        case isa::Opcode::kMap:
            address = isa::Map::decode(words).out_addr;
            break;
        case isa::Opcode::kReduce: {
            const auto op = isa::Reduce::decode(words);
            address = op.out_addr, axes = kAllAxes & ~uint32_t{op.axes};
            break;
        }
        case isa::Opcode::kLookup:
            address = isa::Lookup::decode(words).out_addr;
            break;
        default:
            address = isa::Move::decode(words).out_addr;
    }
    const uint64_t size = size_of(views_[kOut].type);
    const uint8_t* from = bytes.data();
    for_all(axes, {}, [&](const Index& i) {
        std::memcpy(at(buffer, place(kOut, address, i), size), from, size);
        from += size;
    });
}

}  // namespace tandem::testbench
