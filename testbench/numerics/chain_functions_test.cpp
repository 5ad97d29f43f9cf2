// SPDX-License-Identifier: Apache-2.0
// Transcendental steps of chains against MPFR's correctly rounded results: random bits over all
// exponents, special values, and the neighbourhood of every place where the definition changes.
// More with TANDEM_CHAIN_OPERANDS=COUNT (default 200000 for each function).
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "engine/vector_chain.h"
#include "testbench/numerics/operands.h"

namespace tandem::testbench {
namespace {

using isa::ChainOp;

constexpr uint32_t kSign = 0x80000000;

struct Function {
    const char* name;
    ChainOp op;
    std::function<int(mpfr_t, mpfr_t)> judge;  ///< rounds to nearest
    /// Where branches of the definition meet, results leave the range, or end on 1.
    std::vector<float> borders;
};

/// 1 / (1 + e^-x), in enough bits to be right after one more rounding.
int sigmoid(mpfr_t result, mpfr_t x) {
    mpfr_t wide;
    mpfr_init2(wide, 400);
    mpfr_neg(wide, x, MPFR_RNDN);
    mpfr_exp(wide, wide, MPFR_RNDN);
    mpfr_add_ui(wide, wide, 1, MPFR_RNDN);
    mpfr_ui_div(wide, 1, wide, MPFR_RNDN);
    const int inexact = mpfr_set(result, wide, MPFR_RNDN);
    mpfr_clear(wide);
    return inexact;
}

/// MPFR calls 1 / sqrt(-0) +infinity.
int rsqrt(mpfr_t result, mpfr_t x) {
    const int inexact = mpfr_rec_sqrt(result, x, MPFR_RNDN);
    if (mpfr_zero_p(x)) mpfr_setsign(result, result, mpfr_signbit(x), MPFR_RNDN);
    return inexact;
}

const std::vector<Function>& functions() {
    static const std::vector<Function> list = {
        {"exp_f",
         ChainOp::kExpF,
         [](mpfr_t r, mpfr_t x) { return mpfr_exp(r, x, MPFR_RNDN); },
         {-87.336548f, 88.722839f, 110.0f, -110.0f, 0.34657359f, 1.0397208f, 0x1p-23f, 0x1p-24f,
          0x1p-25f}},
        {"log_f",
         ChainOp::kLogF,
         [](mpfr_t r, mpfr_t x) { return mpfr_log(r, x, MPFR_RNDN); },
         {1.0f, 0.70710678f, 1.4142135f, 2.0f, 0.5f, 2.8284271f, 0.35355339f}},
        {"tanh_f",
         ChainOp::kTanhF,
         [](mpfr_t r, mpfr_t x) { return mpfr_tanh(r, x, MPFR_RNDN); },
         {0.75f, 9.0109135f, 20.0f, 0x1p-12f, 8.6643398f}},
        {"sigmoid_f",
         ChainOp::kSigmoidF,
         sigmoid,
         {1.0f, 17.328679f, 87.336548f, 88.722839f, 110.0f, 0x1p-23f, 0x1p-24f, 0x1p-22f, 0x1p-20f,
          0x1p-16f, 0x1p-12f}},
        {"erf_f",
         ChainOp::kErfF,
         [](mpfr_t r, mpfr_t x) { return mpfr_erf(r, x, MPFR_RNDN); },
         {1.0f, 2.5f, 4.0f, 3.8325069f, 3.919206f}},
        {"rsqrt_f", ChainOp::kRsqrtF, rsqrt, {1.0f, 4.0f, 2.0f, 0.25f}},
        {"sqrt_f",
         ChainOp::kSqrtF,
         [](mpfr_t r, mpfr_t x) { return mpfr_sqrt(r, x, MPFR_RNDN); },
         {1.0f, 4.0f, 2.0f}},
    };
    return list;
}

/// Exactly the fp32, subnormals as zeros of their sign; rounds what comes back with MPFR's exponent
/// range, in 24 bits.
class Judge {
  public:
    Judge() { mpfr_inits2(24, x_, result_, nullptr); }
    ~Judge() { mpfr_clears(x_, result_, nullptr); }
    Judge(const Judge&) = delete;
    Judge& operator=(const Judge&) = delete;

