// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/weight_matrices.h"

#include <algorithm>
#include <cstring>

#include "base/divide.h"

namespace tandem::compiler {

namespace {

using base::divide_up;

/// Channels per block-diagonal matrix that need the fewest tiles, the most channels among equals.
uint32_t depthwise_group_channels(uint32_t channels, uint32_t taps, uint32_t multiplier,
                                  uint32_t array_rows, uint32_t array_cols) {
    const auto tiles = [&](uint64_t group) {
        return divide_up(taps * group, array_rows) * divide_up(group * multiplier, array_cols);
    };
    uint32_t best = 1;
    uint64_t best_tiles = UINT64_MAX;
    for (uint32_t group = 1; group <= std::min(channels, std::max(1u, array_cols / multiplier));
         ++group) {
        const uint32_t rest = channels % group;
        const uint64_t total = channels / group * tiles(group) + (rest == 0 ? 0 : tiles(rest));
        if (total > best_tiles) continue;
        best = group;
        best_tiles = total;
    }
    return best;
}

uint32_t taps_of(const ImageWindow& window) {
    return static_cast<uint32_t>(window.kernel_h * window.kernel_w);
}

/// Rows of `from` (n x k elements) as columns of the group's matrix.
void transpose_into(MatmulGroup& group, const uint8_t* from, size_t element) {
    group.weights.resize(size_t{group.k} * group.n * element);
    uint8_t* to = group.weights.data();
    for (size_t c = 0; c < group.n; ++c)
        for (size_t k = 0; k < group.k; ++k)
            std::memcpy(to + (k * group.n + c) * element, from + (c * group.k + k) * element,
                        element);
}

}  // namespace

std::vector<int32_t> fold_zero_point(const MatmulGroup& group, int32_t zero_in,
                                     const std::vector<int32_t>& bias) {
    std::vector<int64_t> sums(group.n);
    for (size_t at = 0; at < group.weights.size(); ++at)
        sums[at % group.n] += static_cast<int8_t>(group.weights[at]);
    std::vector<int32_t> folded(group.n);
    for (size_t c = 0; c < folded.size(); ++c)
        folded[c] = static_cast<int32_t>(static_cast<uint64_t>(
            (bias.empty() ? 0 : bias[group.out_channel + c]) - zero_in * sums[c]));
    return folded;
}

std::vector<MatmulGroup> conv_groups(const ImageWindow& window, const uint8_t* weights,
                                     uint32_t out_channels, uint32_t channels) {
    const auto count = static_cast<uint32_t>(window.channels / channels);
    std::vector<MatmulGroup> groups(count);
    for (uint32_t g = 0; g < count; ++g) {
        MatmulGroup& group = groups[g];
        group.channels = channels;
        group.in_channel = g * channels;
        group.n = group.useful_n = out_channels / count;
        group.out_channel = g * group.n;
        group.k = taps_of(window) * channels;
        if (weights != nullptr)
            transpose_into(group,
                           weights + size_t{group.out_channel} * group.k * window.element_bytes,
                           window.element_bytes);
    }
    return groups;
}

std::vector<MatmulGroup> depthwise_groups(const ImageWindow& window, const uint8_t* weights,
                                          uint32_t multiplier, uint32_t array_rows,
                                          uint32_t array_cols) {
    const auto channels = static_cast<uint32_t>(window.channels);
    const uint32_t taps = taps_of(window);
    const size_t element = window.element_bytes;
    const uint32_t step =
        depthwise_group_channels(channels, taps, multiplier, array_rows, array_cols);
    std::vector<MatmulGroup> groups;
    for (uint32_t first = 0; first < channels; first += step) {
        MatmulGroup group;
        group.in_channel = first;
        group.channels = std::min(step, channels - first);
        group.out_channel = first * multiplier;
        group.k = taps * group.channels;
        group.n = group.channels * multiplier;
        group.useful_n = multiplier;
        if (weights != nullptr) {
            group.weights.resize(size_t{group.k} * group.n * element);
            for (size_t tap = 0; tap < taps; ++tap)
                for (size_t column = 0; column < group.n; ++column)
                    std::memcpy(
                        group.weights.data() +
                            ((tap * group.channels + column / multiplier) * group.n + column) *
                                element,
                        weights +
                            (tap * channels * multiplier + group.out_channel + column) * element,
                        element);
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

std::vector<MatmulGroup> product_groups(const ImageWindow& window, const uint8_t* weights,
                                        uint32_t count, uint32_t n) {
    std::vector<MatmulGroup> groups(count);
    for (uint32_t g = 0; g < count; ++g) {
        MatmulGroup& group = groups[g];
        group.channels = static_cast<uint32_t>(window.channels);
        group.n = group.useful_n = n;
        group.out_channel = g * n;
        group.k = taps_of(window) * group.channels;
        if (weights != nullptr)
            transpose_into(group, weights + size_t{g} * n * group.k * window.element_bytes,
                           window.element_bytes);
    }
    return groups;
}

}  // namespace tandem::compiler
