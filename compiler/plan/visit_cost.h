// SPDX-License-Identifier: Apache-2.0
// What a plan costs by the closed form: its visits one after the other, each as long as the core
// that takes longest, and the host's input, for which the first segment's rounds wait.
#pragma once

#include <vector>

#include "compiler/plan/plan.h"

namespace tandem::compiler {

class VisitCost {
  public:
    VisitCost(const KernelGraph& graph, const arch::ChipConfig& chip);

    double of_plan(const Plan& plan) const { return of_plan(plan, of_kernels(plan)); }
    /// With what its kernels take.
    double of_plan(const Plan& plan, const std::vector<double>& kernels) const;
    /// Cycles of all rounds of each kernel, repeats included.
    std::vector<double> of_kernels(const Plan& plan) const;
    /// A plan's first segment in so many rounds in each group that takes `cycles` altogether,
    /// `first` of them its first kernel, when it has to wait for what the host gives.
    double with_host(const Plan& plan, double cycles, double first, uint32_t rounds) const;
    double memory_cycles(uint64_t bytes) const;
    double memory_latency() const;

  private:
    double of_visit(const Plan& plan, const Visit& visit) const;
    double of_vector(const Plan& plan, const Kernel& kernel, const CorePlan& share,
                     double sharing) const;
    double cmem_cycles(uint64_t bytes) const;

    /// Over the bus, to all cores: each that shares columns has all lines come.
    double host_bytes(const Plan& plan) const;

    const KernelGraph& graph_;
    const arch::ChipConfig& chip_;
    const double clock_;            ///< Hz
    double launch_ = 0, sync_ = 0;  ///< in front of a kernel
};

}  // namespace tandem::compiler
