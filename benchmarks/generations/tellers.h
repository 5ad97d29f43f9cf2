// SPDX-License-Identifier: Apache-2.0
// Lists on chips by the model and by the two formulas beside it, and means over kinds of lists.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "benchmarks/generations/stand_ins.h"

namespace tandem::generations {

enum Teller : size_t { kModel, kNapkin, kRoofline, kTellers };
inline constexpr std::array<const char*, kTellers> kTellerNames = {"model", "napkin", "roofline"};

/// One number by each of them.
using Figures = std::array<double, kTellers>;

/// Seconds of each list on a chip, each array computing in its own type.
std::vector<Figures> time_all(const Lists& lists, const arch::ChipConfig& chip);

/// Share of the chip's peak that a list reaches in that time, percent.
std::vector<Figures> utilization_percent(const Lists& lists, const std::vector<Figures>& seconds,
                                         const arch::ChipConfig& chip);

/// How many times as fast the second chip is.
std::vector<Figures> speedups(const std::vector<Figures>& before,
                              const std::vector<Figures>& after);

/// Every kind counts alike, however many lists it has.
struct Means {
    std::map<std::string, Figures> kinds;
    Figures all{}, least{}, most{};  ///< of the kinds
};
Means geometric(const Lists& lists, const std::vector<Figures>& figures);
Means arithmetic(const Lists& lists, const std::vector<Figures>& figures);

}  // namespace tandem::generations
