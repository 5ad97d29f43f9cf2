// SPDX-License-Identifier: Apache-2.0
// Weight tensors into weight matrices (declared in legalize.h).
#include <algorithm>

#include "compiler/passes/fit.h"
#include "compiler/passes/legalize.h"

namespace tandem::compiler {

namespace {

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

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

}  // namespace

std::vector<int32_t> fold_zero_point(const MatmulGroup& group, int32_t zero_in,
                                     const std::vector<int32_t>& bias) {
    std::vector<int64_t> sums(group.n);
    for (size_t at = 0; at < group.weights.size(); ++at) sums[at % group.n] += group.weights[at];
    std::vector<int32_t> folded(group.n);
    for (size_t c = 0; c < folded.size(); ++c)
        folded[c] = static_cast<int32_t>(static_cast<uint64_t>(
            (bias.empty() ? 0 : bias[group.out_channel + c]) - zero_in * sums[c]));
    return folded;
}

std::vector<MatmulGroup> conv_groups(const isa::Geometry& window, const int8_t* weights,
                                     uint32_t out_channels, uint32_t in_channels_per_group) {
    const uint32_t count = window.channels / in_channels_per_group;
    std::vector<MatmulGroup> groups(count);
    for (uint32_t g = 0; g < count; ++g) {
        MatmulGroup& group = groups[g];
        group.window = window;
        group.window.channels = fit<uint16_t>(in_channels_per_group, "channels");
        group.in_channel = g * in_channels_per_group;
        group.n = group.useful_n = out_channels / count;
        group.out_channel = g * group.n;
        group.k = uint32_t{window.kernel_h} * window.kernel_w * in_channels_per_group;
        group.weights.resize(size_t{group.k} * group.n);
        for (size_t c = 0; c < group.n; ++c)
            for (size_t k = 0; k < group.k; ++k)
                group.weights[k * group.n + c] = weights[(group.out_channel + c) * group.k + k];
    }
    return groups;
}

std::vector<MatmulGroup> depthwise_groups(const isa::Geometry& window, const int8_t* weights,
                                          uint32_t multiplier, uint32_t array_rows,
                                          uint32_t array_cols) {
    const uint32_t channels = window.channels, taps = uint32_t{window.kernel_h} * window.kernel_w;
    const uint32_t step =
        depthwise_group_channels(channels, taps, multiplier, array_rows, array_cols);
    std::vector<MatmulGroup> groups;
    for (uint32_t first = 0; first < channels; first += step) {
        const uint32_t count = std::min(step, channels - first);
        MatmulGroup group;
        group.window = window;
        group.window.channels = fit<uint16_t>(count, "channels");
        group.in_channel = first;
        group.out_channel = first * multiplier;
        group.k = taps * count;
        group.n = count * multiplier;
        group.useful_n = multiplier;
        group.weights.resize(size_t{group.k} * group.n);
        for (size_t tap = 0; tap < taps; ++tap)
            for (size_t column = 0; column < group.n; ++column)
                group.weights[(tap * count + column / multiplier) * group.n + column] =
                    weights[tap * channels * multiplier + group.out_channel + column];
        groups.push_back(std::move(group));
    }
    return groups;
}

}  // namespace tandem::compiler
