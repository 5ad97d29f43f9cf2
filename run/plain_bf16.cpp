// SPDX-License-Identifier: Apache-2.0
// fp32 with tiny numbers flushed is the host's, asked for in MXCSR: then each product and each sum
// is the array's.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "arch/bf16.h"
#include "run/plain_flush.h"
#include "run/plain_gather.h"
#include "run/plain_products.h"

namespace tandem::run {
namespace {

constexpr size_t kColumns = 64;  ///< of the product that are worked on together

float element(const std::vector<uint8_t>& bytes, size_t at) {
    const uint32_t word = bytes[2 * at] | uint32_t{bytes[2 * at + 1]} << 8;
    return std::bit_cast<float>(word << 16);
}

/// Sums of a weight tile for one row; `w` has kColumns per row of the tile.
struct Tile {
    size_t rows = 0;  ///< that the product fills
    size_t cols = 0;
    bool full = true;  ///< else rows of zeros follow
    std::vector<float> w;
};

void add_one_by_one(const Tile& tile, const float* a, float* sums) {
    for (size_t k = 0; k < tile.rows; ++k) {
        const float* w = tile.w.data() + k * kColumns;
        for (size_t c = 0; c < tile.cols; ++c) sums[c] += a[k] * w[c];
    }
}

/// What double cannot hold of a sum, which is exactly known, goes to `lost`.
double sum_of(double a, double b, double& lost) {
    const double sum = a + b, of_b = sum - a;
    lost += std::fabs(a - (sum - of_b)) + std::fabs(b - of_b);
    return sum;
}

/// Four products, each in fp32, summed exactly and rounded once: in double where that holds the
/// sum, which it hardly ever does not.
void add_by_fours(const Tile& tile, const float* a, float* sums) {
    double groups[kColumns], losses[kColumns];
    for (size_t k = 0; k < tile.rows; k += 4) {
        const float* w = tile.w.data() + k * kColumns;
        for (size_t c = 0; c < tile.cols; ++c) {
            double lost = 0;
            const double low = sum_of(static_cast<double>(a[k] * w[c]),
                                      static_cast<double>(a[k + 1] * w[kColumns + c]), lost);
            const double high = sum_of(static_cast<double>(a[k + 2] * w[2 * kColumns + c]),
                                       static_cast<double>(a[k + 3] * w[3 * kColumns + c]), lost);
            groups[c] = sum_of(low, high, lost);
            losses[c] = lost;
        }
        for (size_t c = 0; c < tile.cols; ++c) {
            if (losses[c] != 0) {  // or a NaN
                std::array<uint32_t, 4> products;
                for (size_t i = 0; i < 4; ++i)
                    products[i] = std::bit_cast<uint32_t>(a[k + i] * w[i * kColumns + c]);
                sums[c] += std::bit_cast<float>(bf16::sum4(products));
            } else {
                sums[c] += static_cast<float>(groups[c]);
            }
        }
    }
}

class Bf16Product {
  public:
    Bf16Product(const PlainProduct& product, const std::vector<uint8_t>& image,
                const std::vector<uint8_t>& weights, size_t array_rows, bool sum4)
        : p_(product), weights_(weights), array_rows_(array_rows), sum4_(sum4) {
        values_.resize(image.size() / 2);
        for (size_t i = 0; i < values_.size(); ++i) values_[i] = element(image, i);
        result_.resize(p_.window.rows() * p_.out_channels());
    }

    std::vector<float> run(const PlainStep& step) {
        const TinyNumbersAreZero modes;
        const size_t rows = p_.window.rows(), at_once = plain_rows_at_once(p_.k() * 4);
        for (size_t first = 0; first < rows; first += at_once) {
            first_ = first;
            count_ = std::min(at_once, rows - first);
            for (size_t group = 0; group < p_.groups; ++group) {
                plain_gather(p_, values_, group, first_, count_, a_);
                for (size_t column = 0; column < p_.n; column += kColumns) {
                    const size_t cols = std::min(kColumns, p_.n - column);
                    columns(group * p_.n + column, cols);
                    step(count_ * p_.k() * cols);
                }
            }
        }
        return std::move(result_);
    }

  private:
    /// Rows with those that fill the last group.
    size_t fill(size_t rows) const { return sum4_ ? (rows + 3) / 4 * 4 : rows; }

    /// All rows at hand by `cols` columns: the tiles' sums one after the other.
    void columns(size_t channel, size_t cols) {
        totals_.assign(count_ * cols, 0.0f);
        for (size_t k = 0; k < p_.k(); k += array_rows_) {
            fetch_tile(channel, cols, k);
            for (size_t row = 0; row < count_; ++row) {
                float sums[kColumns] = {};
                const float* a = a_.data() + row * p_.k() + k;
                sum4_ ? by_fours(a, sums) : add_one_by_one(tile_, a, sums);
                float* total = totals_.data() + row * cols;
                for (size_t c = 0; c < cols; ++c) {
                    if (!tile_.full) sums[c] += 0.0f;  // a sum flushed to -0 becomes +0
                    total[c] = k == 0 ? sums[c] : total[c] + sums[c];
                }
            }
        }
        store(channel, cols);
    }

    /// The last group may be short; in place of what follows in the next row it has +0.
    void by_fours(const float* a, float* sums) {
        padded_.assign(a, a + tile_.rows);
        padded_.resize(fill(tile_.rows));
        add_by_fours(tile_, padded_.data(), sums);
    }

    void fetch_tile(size_t channel, size_t cols, size_t k) {
        tile_.rows = std::min(array_rows_, p_.k() - k);
        tile_.cols = cols;
        tile_.full = fill(tile_.rows) == fill(array_rows_);
        tile_.w.assign(fill(tile_.rows) * kColumns, 0.0f);
        for (size_t c = 0; c < cols; ++c)
            for (size_t row = 0; row < tile_.rows; ++row)
                tile_.w[row * kColumns + c] = element(weights_, (channel + c) * p_.k() + k + row);
    }

    void store(size_t channel, size_t cols) {
        for (size_t row = 0; row < count_; ++row)
            for (size_t c = 0; c < cols; ++c)
                result_[(first_ + row) * p_.out_channels() + channel + c] = totals_[row * cols + c];
    }

    const PlainProduct& p_;
    const std::vector<uint8_t>& weights_;
    const size_t array_rows_;
    const bool sum4_;
    std::vector<float> values_, a_, totals_, padded_, result_;
    size_t first_ = 0, count_ = 0;
    Tile tile_;
};

}  // namespace

std::vector<float> plain_bf16_product(const PlainProduct& product,
                                      const std::vector<uint8_t>& image,
                                      const std::vector<uint8_t>& weights, const PlainArray& array,
                                      const PlainStep& step) {
    return Bf16Product(product, image, weights, array.rows, array.sum4).run(step);
}

}  // namespace tandem::run
