// SPDX-License-Identifier: Apache-2.0
// The parts of the study of plans. Each measures, and says what it found and what it is judged by.
#pragma once

#include <vector>

#include "benchmarks/plan/setup.h"
#include "benchmarks/plan/target.h"

namespace tandem::benchmarks {

/// Kernels, and chained tables as a whole, against their bounds. Adds what was measured to `all`.
Part kernels_part(const Setup& setup, std::vector<Measured>& all);

/// Whole tables against the rules' plan. Adds what was measured to `all`.
Part tables_part(const Setup& setup, std::vector<Measured>& all);

/// ResNet-50 by batch, and square products: shares of the arrays.
Part throughput_part(const Setup& setup);

/// The plan's closed-form cost against simulated cycles, of everything measured so far.
Part cost_part(const Setup& setup, const std::vector<Measured>& all);

/// Processor time of planning; `self` is this program, started again for every turn.
Part planning_part(const Setup& setup, const std::string& self);
/// What `self` does in such a process: plans "resnet50" or "bert", with "-run" behind it runs it,
/// too, and prints the seconds.
void time_here(const std::string& work, const std::string& chip);

/// A formula of three terms beside the model.
Part napkin_part(const Setup& setup);

}  // namespace tandem::benchmarks
