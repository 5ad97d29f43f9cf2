// SPDX-License-Identifier: Apache-2.0
#include "testbench/unit/engine/plain_vector_unit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

namespace tandem::testbench::plain_vector {
namespace {

using arch::VectorOperand;
using arch::VectorState;
using arch::VectorType;
using isa::ChainOp;
using Index = std::array<int64_t, 6>;

constexpr uint32_t kNan = 0x7fc00000;

double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }
double value(uint32_t bits) { return flushed(double{std::bit_cast<float>(bits)}); }
/// Of something that fp32 hold, or of an exact or nearly exact result.
uint32_t bits(long double x) {
    if (std::isnan(x)) return kNan;
    if (std::fabs(x) < 0x1p-126L) return std::signbit(x) ? 0x80000000 : 0;
    return std::bit_cast<uint32_t>(static_cast<float>(x));
}

int32_t signed_of(uint32_t x) { return static_cast<int32_t>(x); }
uint32_t wrapped(int64_t x) { return static_cast<uint32_t>(static_cast<uint64_t>(x)); }

/// x / 2^31 * 2^shift as gemmlowp has it.
uint32_t scaled(uint32_t x, uint32_t y, int32_t shift) {
    const int left = shift > 30 ? 30 : std::max(shift, 0),
              right = shift < -31 ? 31 : std::max(-shift, 0);
    const int64_t a = signed_of(x << left), b = signed_of(y);
    int64_t high = a * b;
    if (a == b && a == -(int64_t{1} << 31))
        high = (int64_t{1} << 31) - 1;
    else  // ties towards plus infinity
        high = (high + (int64_t{1} << 30)) >> 31;
    const int64_t magnitude = high < 0 ? -high : high;
    const int64_t half = right == 0 ? 0 : int64_t{1} << (right - 1);
    const int64_t shifted = (magnitude + half) >> right;
    return wrapped(high < 0 ? -shifted : shifted);
}

uint32_t average(int64_t x, int64_t y) {
    if (y < 1) return 0;
    const int64_t magnitude = x < 0 ? -x : x;
    const int64_t rounded = (2 * magnitude + y) / (2 * y);
    return wrapped(x < 0 ? -rounded : rounded);
}

uint32_t saturated(double whole) {
    if (std::isnan(whole)) return 0;
    return wrapped(static_cast<int64_t>(whole > 2147483647.0    ? 2147483647.0
                                        : whole < -2147483648.0 ? -2147483648.0
                                                                : whole));
}

double half_even(double x) {
    const double below = std::floor(x), rest = x - below;
    if (std::isinf(x) || std::isnan(x)) return x;
    if (rest == 0.5) return std::fmod(below, 2.0) == 0.0 ? below : below + 1;
    return rest > 0.5 ? below + 1 : below;
}

uint32_t extreme(uint32_t x, uint32_t y, bool larger) {
    const double a = value(x), b = value(y);
    if (std::isnan(a) || std::isnan(b)) return kNan;
    if (a == b) return bits(std::signbit(a) == larger ? b : a);
    return bits((a > b) == larger ? a : b);
}

/// In row-major order over `shape`.
void for_each(const std::array<uint32_t, 6>& shape,
              const std::function<void(const Index&)>& visit) {
    Index i{};
    for (i[0] = 0; i[0] < shape[0]; ++i[0])
        for (i[1] = 0; i[1] < shape[1]; ++i[1])
            for (i[2] = 0; i[2] < shape[2]; ++i[2])
                for (i[3] = 0; i[3] < shape[3]; ++i[3])
                    for (i[4] = 0; i[4] < shape[4]; ++i[4])
                        for (i[5] = 0; i[5] < shape[5]; ++i[5]) visit(i);
}

size_t address(const VectorState& state, VectorOperand operand, uint32_t base, const Index& i) {
    int64_t at = base;
    for (size_t axis = 0; axis < 6; ++axis) at += i[axis] * state.view(operand).strides[axis];
    return static_cast<size_t>(at);
}

std::optional<size_t> tapped(const VectorState& state, uint32_t base, const Index& i, bool taps) {
    if (!taps) return address(state, VectorOperand::kA, base, i);
    const arch::TapLine &v = state.taps.h, &u = state.taps.w;
    const int64_t h = i[1] * v.step + i[3] * v.tap - v.before,
                  w = i[2] * u.step + i[4] * u.tap - u.before;
    if (h < 0 || h >= v.size || w < 0 || w >= u.size) return std::nullopt;
    const auto& s = state.view(VectorOperand::kA).strides;
    return static_cast<size_t>(base + i[0] * s[0] + h * s[1] + w * s[2] + i[5] * s[5]);
}

uint32_t load(const Bytes& buffer, size_t at, VectorType type, int zero) {
    uint32_t raw = 0;
    for (size_t byte = 0; byte < arch::bytes_of(type); ++byte)
        raw |= uint32_t{buffer.at(at + byte)} << 8 * byte;
    switch (type) {
        case VectorType::kInt8:
            return wrapped(int64_t{static_cast<int8_t>(raw)} - zero);
        case VectorType::kInt32:
            return raw;
        case VectorType::kBf16:
            return bits(value(raw << 16));
        default:
            return bits(value(raw));
    }
}

uint16_t to_bf16(uint32_t fp32) {
    if (std::isnan(value(fp32))) return 0x7fc0;
    const uint32_t flat = bits(value(fp32)), rest = flat & 0xffff;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (flat & 0x10000) != 0);
    return static_cast<uint16_t>((flat >> 16) + (up ? 1 : 0));
}

