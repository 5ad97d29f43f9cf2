// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "run/plain_products.h"

namespace tandem::run {
namespace {

constexpr size_t kElement = 2;

/// `count` elements from `first` on out of each `of`.
std::vector<uint8_t> part_of_each(const std::vector<uint8_t>& from, size_t of, size_t first,
                                  size_t count) {
    std::vector<uint8_t> part;
    for (size_t at = first * kElement; at < from.size(); at += of * kElement)
        part.insert(part.end(), from.begin() + static_cast<ptrdiff_t>(at),
                    from.begin() + static_cast<ptrdiff_t>(at + count * kElement));
    return part;
}

size_t quotient_up(size_t a, size_t b) { return (a + b - 1) / b; }

/// Channels of a block: as many as need the fewest weight tiles in all, among equals the most.
size_t channels_of_block(const PlainWindow& w, size_t multiplier, const PlainArray& array) {
    const auto tiles = [&](size_t channels) {
        return quotient_up(w.taps() * channels, array.rows) *
               quotient_up(channels * multiplier, array.cols);
    };
    size_t best = 1, fewest = SIZE_MAX;
    for (size_t channels = 1; channels <= w.channels; ++channels) {
        if (channels > 1 && channels * multiplier > array.cols) break;
        size_t all = w.channels / channels * tiles(channels);
        if (w.channels % channels != 0) all += tiles(w.channels % channels);
        if (all <= fewest) fewest = all, best = channels;
    }
    return best;
}

/// [columns][taps][channels], of which a column has one channel's.
std::vector<uint8_t> block_diagonal(const std::vector<uint8_t>& weights, size_t taps,
                                    size_t channels, size_t multiplier) {
    const size_t columns = channels * multiplier;
    std::vector<uint8_t> matrix(columns * taps * channels * kElement);
    for (size_t column = 0; column < columns; ++column)
        for (size_t tap = 0; tap < taps; ++tap)
            std::copy_n(
                weights.begin() + static_cast<ptrdiff_t>((tap * columns + column) * kElement),
                kElement,
                matrix.begin() +
                    static_cast<ptrdiff_t>(
                        ((column * taps + tap) * channels + column / multiplier) * kElement));
    return matrix;
}

}  // namespace

std::vector<float> plain_bf16_depthwise(const PlainWindow& window, size_t multiplier,
                                        const std::vector<uint8_t>& image,
                                        const std::vector<uint8_t>& weights,
                                        const PlainArray& array, const PlainStep& step) {
    const size_t all = window.channels * multiplier;
    const size_t most = channels_of_block(window, multiplier, array);
    std::vector<float> result(window.rows() * all);
    for (size_t first = 0; first < window.channels; first += most) {
        PlainProduct block{window, 1, 1};
        block.window.channels = std::min(most, window.channels - first);
        block.n = block.window.channels * multiplier;
        const auto of_block = part_of_each(weights, all, first * multiplier, block.n);
        const auto sums = plain_bf16_product(
            block, part_of_each(image, window.channels, first, block.window.channels),
            block_diagonal(of_block, window.taps(), block.window.channels, multiplier), array,
            [&](uint64_t macs) { step(macs / block.window.channels); });
        for (size_t row = 0; row < window.rows(); ++row)
            std::copy_n(sums.begin() + static_cast<ptrdiff_t>(row * block.n), block.n,
                        result.begin() + static_cast<ptrdiff_t>(row * all + first * multiplier));
    }
    return result;
}

}  // namespace tandem::run
