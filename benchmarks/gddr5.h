// SPDX-License-Identifier: Apache-2.0
// TPU v1 with the memory of a K80 (isca17, Section 7): the two pairs of means that the paper
// prints, beside model, napkin and roofline.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "compiler/import/tables/layers.h"

namespace tandem::benchmarks {

/// The paper says more than five times the bandwidth and a ridge of 250.
inline constexpr double kGddr5BytesPerSecond = 180e9;

using Seconds = std::function<double(const tables::Workload&, const arch::ChipConfig&)>;

/// Gain of each application from the memory, and its means without and with the host's time
/// (Table 5: a share of the application's time on the chip as it is, the same on both chips).
struct Gddr5Gain {
    std::map<std::string, double> gains, with_host;
    /// Weighted and geometric, without the host, then with it.
    std::array<double, 4> means() const;
    double mean_error_percent() const;
};
Gddr5Gain gddr5_gain(const std::map<std::string, tables::Workload>& workloads,
                     const arch::ChipConfig& chip, const Seconds& seconds);

/// As printed, in the order of Gddr5Gain::means().
inline constexpr std::array<double, 4> kGddr5Published = {3.9, 2.6, 3.2, 1.9};

/// What the model may be off by in the means without the host, its bus for nothing, percent: there
/// it is claimed to be right. With the host the paper's means do not follow from its Table 5.
inline constexpr double kGddr5BoundPercent = 15;

/// Model with the program of 2015, with its bus for nothing, napkin with and without its third
/// term, roofline, and the model with today's program.
class Gddr5Study {
  public:
    Gddr5Study() = default;
    Gddr5Study(const std::map<std::string, tables::Workload>& workloads,
               const arch::ChipConfig& chip);

    bool passes() const;
    /// Its tables.
    std::string text() const;

  private:
    struct Line {
        const char* name;
        Gddr5Gain gain;
    };
    std::string by_application() const;
    std::string means() const;
    std::string verdict() const;

    std::vector<Line> lines_;
};

}  // namespace tandem::benchmarks
