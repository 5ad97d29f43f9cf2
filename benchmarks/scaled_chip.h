// SPDX-License-Identifier: Apache-2.0
// A chip with one property scaled, and means over the six applications of isca17 (Jouppi et al.,
// ISCA 2017): the form of its Figure 11.
#pragma once

#include <array>
#include <map>
#include <string>

#include "arch/chip_config.h"

namespace tandem::benchmarks {

enum class Knob : uint8_t { kMemory, kClock, kClockPlus, kMatrix, kMatrixPlus };

struct KnobText {
    Knob knob;
    const char* name;
    const char* what;  ///< is multiplied by the scale
};
inline constexpr std::array<KnobText, 5> kKnobs = {
    {{Knob::kMemory, "memory", "bandwidth of the weight memory"},
     {Knob::kClock, "clock", "clock"},
     {Knob::kClockPlus, "clock+", "clock and accumulator rows"},
     {Knob::kMatrix, "matrix", "rows and columns of the array"},
     {Knob::kMatrixPlus, "matrix+",
      "rows and columns of the array; accumulator rows by the square"}}};

/// Everything that is not scaled stays as it is in its own unit: what is given in cycles follows
/// the clock, what is given in seconds does not. With the array go what is as wide as the array,
/// buffer ports and vector lanes, and the bytes of a weight tile. Throws std::invalid_argument
/// where a figure would not be whole.
arch::ChipConfig scaled(const arch::ChipConfig& chip, Knob knob, double scale);

/// Share of TPU v1's work that isca17's Table 1 gives an application: MLPs 61 %, LSTMs 29 %, CNNs
/// 5 %, split evenly between the two of a type, and the three brought to 1 together.
double deployment_share(const std::string& application);

/// Means of figures by application name.
double weighted_mean(const std::map<std::string, double>& figures);
double geometric_mean(const std::map<std::string, double>& figures);

}  // namespace tandem::benchmarks
