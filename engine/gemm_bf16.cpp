// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm_bf16.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <functional>

#include "arch/bf16.h"

#if TANDEM_X86
#include <immintrin.h>
#endif

namespace tandem::engine {
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
constexpr uint16_t kNoLow = 0xffff, kNoHigh = 0;  // of a range without numbers

constexpr uint32_t kWidest = 32;  // panel
/// So many packed rows and a packed tile fit a cache of the second level.
constexpr uint32_t kRowsAtOnce = 192;

uint32_t depth_of(uint32_t k_len, bool sum4) { return sum4 ? (k_len + 3) / 4 * 4 : k_len; }

uint32_t panels(const Bf16Product& p, uint32_t width) { return (p.cols + width - 1) / width; }

uint32_t panel_width(Bf16Kernel kernel, uint32_t cols) {
    return kernel == Bf16Kernel::kAvx512 && cols > 16 ? kWidest : 16;
}

// Packing counts beside the product, so that it is compiled once for each instruction set. Plain
// loops in a form that the compiler makes vectors of.

template <class Element>
[[gnu::always_inline]] inline void unpack(const uint16_t* from, uint32_t count, Element* to) {
    for (uint32_t i = 0; i < count; ++i) {
        // As bf16::widen does.
        const uint32_t mask = (from[i] & 0x7f80) != 0 ? 0xffffffff : 0x80000000;
        to[i] = std::bit_cast<float>(uint32_t{from[i]} << 16 & mask);
    }
}

/// Widens a range by an element. Zero, infinity and NaN stay out of it, for their products are
/// exact in any arithmetic: less one a zero's exponent is the largest number, and plus one, of
/// eight bits, that of infinity and NaN is the smallest.
[[gnu::always_inline]] inline void include(uint16_t element, uint16_t& low_less_one,
                                           uint16_t& high_plus_one) {
    const auto exponent = static_cast<uint16_t>(element >> 7 & 0xff);
    low_less_one = std::min(low_less_one, static_cast<uint16_t>(exponent - 1));
    high_plus_one = std::max(high_plus_one, static_cast<uint16_t>((exponent + 1) & 0xff));
}

/// The range of each column of the rows.
struct FindRowRange {
    const Bf16Product& p;
    uint16_t *low, *high;

    [[gnu::always_inline]] inline void operator()() const {
        uint32_t m = 0;
        for (; m + 4 <= p.row_count; m += 4) four_rows(p.rows + uint64_t{m} * p.row_stride);
        for (; m < p.row_count; ++m) {
            const uint16_t* row = p.rows + uint64_t{m} * p.row_stride;
            for (uint32_t k = 0; k < p.k_len; ++k) include(row[k], low[k], high[k]);
        }
    }
    [[gnu::always_inline]] inline void four_rows(const uint16_t* row) const {
        const uint64_t stride = p.row_stride;
        for (uint32_t k = 0; k < p.k_len; ++k) {
            uint16_t least = low[k], most = high[k];
            include(row[k], least, most);
            include(row[stride + k], least, most);
            include(row[2 * stride + k], least, most);
            include(row[3 * stride + k], least, most);
            low[k] = least;
            high[k] = most;
        }
    }
};

template <class Element>
struct PackRows {
    const Bf16Product& p;
    uint32_t depth;
    Element* to;

    [[gnu::always_inline]] inline void operator()() const {
        for (uint32_t m = 0; m < p.row_count; ++m) {
            Element* row = to + uint64_t{m} * depth;
            unpack(p.rows + uint64_t{m} * p.row_stride, p.k_len, row);
            std::fill(row + p.k_len, row + depth, Element{0});
        }
    }
};

template <class Element>
struct PackTile {
    const Bf16Product& p;
    uint32_t depth, width;
    Element* to;
    uint16_t *low, *high;

