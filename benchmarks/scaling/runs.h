// SPDX-License-Identifier: Apache-2.0
// The six applications of isca17 (Jouppi et al., ISCA 2017) on TPU v1 and on chips that have one
// property of it scaled: the model's times, and the same gains by two formulas.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arch/chip_config.h"
#include "benchmarks/gddr5.h"
#include "benchmarks/scaled_chip.h"
#include "compiler/import/tables/layers.h"
#include "run/run_result.h"

namespace tandem::benchmarks {

inline constexpr std::array kScales = {0.25, 0.5, 1.0, 2.0, 4.0};
inline constexpr std::array kApplications = {"MLP0", "MLP1", "LSTM0", "LSTM1", "CNN0", "CNN1"};
inline constexpr uint64_t kFree = 1000;  ///< times faster: no time any more

/// Results and figures of one chip, by application.
using Results = std::map<std::string, run::RunResult>;
using Figures = std::map<std::string, double>;

struct Variant {
    std::string name, what;
    Results results{};
    Figures gains{};               ///< performance relative to the chip as it is
    Figures napkin{}, roofline{};  ///< the same by formulas
};

/// What the applications' layers hold for a square array of one side.
struct Contents {
    uint64_t products = 0, weights = 0, tiles = 0;
};
Contents contents_of(const tables::Workload& workload, uint64_t side);

/// All runs of the study.
struct ScalingRuns {
    /// Runs every application on every chip.
    ScalingRuns();

    const Variant& at(Knob knob, double scale) const;

    arch::ChipConfig chip;
    std::map<std::string, tables::Workload> workloads;
    Results base;
    Gddr5Study gddr5;
    std::vector<Variant> scaled;    ///< by knob, then by scale
    std::vector<Variant> upgrades;  ///< memory, clock, both: what the paper's TPU' was chosen from
    std::vector<Variant> limits;    ///< the memory's gain on chips that lack what stays slow
    std::pair<double, double> ridge;  ///< MACs per byte, before and after

  private:
    Results run(const arch::ChipConfig& chip) const;
    Variant measure(Variant variant, const arch::ChipConfig& scaled_chip) const;
    /// `before` are the results of `original`.
    Variant measure(Variant variant, const arch::ChipConfig& scaled_chip, const Results& before,
                    const arch::ChipConfig& original) const;
    void upgrade();
    void look_for_limits();
};

}  // namespace tandem::benchmarks