void store_bits(Bytes& buffer, size_t at, uint32_t raw, uint32_t count) {
    for (size_t byte = 0; byte < count; ++byte)
        buffer.at(at + byte) = static_cast<uint8_t>(raw >> 8 * byte);
}

template <class Op>
void store(const Op& op, const VectorState& state, Bytes& buffer, size_t at, uint32_t r0) {
    const VectorType type = state.view(VectorOperand::kOut).type;
    uint32_t raw = r0;
    if (type == VectorType::kInt8) {
        const int64_t sum = int64_t{signed_of(r0)} + op.zero_out;
        const int64_t high = std::max(op.clamp_min, op.clamp_max);
        raw = wrapped(sum < op.clamp_min ? op.clamp_min : sum > high ? high : sum);
    }
    if (type == VectorType::kBf16) raw = to_bf16(r0);
    if (type == VectorType::kFp32) raw = bits(value(r0));
    store_bits(buffer, at, raw, arch::bytes_of(type));
}

/// The chain of one element, with b and c at `i`.
template <class Op>
void finish(const Op& op, const VectorState& state, const Bytes& before, Bytes& buffer,
            const Index& i, uint32_t a) {
    const auto read = [&](VectorOperand operand, uint32_t base, int zero) {
        return load(before, address(state, operand, base, i), state.view(operand).type, zero);
    };
    const uint32_t b = op.operands > 1 ? read(VectorOperand::kB, op.b_addr, op.zero_b) : 0;
    const uint32_t c = op.operands > 2 ? read(VectorOperand::kC, op.c_addr, op.zero_c) : 0;
    store(op, state, buffer, address(state, VectorOperand::kOut, op.out_addr, i),
          chain(state, a, b, c));
}

uint32_t reduced(const isa::Reduce& op, const std::vector<std::optional<uint32_t>>& elements,
                 bool floats) {
    bool any = false;
    uint32_t result = 0, place = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
        if (!elements[i]) continue;
        const uint32_t x = *elements[i];
        if (op.kind == 0)
            result = apply(floats ? ChainOp::kAddF : ChainOp::kAddI, result, x, 0);
        else if (!any)
            result = x, place = static_cast<uint32_t>(i);
        else if (op.kind == 2)
            result = apply(floats ? ChainOp::kMinF : ChainOp::kMinI, result, x, 0);
        else if (op.kind == 1)
            result = apply(floats ? ChainOp::kMaxF : ChainOp::kMaxI, result, x, 0);
        else if (floats ? !std::isnan(value(result)) &&
                              (std::isnan(value(x)) || value(x) > value(result))
                        : signed_of(x) > signed_of(result))
            result = x, place = static_cast<uint32_t>(i);
        any = true;
    }
    if (op.kind == 3) return place;
    if (any || op.kind == 0) return result;
    if (floats) return op.kind == 1 ? 0xff800000 : 0x7f800000;
    return op.kind == 1 ? 0x80000000 : 0x7fffffff;
}

}  // namespace