    uint32_t operator()(const Function& function, uint32_t bits) {
        const double value = std::bit_cast<float>(bits);
        mpfr_set_d(x_, std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value, MPFR_RNDN);
        function.judge(result_, x_);
        if (mpfr_nan_p(result_)) return 0x7fc00000;
        const uint32_t sign = mpfr_signbit(result_) ? kSign : 0;
        if (mpfr_zero_p(result_)) return sign;
        if (mpfr_inf_p(result_) || mpfr_get_exp(result_) > 128) return sign | 0x7f800000;
        if (mpfr_get_exp(result_) < -125) return sign;
        return std::bit_cast<uint32_t>(static_cast<float>(mpfr_get_d(result_, MPFR_RNDN)));
    }

  private:
    mpfr_t x_, result_;
};

std::vector<uint32_t> operands(const Function& function, uint64_t count) {
    std::vector<uint32_t> list = {0,          kSign,      1,          0x807fffff, 0x00800000,
                                  0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                  0x7fc00000, 0x7f800001, 0xffffffff};
    constexpr uint32_t kNear = 1000;
    for (const float border : function.borders)
        for (uint32_t i = 0; i < 2 * kNear; ++i)
            for (const uint32_t sign : {0u, kSign})
                list.push_back((std::bit_cast<uint32_t>(std::fabs(border)) + i - kNear) | sign);
    // Few bits: results next to the middle of two fp32.
    for (uint32_t exponent = 90; exponent < 135; ++exponent)
        for (uint32_t fraction = 0; fraction < 256; ++fraction)
            for (const uint32_t sign : {0u, kSign})
                list.push_back(sign | exponent << 23 | fraction << 15);
    SplitMix random(static_cast<uint64_t>(function.op));
    while (list.size() < count) {
        const uint32_t bits = random.bits(32);
        list.push_back(bits);
        // Where functions are neither 0 nor 1 nor infinite.
        list.push_back((bits & 0x807fffff) | static_cast<uint32_t>(random.between(100, 134)) << 23);
    }
    return list;
}

class ChainFunction : public testing::TestWithParam<size_t> {};

TEST_P(ChainFunction, IsCorrectlyRounded) {
    const Function& function = functions()[GetParam()];
    const char* more = std::getenv("TANDEM_CHAIN_OPERANDS");
    const auto list =
        operands(function, more != nullptr ? std::strtoull(more, nullptr, 10) : 200000);
    Judge judge;
    std::vector<uint32_t> expected;
    for (const uint32_t bits : list) expected.push_back(judge(function, bits));
    for (const auto kernel : {engine::VectorKernel::kPlain, engine::VectorKernel::kAvx2,
                              engine::VectorKernel::kAvx512}) {
        if (kernel > engine::best_vector_kernel()) continue;
        uint64_t wrong = 0;
        engine::Lane found;
        for (size_t first = 0; first < list.size(); first += engine::kBlock) {
            const size_t count = std::min(engine::kBlock, list.size() - first);
            engine::apply(function.op, found.data(), list.data() + first, nullptr, nullptr, count,
                          kernel);
            for (size_t i = 0; i < count; ++i) {
                if (found[i] == expected[first + i]) continue;
                if (++wrong <= 10)
                    ADD_FAILURE() << function.name << std::hex << " of " << list[first + i]
                                  << ": expected " << expected[first + i] << ", found " << found[i]
                                  << ", kernel " << static_cast<int>(kernel);
            }
        }
        EXPECT_EQ(wrong, 0u) << "of " << list.size();
    }
}

INSTANTIATE_TEST_SUITE_P(All, ChainFunction, testing::Range<size_t>(0, 7), [](const auto& info) {
    return std::string(functions()[info.param].name);
});

}  // namespace
}  // namespace tandem::testbench