    [[gnu::always_inline]] inline void operator()() const {
        for (uint32_t k = 0; k < depth; ++k) range(k);
        for (uint32_t c = 0; c < p.cols; c += width) {
            Element* panel = to + uint64_t{c} * depth;
            for (uint32_t k = 0; k < p.k_len; ++k)
                row(p.tile + uint64_t{k} * p.cols + c, std::min(width, p.cols - c),
                    panel + uint64_t{k} * width);
            std::fill(panel + uint64_t{p.k_len} * width, panel + uint64_t{depth} * width,
                      Element{0});
        }
    }
    [[gnu::always_inline]] inline void range(uint32_t k) const {
        uint16_t least = kNoLow, most = kNoHigh;
        const uint16_t* from = p.tile + uint64_t{k} * p.cols;
        for (uint32_t c = 0; k < p.k_len && c < p.cols; ++c) include(from[c], least, most);
        low[k] = least;
        high[k] = most;
    }
    /// Most are whole; with a constant width they become a few instructions.
    [[gnu::always_inline]] inline void row(const uint16_t* from, uint32_t count,
                                           Element* panel_row) const {
        if (count == kWidest) return unpack(from, kWidest, panel_row);
        unpack(from, count, panel_row);
        std::fill(panel_row + count, panel_row + width, Element{0});
    }
};

template <class Work>
void do_plain(const Work& work) {
    work();
}

#if TANDEM_X86
template <class Work>
[[gnu::target("avx2")]] void do_avx2(const Work& work) {
    work();
}

template <class Work>
[[gnu::target("avx512f,avx512bw,avx512vl")]] void do_avx512(const Work& work) {
    work();
}
#endif

template <class Work>
void do_for(Bf16Kernel kernel, const Work& work) {
#if TANDEM_X86
    if (kernel == Bf16Kernel::kAvx512 && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return do_avx512(work);
    if (kernel != Bf16Kernel::kPlain) return do_avx2(work);
#endif
    static_cast<void>(kernel);
    do_plain(work);
}

void find_row_range(const Bf16Product& p, uint32_t depth, Bf16Kernel kernel,
                    Bf16Scratch::Range& range) {
    range.low.assign(depth, kNoLow);
    range.high.assign(depth, kNoHigh);
    do_for(kernel, FindRowRange{p, range.low.data(), range.high.data()});
}

template <class Element>
void pack_rows(const Bf16Product& p, uint32_t depth, Bf16Kernel kernel,
               std::vector<Element>& packed) {
    packed.resize(uint64_t{p.row_count} * depth);
    do_for(kernel, PackRows<Element>{p, depth, packed.data()});
}

template <class Element>
void pack_tile(const Bf16Product& p, uint32_t depth, uint32_t width, Bf16Kernel kernel,
               std::vector<Element>& packed, Bf16Scratch::Range& range) {
    packed.resize(uint64_t{depth} * panels(p, width) * width);
    range.low.resize(depth);
    range.high.resize(depth);
    do_for(kernel,
           PackTile<Element>{p, depth, width, packed.data(), range.low.data(), range.high.data()});
}

/// The least and the greatest sum of exponents of factors in row k of the array.
int least_product(const Bf16Scratch& s, uint32_t k) {
    return s.row_range.low[k] + 1 + s.tile_range.low[k] + 1;
}
int greatest_product(const Bf16Scratch& s, uint32_t k) {
    return s.row_range.high[k] - 1 + s.tile_range.high[k] - 1;
}

/// No product overflows or is tiny, in rows `first` to `last` - 1 of the array.
bool products_are_normal(const Bf16Scratch& s, uint32_t first, uint32_t last) {
    for (uint32_t k = first; k < last; ++k)
        if (least_product(s, k) < kLeastNormal || greatest_product(s, k) > kGreatestFinite)
            return false;
    return true;
}

bool group_is_exact_in_double(const Bf16Scratch& s, uint32_t first) {
    int low = kNoLow, high = 0;
    for (uint32_t k = first; k < first + 4; ++k) {
        low = std::min(low, least_product(s, k));
        high = std::max(high, greatest_product(s, k));
    }
    return products_are_normal(s, first, first + 4) && high - low <= kSpreadInDouble;
}

/// The way of the column sums, `stride` apart, into the accumulators. A function of its own, for
/// the compiler may move arithmetic across a change of modes, but not across a call.
template <class Add>
[[gnu::noinline]] void finish(const float* column_sums, uint32_t stride, uint32_t row_count,
                              const Bf16Accumulators& f, Add add) {
    const uint32_t cols = f.cols;
    const bool add_zero = f.add_zero, accumulate = f.accumulate;
    for (uint32_t m = 0; m < row_count; ++m) {
        const float* from = column_sums + uint64_t{m} * stride;
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

void GemmBf16::sum_in_order(const Bf16Product& p, uint32_t width, const Bf16Accumulators& to) {
    Bf16Scratch& s = scratch_;
#if TANDEM_X86
    find_row_range(p, p.k_len, kernel_, s.row_range);
    const bool fused = products_are_normal(s, 0, p.k_len);
    if (kernel_ == Bf16Kernel::kAvx512)
        return ordered_avx512(
            {p.rows, s.tile.data(), p.row_stride, p.row_count, p.k_len, panels(p, width), width},
            to, fused);
#endif
    pack_rows(p, p.k_len, kernel_, s.rows);
    const Bf16Ordered operands{s.rows.data(), s.tile.data(),    s.sums.data(), p.row_count,
                               p.k_len,       panels(p, width), width};
#if TANDEM_X86
    if (kernel_ == Bf16Kernel::kAvx2)
        ordered_avx2(operands, fused);
    else
#endif
        ordered_plain(operands);
    finish_all(p, width, to);
}

void GemmBf16::sum_in_groups(const Bf16Product& p, uint32_t width, const Bf16Accumulators& to) {
    Bf16Scratch& s = scratch_;
    const uint32_t depth = depth_of(p.k_len, true);
    find_row_range(p, depth, kernel_, s.row_range);
    pack_rows(p, depth, kernel_, s.wide_rows);
    s.exact.resize(depth / 4);
    for (uint32_t group = 0; group < depth / 4; ++group)
        s.exact[group] = group_is_exact_in_double(s, 4 * group) ? 1 : 0;
    const Bf16Grouped operands{{s.wide_rows.data(), s.wide_tile.data(), s.sums.data(), p.row_count,
                                depth, panels(p, width), width},
                               s.exact.data()};
#if TANDEM_X86
    if (kernel_ == Bf16Kernel::kAvx512)
        grouped_avx512(operands);
    else if (kernel_ == Bf16Kernel::kAvx2)
        grouped_avx2(operands);
    else
#endif
        grouped_plain(operands);
    finish_all(p, width, to);
}

void GemmBf16::finish_all(const Bf16Product& p, uint32_t width, const Bf16Accumulators& to) {
    const float* sums = scratch_.sums.data();
    const uint32_t stride = panels(p, width) * width;
    kernel_ == Bf16Kernel::kPlain ? finish(sums, stride, p.row_count, to, add_in_integers)
                                  : finish(sums, stride, p.row_count, to, std::plus<float>());
}

void GemmBf16::load_tile(const Bf16Product& p, uint32_t width, bool sum4, uint64_t tile_id) {
    const Packed wanted{tile_id, p.k_len, p.cols, sum4};
    if (tile_id != 0 && wanted == packed_) return;
    packed_ = wanted;
    const uint32_t depth = depth_of(p.k_len, sum4);
    sum4 ? pack_tile(p, depth, width, kernel_, scratch_.wide_tile, scratch_.tile_range)
         : pack_tile(p, depth, width, kernel_, scratch_.tile, scratch_.tile_range);
}

void GemmBf16::multiply(const uint16_t* rows, uint32_t row_count, uint32_t row_stride,
                        const uint16_t* tile, uint32_t k_len, uint32_t array_rows, uint32_t cols,
                        bool accumulate, int32_t* sums, bool sum4, uint64_t tile_id) {
    Bf16Product p{rows, row_count, row_stride, tile, k_len, cols};
    const uint32_t width = panel_width(kernel_, cols);
    // Rows that carry zeros add +0, which changes a sum that was flushed to -0, once.
    const uint32_t step = sum4 ? 4 : 1;
    const bool add_zero = (k_len + step - 1) / step < (array_rows + step - 1) / step;
    Bf16Accumulators to{sums, cols, add_zero, accumulate};
    scratch_.sums.resize(uint64_t{std::min(row_count, kRowsAtOnce)} * panels(p, width) * width);
    const FloatingPointModes modes(kernel_ != Bf16Kernel::kPlain);
    load_tile(p, width, sum4, tile_id);
    for (uint32_t m = 0; m < row_count; m += kRowsAtOnce) {
        p.rows = rows + uint64_t{m} * row_stride;
        p.row_count = std::min(kRowsAtOnce, row_count - m);
        to.sums = sums + uint64_t{m} * cols;
        sum4 ? sum_in_groups(p, width, to) : sum_in_order(p, width, to);
    }
}

}  // namespace tandem::engine
