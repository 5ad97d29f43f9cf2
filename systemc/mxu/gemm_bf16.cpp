// SPDX-License-Identifier: Apache-2.0
#include "systemc/mxu/gemm_bf16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <functional>

#include "arch/bf16.h"

#if TANDEM_X86
#include <immintrin.h>
#endif

namespace tandem::mxu {
namespace {

/// The floating-point modes that a kernel needs, for as long as this lives: to nearest even, no
/// traps; with `flush` tiny operands and results are zero.
class FloatingPointModes {
  public:
#if TANDEM_X86
    explicit FloatingPointModes(bool flush) : saved_(_mm_getcsr()) {
        constexpr unsigned kMaskAll = 0x1f80, kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
        _mm_setcsr(kMaskAll | (flush ? kFlushToZero | kDenormalsAreZero : 0));
    }
    ~FloatingPointModes() { _mm_setcsr(saved_); }
#else
    explicit FloatingPointModes(bool) {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatingPointModes() { std::fesetenv(&saved_); }
#endif
    FloatingPointModes(const FloatingPointModes&) = delete;
    FloatingPointModes& operator=(const FloatingPointModes&) = delete;

  private:
#if TANDEM_X86
    unsigned saved_;
#else
    std::fenv_t saved_;
#endif
};

// Exponents as they stand in a bf16. Of two factors a and b the product is below 2^(a + b - 252)
// and not below 2^(a + b - 254).
constexpr int kLeastNormal = 254 - 126, kGreatestFinite = 252 + 128;
/// Four products of 16 bits, their exponents this far apart at most, sum up to 53 bits.
constexpr int kSpreadInDouble = 53 - 18;
constexpr int16_t kNone = 255;  // the exponent that no finite number has

constexpr uint32_t kWidest = 32;  // panel

uint32_t panels(const Bf16Product& p, uint32_t width) { return (p.cols + width - 1) / width; }

uint32_t panel_width(Bf16Kernel kernel, uint32_t cols) {
    return kernel == Bf16Kernel::kAvx512 && cols > 16 ? kWidest : 16;
}

template <class Element>
void unpack(const uint16_t* from, uint32_t count, Element* to) {
    for (uint32_t i = 0; i < count; ++i) {
        // As bf16::widen does, in a form that the compiler makes vectors of.
        const uint32_t mask = (from[i] & 0x7f80) != 0 ? 0xffffffff : 0x80000000;
        to[i] = std::bit_cast<float>(uint32_t{from[i]} << 16 & mask);
    }
}

/// Widens the ranges, one per element, by these elements. Zero, infinity and NaN stay out of it:
/// their products are exact in any arithmetic.
void include(const uint16_t* elements, uint32_t count, int16_t* low, int16_t* high) {
    for (uint32_t i = 0; i < count; ++i) {
        const auto exponent = static_cast<int16_t>(elements[i] >> 7 & 0xff);
        low[i] = std::min(low[i], exponent == 0 ? kNone : exponent);
        high[i] = std::max(high[i], exponent == kNone ? int16_t{0} : exponent);
    }
}

template <class Element>
void pack_rows(const Bf16Product& p, uint32_t depth, std::vector<Element>& packed,
               Bf16Scratch::Range& range) {
    packed.resize(uint64_t{p.row_count} * depth);
    range.low.assign(depth, kNone);
    range.high.assign(depth, 0);
    for (uint32_t m = 0; m < p.row_count; ++m) {
        const uint16_t* from = p.rows + uint64_t{m} * p.row_stride;
        Element* to = packed.data() + uint64_t{m} * depth;
        unpack(from, p.k_len, to);
        std::fill(to + p.k_len, to + depth, Element{0});
        include(from, p.k_len, range.low.data(), range.high.data());
    }
}

template <class Element>
void pack_tile(const Bf16Product& p, uint32_t depth, uint32_t width, std::vector<Element>& packed,
               Bf16Scratch::Range& range) {
    packed.resize(uint64_t{depth} * panels(p, width) * width);
    range.low.resize(depth);
    range.high.resize(depth);
    for (uint32_t k = 0; k < depth; ++k) {
        const uint16_t* from = p.tile + uint64_t{k} * p.cols;
        const uint32_t valid = k < p.k_len ? p.cols : 0;
        std::array<int16_t, kWidest> low, high = {};
        low.fill(kNone);
        for (uint32_t c = 0; c < p.cols; c += width) {
            Element* to = packed.data() + uint64_t{c} * depth + uint64_t{k} * width;
            const uint32_t count = c < valid ? std::min(width, valid - c) : 0;
            std::fill(to + count, to + width, Element{0});
            if (count == 0) continue;
            unpack(from + c, count, to);
            include(from + c, count, low.data(), high.data());
        }
        range.low[k] = *std::min_element(low.begin(), low.end());
        range.high[k] = *std::max_element(high.begin(), high.end());
    }
}

/// No product overflows or is tiny, in rows `first` to `last` - 1 of the array.
bool products_are_normal(const Bf16Scratch& s, uint32_t first, uint32_t last) {
    for (uint32_t k = first; k < last; ++k)
        if (s.row_range.low[k] + s.tile_range.low[k] < kLeastNormal ||
            s.row_range.high[k] + s.tile_range.high[k] > kGreatestFinite)
            return false;
    return true;
}

bool group_is_exact_in_double(const Bf16Scratch& s, uint32_t first) {
    int low = 2 * kNone, high = 0;
    for (uint32_t k = first; k < first + 4; ++k) {
        low = std::min(low, s.row_range.low[k] + s.tile_range.low[k]);
        high = std::max(high, s.row_range.high[k] + s.tile_range.high[k]);
    }
    return products_are_normal(s, first, first + 4) && high - low <= kSpreadInDouble;
}

struct Finish {
    const float* column_sums;  ///< `stride` apart
    uint32_t stride, row_count, cols;
    bool add_zero, accumulate;
    int32_t* sums;
};

/// The way of the column sums into the accumulators. A function of its own, for the compiler may
/// move arithmetic across a change of modes, but not across a call.
template <class Add>
[[gnu::noinline]] void finish(const Finish& f, Add add) {
    const uint32_t cols = f.cols;
    const bool add_zero = f.add_zero, accumulate = f.accumulate;
    for (uint32_t m = 0; m < f.row_count; ++m) {
        const float* from = f.column_sums + uint64_t{m} * f.stride;
        int32_t* to = f.sums + uint64_t{m} * cols;
        for (uint32_t c = 0; c < cols; ++c) {
            float sum = from[c];
            if (add_zero) sum = add(sum, 0.0f);
            if (accumulate) sum = add(std::bit_cast<float>(to[c]), sum);
            to[c] = sum != sum ? static_cast<int32_t>(bf16::kNan) : std::bit_cast<int32_t>(sum);
        }
    }
}

float add_in_integers(float a, float b) {
    return std::bit_cast<float>(bf16::sum(std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b)));
}

}  // namespace

Bf16Kernel best_bf16_kernel() {
#if TANDEM_X86
    if (__builtin_cpu_supports("avx512f")) return Bf16Kernel::kAvx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Bf16Kernel::kAvx2;
#endif
    return Bf16Kernel::kPlain;
}

std::string_view to_string(Bf16Kernel kernel) {
    switch (kernel) {
        case Bf16Kernel::kAvx512:
            return "avx512";
        case Bf16Kernel::kAvx2:
            return "avx2";
        case Bf16Kernel::kPlain:
            return "plain";
    }
    return {};
}

void GemmBf16::sum_in_order(const Bf16Product& p, uint32_t width) {
    Bf16Scratch& s = scratch_;
    pack_rows(p, p.k_len, s.rows, s.row_range);
    pack_tile(p, p.k_len, width, s.tile, s.tile_range);
    const Bf16Ordered operands{s.rows.data(), s.tile.data(),    s.sums.data(), p.row_count,
                               p.k_len,       panels(p, width), width};
#if TANDEM_X86
    const bool fused = products_are_normal(s, 0, p.k_len);
    if (kernel_ == Bf16Kernel::kAvx512) return ordered_avx512(operands, fused);
    if (kernel_ == Bf16Kernel::kAvx2) return ordered_avx2(operands, fused);
#endif
    ordered_plain(operands);
}

void GemmBf16::sum_in_groups(const Bf16Product& p, uint32_t width) {
    Bf16Scratch& s = scratch_;
    const uint32_t depth = (p.k_len + 3) / 4 * 4;
    pack_rows(p, depth, s.wide_rows, s.row_range);
    pack_tile(p, depth, width, s.wide_tile, s.tile_range);
    s.exact.resize(depth / 4);
    for (uint32_t group = 0; group < depth / 4; ++group)
        s.exact[group] = group_is_exact_in_double(s, 4 * group) ? 1 : 0;
    const Bf16Grouped operands{{s.wide_rows.data(), s.wide_tile.data(), s.sums.data(), p.row_count,
                                depth, panels(p, width), width},
                               s.exact.data()};
#if TANDEM_X86
    if (kernel_ == Bf16Kernel::kAvx512) return grouped_avx512(operands);
    if (kernel_ == Bf16Kernel::kAvx2) return grouped_avx2(operands);
#endif
    grouped_plain(operands);
}

void GemmBf16::multiply(const uint16_t* rows, uint32_t row_count, uint32_t row_stride,
                        const uint16_t* tile, uint32_t k_len, uint32_t array_rows, uint32_t cols,
                        bool accumulate, int32_t* sums, bool sum4) {
    const Bf16Product p{rows, row_count, row_stride, tile, k_len, cols};
    const bool plain = kernel_ == Bf16Kernel::kPlain;
    const uint32_t width = panel_width(kernel_, cols), stride = panels(p, width) * width;
    scratch_.sums.resize(uint64_t{row_count} * stride);
    const FloatingPointModes modes(!plain);
    sum4 ? sum_in_groups(p, width) : sum_in_order(p, width);
    // Rows that carry zeros add +0, which changes a sum that was flushed to -0, once.
    const uint32_t step = sum4 ? 4 : 1;
    const bool add_zero = (k_len + step - 1) / step < (array_rows + step - 1) / step;
    const Finish to{scratch_.sums.data(), stride, row_count, cols, add_zero, accumulate, sums};
    plain ? finish(to, add_in_integers) : finish(to, std::plus<float>());
}

}  // namespace tandem::mxu