uint32_t apply(ChainOp op, uint32_t x, uint32_t y, uint32_t z) {
    const double a = value(x), b = value(y);
    const int64_t i = signed_of(x), j = signed_of(y);
    const long double wide = a;
    switch (op) {
        case ChainOp::kNop:
            return 0;
        case ChainOp::kAddI:
            return wrapped(i + j);
        case ChainOp::kSubI:
            return wrapped(i - j);
        case ChainOp::kMulI:
            return wrapped(i * j);
        case ChainOp::kMinI:
            return wrapped(std::min(i, j));
        case ChainOp::kMaxI:
            return wrapped(std::max(i, j));
        case ChainOp::kShiftLeftI:
            return wrapped(static_cast<int64_t>(uint64_t{x} << (y % 32)));
        case ChainOp::kAverageI:
            return average(i, j);
        case ChainOp::kScaleI:
            return scaled(x, y, signed_of(z));
        case ChainOp::kEqualI:
            return i == j;
        case ChainOp::kLessI:
            return i < j;
        case ChainOp::kSelect:
            return x != 0 ? y : z;
        case ChainOp::kCopy:
            return x;
        case ChainOp::kToFloat:
            return bits(static_cast<long double>(i));
        case ChainOp::kRound:
            return saturated(half_even(a));
        case ChainOp::kTruncate:
            return saturated(std::trunc(a));
        case ChainOp::kFloorF:
            return bits(std::floor(a));
        case ChainOp::kAddF:
            return bits(a + b);
        case ChainOp::kSubF:
            return bits(a - b);
        case ChainOp::kMulF:
            return bits(a * b);
        case ChainOp::kMinF:
            return extreme(x, y, false);
        case ChainOp::kMaxF:
            return extreme(x, y, true);
        case ChainOp::kEqualF:
            return a == b;
        case ChainOp::kLessF:
            return a < b;
        case ChainOp::kDivF:
            return bits(a / b);
        case ChainOp::kSqrtF:
            return bits(std::sqrt(a));
        case ChainOp::kRsqrtF:
            return bits(1 / std::sqrt(wide));
        case ChainOp::kExpF:
            return bits(std::exp(wide));
        case ChainOp::kLogF:
            return bits(std::log(wide));
        case ChainOp::kTanhF:
            return bits(std::tanh(wide));
        case ChainOp::kSigmoidF:
            return bits(1 / (1 + std::exp(-wide)));
        case ChainOp::kErfF:
            return bits(std::erf(wide));
    }
    return 0;
}

uint32_t chain(const VectorState& state, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t sources[16] = {a, b, c, 0};
    std::copy(state.constants.begin(), state.constants.end(), sources + 4);
    for (const arch::ChainStep& step : state.chain) {
        if (step.op == ChainOp::kNop) break;
        sources[step.dst] = apply(step.op, sources[step.x], sources[step.y], sources[step.z]);
    }
    return sources[0];
}

void map(const isa::Map& op, const VectorState& state, Bytes& buffer) {
    const Bytes before = buffer;
    const VectorType type = state.view(VectorOperand::kA).type;
    for_each(state.shape, [&](const Index& i) {
        const auto at = tapped(state, op.a_addr, i, op.taps != 0);
        const uint32_t a = at ? load(before, *at, type, op.zero_a) : state.taps.fill;
        finish(op, state, before, buffer, i, a);
    });
}

void reduce(const isa::Reduce& op, const VectorState& state, Bytes& buffer) {
    const Bytes before = buffer;
    const VectorType type = state.view(VectorOperand::kA).type;
    std::array<uint32_t, 6> kept = state.shape, inner = state.shape;
    for (size_t axis = 0; axis < 6; ++axis) ((op.axes >> axis & 1) != 0 ? kept : inner)[axis] = 1;
    for_each(kept, [&](const Index& i) {
        std::vector<std::optional<uint32_t>> elements;
        for_each(inner, [&](const Index& k) {
            Index sum{};
            for (size_t axis = 0; axis < 6; ++axis) sum[axis] = i[axis] + k[axis];
            const auto at = tapped(state, op.a_addr, sum, op.taps != 0);
            elements.push_back(at ? std::optional(load(before, *at, type, op.zero_a))
                                  : std::nullopt);
        });
        finish(op, state, before, buffer, i, reduced(op, elements, arch::is_float(type)));
    });
}

void lookup(const isa::Lookup& op, const VectorState& state, Bytes& buffer) {
    const Bytes before = buffer;
    const uint32_t bytes = arch::bytes_of(state.view(VectorOperand::kOut).type);
    for_each(state.shape, [&](const Index& i) {
        const auto x =
            static_cast<int8_t>(before.at(address(state, VectorOperand::kA, op.a_addr, i)));
        const size_t entry = op.table_addr + static_cast<size_t>(x + 128) * bytes;
        const size_t out = address(state, VectorOperand::kOut, op.out_addr, i);
        for (size_t byte = 0; byte < bytes; ++byte) buffer.at(out + byte) = before.at(entry + byte);
    });
}

bool move(const isa::Move& op, const VectorState& state, Bytes& buffer) {
    const Bytes before = buffer;
    const uint32_t bytes = arch::bytes_of(state.view(VectorOperand::kOut).type);
    bool inside = true;
    for_each(state.shape, [&](const Index& i) {
        Index from = i;
        if (op.gather != 0) {
            from[0] = signed_of(
                load(before, op.index_addr + static_cast<size_t>(i[0]) * 4, VectorType::kInt32, 0));
            inside = inside && from[0] >= 0 && from[0] < op.rows;
            if (!inside) return;
        }
        const auto at = tapped(state, op.a_addr, from, op.taps != 0);
        const size_t out = address(state, VectorOperand::kOut, op.out_addr, i);
        for (size_t byte = 0; byte < bytes; ++byte)
            buffer.at(out + byte) =
                at ? before.at(*at + byte) : static_cast<uint8_t>(state.taps.fill >> 8 * byte);
    });
    return inside;
}

}  // namespace tandem::testbench::plain_vector
