// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/list_baselines.h"

#include <algorithm>

#include "base/divide.h"

namespace tandem::benchmarks {
namespace {

using tables::Layer;
using tables::Workload;

/// One of its repetitions.
uint64_t bytes_of(const Workload& list, size_t index, const arch::ChipConfig& chip) {
    const Layer& layer = list.layers[index];
    uint64_t elements = layer.weights();
    if (!list.chained || index == 0) elements += layer.input_elements;
    if (!list.chained || index + 1 == list.layers.size()) elements += layer.output_elements;
    return elements * arch::element_bytes(chip.mxu.dtype);
}

/// Share of the weights that has room in CMEM.
double share_in_cmem(const Workload& list, const arch::ChipConfig& chip) {
    if (!list.chained || chip.cmem.bytes == 0) return 0;
    uint64_t weights = 0;
    for (const Layer& layer : list.layers) weights += layer.weights();
    if (weights == 0) return 0;
    const uint64_t bytes = weights * arch::element_bytes(chip.mxu.dtype);
    return std::min(1.0, static_cast<double>(chip.cmem.bytes) / static_cast<double>(bytes));
}

/// Both memories at a time.
double moving_seconds(uint64_t bytes, double in_cmem, const arch::ChipConfig& chip) {
    const auto seconds = [](double amount, uint64_t rate) {
        return amount == 0 ? 0 : amount / static_cast<double>(rate);
    };
    const auto all = static_cast<double>(bytes);
    return std::max(seconds(all * (1 - in_cmem), chip.memory.bytes_per_second),
                    seconds(all * in_cmem, chip.cmem.bytes_per_second));
}

double multiplying_seconds(const Layer& layer, const arch::ChipConfig& chip) {
    if (layer.m == 0) return 0;
    const uint64_t tiles = base::divide_up(layer.k, uint64_t{chip.mxu.rows}) *
                           base::divide_up(layer.n, uint64_t{chip.mxu.cols}) * layer.groups;
    const uint64_t rows = std::max<uint64_t>(layer.m * layer.passes, chip.mxu.rows);
    return static_cast<double>(tiles * rows) / chip.arrays() / static_cast<double>(chip.clock_hz);
}

/// Sums over all repetitions of all layers; `seconds_of` is given a layer, and the time that its
/// bytes take.
template <class SecondsOf>
double sum_of_layers(const Workload& list, const arch::ChipConfig& chip,
                     const SecondsOf& seconds_of) {
    const double in_cmem = share_in_cmem(list, chip);
    double seconds = 0;
    for (size_t i = 0; i < list.layers.size(); ++i) {
        const Layer& layer = list.layers[i];
        seconds += seconds_of(layer, moving_seconds(bytes_of(list, i, chip), in_cmem, chip)) *
                   static_cast<double>(layer.repeat);
    }
    return seconds;
}

}  // namespace

uint64_t compulsory_bytes(const Workload& list, const arch::ChipConfig& chip) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < list.layers.size(); ++i)
        bytes += bytes_of(list, i, chip) * list.layers[i].repeat;
    return bytes;
}

double roofline_seconds(const Workload& list, const arch::ChipConfig& chip) {
    return sum_of_layers(list, chip, [&](const Layer& layer, double moving) {
        const double multiplying = 2 * static_cast<double>(layer.macs() * layer.passes) /
                                   chip.peak_ops_per_second() / static_cast<double>(layer.repeat);
        return std::max(multiplying, moving);
    });
}

double napkin_seconds(const Workload& list, const arch::ChipConfig& chip) {
    return sum_of_layers(list, chip, [&](const Layer& layer, double moving) {
        return kNapkinLaunchSeconds + multiplying_seconds(layer, chip) + moving;
    });
}

}  // namespace tandem::benchmarks
