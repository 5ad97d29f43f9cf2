// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/naive_chain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "testbench/support/naive_bf16.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testbench {

namespace {

using isa::ChainOp;

constexpr uint32_t kSign = 0x80000000;

int64_t whole(uint32_t bits) { return static_cast<int32_t>(bits); }
uint32_t wrapped(int64_t value) { return static_cast<uint32_t>(static_cast<uint64_t>(value)); }

/// What an operand counts as.
double real(uint32_t bits) { return naive_bf16::flushed(naive_bf16::value(bits)); }

/// Rounded once to fp32; tiny results, judged before, become zero of their sign.
uint32_t rounded(long double value) {
    if (std::isnan(value)) return naive_bf16::kNan;
    if (std::fabs(value) < 0x1p-126L) return std::signbit(value) ? kSign : 0;
    return std::bit_cast<uint32_t>(static_cast<float>(value));
}

/// To int32, which `value` saturates at.
uint32_t saturated(double value) {
    if (std::isnan(value)) return 0;
    return wrapped(static_cast<int64_t>(std::clamp(value, -2147483648.0, 2147483647.0)));
}

uint32_t average(int64_t x, int64_t y) {
    if (y < 1) return 0;
    const int64_t magnitude = (2 * std::abs(x) + y) / (2 * y);
    return wrapped(x < 0 ? -magnitude : magnitude);
}

/// The smaller of two that are no NaN; -0 in front of +0.
uint32_t smaller(uint32_t x, uint32_t y) {
    const double a = real(x), b = real(y);
    if (a == b) return rounded(std::signbit(a) ? a : b);
    return rounded(a < b ? a : b);
}

uint32_t smaller_or_nan(uint32_t x, uint32_t y) {
    return std::isnan(real(x)) || std::isnan(real(y)) ? naive_bf16::kNan : smaller(x, y);
}

uint32_t larger_or_nan(uint32_t x, uint32_t y) {
    const uint32_t mirrored = smaller_or_nan(x ^ kSign, y ^ kSign);
    return mirrored == naive_bf16::kNan ? mirrored : mirrored ^ kSign;
}

uint32_t whole_op(ChainOp op, uint32_t bits_x, uint32_t bits_y, uint32_t bits_z) {
    const int64_t x = whole(bits_x), y = whole(bits_y);
    switch (op) {
        case ChainOp::kAddI:
            return wrapped(x + y);
        case ChainOp::kSubI:
            return wrapped(x - y);
        case ChainOp::kMulI:
            return wrapped(x * y);
        case ChainOp::kMinI:
            return wrapped(std::min(x, y));
        case ChainOp::kMaxI:
            return wrapped(std::max(x, y));
        case ChainOp::kShiftLeftI:
            return wrapped(x * (int64_t{1} << (bits_y % 32)));
        case ChainOp::kAverageI:
            return average(x, y);
        case ChainOp::kScaleI:
            return wrapped(naive_two_roundings(static_cast<int32_t>(bits_x),
                                               static_cast<int32_t>(bits_y),
                                               static_cast<int32_t>(bits_z)));
        case ChainOp::kEqualI:
            return x == y ? 1 : 0;
        case ChainOp::kLessI:
            return x < y ? 1 : 0;
        case ChainOp::kSelect:
            return bits_x != 0 ? bits_y : bits_z;
        case ChainOp::kCopy:
            return bits_x;
        case ChainOp::kToFloat:
            return rounded(x);
        default:
            throw std::runtime_error("a chain operation that there is not");
    }
}

/// Those that the C library has; it knows more bits than fp32 keeps.
uint32_t function(ChainOp op, long double x, long double y) {
    switch (op) {
        case ChainOp::kDivF:
            return rounded(x / y);
        case ChainOp::kSqrtF:
            return rounded(std::sqrt(x));
        case ChainOp::kRsqrtF:
            return rounded(1 / std::sqrt(x));
        case ChainOp::kExpF:
            return rounded(std::exp(x));
        case ChainOp::kLogF:
            return rounded(std::log(x));
        case ChainOp::kTanhF:
            return rounded(std::tanh(x));
        case ChainOp::kSigmoidF:
            return rounded(1 / (1 + std::exp(-x)));
        case ChainOp::kErfF:
            return rounded(std::erf(x));
        default:
            throw std::runtime_error("a chain operation that there is not");
    }
}

}  // namespace

uint32_t naive_plain_float(uint32_t fp32) { return rounded(naive_bf16::value(fp32)); }

uint32_t naive_chain_op(ChainOp op, uint32_t x, uint32_t y, uint32_t z) {
    if (op <= ChainOp::kToFloat) return whole_op(op, x, y, z);
    switch (op) {
        case ChainOp::kRound:
            return wrapped(naive_nearest_even(real(x)));
        case ChainOp::kTruncate:
            return saturated(real(x));
        case ChainOp::kFloorF:
            return rounded(std::floor(real(x)));
        case ChainOp::kAddF:
            return naive_bf16::sum(x, y);
        case ChainOp::kSubF:
            return naive_bf16::sum(x, y ^ kSign);
        case ChainOp::kMulF:
            return rounded(real(x) * real(y));  // 48 bits: exact in double
        case ChainOp::kMinF:
            return smaller_or_nan(x, y);
        case ChainOp::kMaxF:
            return larger_or_nan(x, y);
        case ChainOp::kEqualF:
            return real(x) == real(y) ? 1 : 0;
        case ChainOp::kLessF:
            return real(x) < real(y) ? 1 : 0;
        default:
            return function(op, real(x), real(y));
    }
}

uint32_t naive_chain(const std::array<NaiveStep, 12>& steps,
                     const std::array<uint32_t, 12>& constants, uint32_t a, uint32_t b,
                     uint32_t c) {
    std::vector<uint32_t> sources = {a, b, c, 0};
    sources.insert(sources.end(), constants.begin(), constants.end());
    for (const NaiveStep& step : steps) {
        if (step.op == ChainOp::kNop) break;
        sources[step.dst] =
            naive_chain_op(step.op, sources.at(step.x), sources.at(step.y), sources.at(step.z));
    }
    return sources[0];
}

}  // namespace tandem::testbench
