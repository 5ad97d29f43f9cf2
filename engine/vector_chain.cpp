// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_chain.h"

#include <algorithm>

#include "engine/chain_arithmetic.h"
#include "engine/chain_functions.h"

namespace tandem::engine {
namespace {

using arch::kFirstConstant;
using isa::ChainOp;

/// One step over a block.
struct Apply {
    ChainOp op;
    uint32_t* dst;
    const uint32_t *x, *y, *z;
    size_t count;

    template <class Body>
    [[gnu::always_inline]] inline void each(Body body) const {
        // dst is another block or the very same one.
#pragma GCC ivdep
        for (size_t i = 0; i < count; ++i) dst[i] = body(i);
    }

    template <class Function>
    [[gnu::always_inline]] inline void in_binary64(Function function) const {
        alignas(64) double wide[kBlock];
        for (size_t i = 0; i < count; ++i) wide[i] = static_cast<double>(chain::number(x[i]));
        for (size_t i = 0; i < count; ++i) wide[i] = function(wide[i]);
        for (size_t i = 0; i < count; ++i) dst[i] = chain::rounded(wide[i]);
    }

    [[gnu::always_inline]] inline void operator()() const {
        using namespace chain;
        namespace functions = chain_functions;
        const uint32_t *a = x, *b = y, *c = z;
        switch (op) {
            case ChainOp::kNop:
                return;
            case ChainOp::kAddI:
                return each([=](size_t i) { return a[i] + b[i]; });
            case ChainOp::kSubI:
                return each([=](size_t i) { return a[i] - b[i]; });
            case ChainOp::kMulI:
                return each([=](size_t i) { return a[i] * b[i]; });
            case ChainOp::kMinI:
                return each([=](size_t i) { return as_int(a[i]) < as_int(b[i]) ? a[i] : b[i]; });
            case ChainOp::kMaxI:
                return each([=](size_t i) { return as_int(a[i]) > as_int(b[i]) ? a[i] : b[i]; });
            case ChainOp::kShiftLeftI:
                return each([=](size_t i) { return a[i] << (b[i] & 31); });
            case ChainOp::kAverageI:
                return each([=](size_t i) { return average(a[i], b[i]); });
            case ChainOp::kScaleI:
                return each([=](size_t i) {
                    return as_bits(
                        numerics::multiply_by_quantized(as_int(a[i]), b[i], as_int(c[i])));
                });
            case ChainOp::kEqualI:
                return each([=](size_t i) { return a[i] == b[i] ? 1u : 0u; });
            case ChainOp::kLessI:
                return each([=](size_t i) { return as_int(a[i]) < as_int(b[i]) ? 1u : 0u; });
            case ChainOp::kSelect:
                return each([=](size_t i) { return a[i] != 0 ? b[i] : c[i]; });
            case ChainOp::kCopy:
                return each([=](size_t i) { return a[i]; });
            case ChainOp::kToFloat:
                return each([=](size_t i) {
                    return std::bit_cast<uint32_t>(static_cast<float>(as_int(a[i])));
                });
            case ChainOp::kRound:
                return each([=](size_t i) { return round(a[i]); });
            case ChainOp::kTruncate:
                return each([=](size_t i) { return to_int(number(a[i])); });
            case ChainOp::kFloorF:
                return each([=](size_t i) { return floor(a[i]); });
            case ChainOp::kAddF:
                return each([=](size_t i) { return result(number(a[i]) + number(b[i])); });
            case ChainOp::kSubF:
                return each([=](size_t i) { return result(number(a[i]) - number(b[i])); });
            case ChainOp::kMulF:
                return each([=](size_t i) { return multiply(a[i], b[i]); });
            case ChainOp::kMinF:
                return each([=](size_t i) { return min(a[i], b[i]); });
            case ChainOp::kMaxF:
                return each([=](size_t i) { return max(a[i], b[i]); });
            case ChainOp::kEqualF:
                return each([=](size_t i) { return number(a[i]) == number(b[i]) ? 1u : 0u; });
            case ChainOp::kLessF:
                return each([=](size_t i) { return number(a[i]) < number(b[i]) ? 1u : 0u; });
            case ChainOp::kDivF:
                return each([=](size_t i) { return result(number(a[i]) / number(b[i])); });
            case ChainOp::kSqrtF:
                return each([=](size_t i) { return result(std::sqrt(number(a[i]))); });
            case ChainOp::kRsqrtF:
                return in_binary64([](double v) { return functions::rsqrt(v); });
            case ChainOp::kExpF:
                return in_binary64([](double v) { return functions::exp(v); });
            case ChainOp::kLogF:
                return in_binary64([](double v) { return functions::log(v); });
            case ChainOp::kTanhF:
                return in_binary64([](double v) { return functions::tanh(v); });
            case ChainOp::kSigmoidF:
                return in_binary64([](double v) { return functions::sigmoid(v); });
            case ChainOp::kErfF:
                return in_binary64([](double v) { return functions::erf(v); });
        }
    }
};

/// Sources by operation code; looked up for each instruction.
constexpr auto kSources = [] {
    std::array<uint8_t, 256> sources{};
    for (const isa::ChainOpInfo& info : isa::kChainOps)
        sources[static_cast<size_t>(info.op)] = info.sources;
    return sources;
}();

}  // namespace

void apply(ChainOp op, uint32_t* dst, const uint32_t* x, const uint32_t* y, const uint32_t* z,
           size_t count, VectorKernel kernel) {
    run_on(kernel, Apply{op, dst, x, y, z, count});
}

Chain::Chain(const arch::VectorState& state, size_t most, VectorKernel kernel)
    : steps_(std::span(state.chain).first(state.chain_length())), kernel_(kernel) {
    reads_ = 1;
    for (const arch::ChainStep& step : steps_) {
        const std::array<uint8_t, 3> sources = {step.x, step.y, step.z};
        for (size_t i = 0; i < kSources[static_cast<size_t>(step.op)]; ++i) {
            const uint8_t source = sources[i];
            const uint32_t constant = source - uint32_t{kFirstConstant};
            if (source < kFirstConstant)
                reads_ |= 1u << source;
            else
                std::fill_n(constants_[constant].begin(), most, state.constants[constant]);
        }
    }
}

void Chain::run(std::span<Lane, arch::kVectorOperands> registers, size_t count) const {
    const auto source = [&](uint8_t number) {
        return number < kFirstConstant ? registers[number].data()
                                       : constants_[number - uint32_t{kFirstConstant}].data();
    };
    for (const arch::ChainStep& step : steps_)
        apply(step.op, registers[step.dst].data(), source(step.x), source(step.y), source(step.z),
              count, kernel_);
}

}  // namespace tandem::engine
