// SPDX-License-Identifier: Apache-2.0
// What happens to all applications when one choice is made otherwise.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/tpu_v1/counters.h"

namespace tandem::tpu_v1 {

struct Variant {
    std::string name;
    std::function<void(arch::ChipConfig&)> chip{};      ///< empty: the chip as it is
    std::function<void(tables::Workload&)> workload{};  ///< of every application; may do nothing
};

/// Variants that the text refers to.
inline constexpr const char* kNoLayerSync = "layer_sync off";
inline constexpr const char* kNoSync = "sync_latency 0 cycles";

/// As sync_latency, the time of so many cycles of this chip.
void set_sync_cycles(arch::ChipConfig& chip, uint64_t cycles);

/// Variants of the chip file, then of the application files.
std::vector<Variant> chip_variants();
std::vector<Variant> workload_variants();

/// The six applications with it. `shipped` is taken for those that it does not change.
Measurements measure_variant(const Variant& variant, const Measurements& shipped,
                             const arch::ChipConfig& chip);

}  // namespace tandem::tpu_v1
