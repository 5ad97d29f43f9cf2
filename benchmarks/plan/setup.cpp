// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plan/setup.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "compiler/plan/bounds.h"

namespace tandem::benchmarks {
namespace {

/// Kernels follow each other: their costs add up. A kernel takes as long as its slowest core.
std::optional<double> estimate_of(const compiler::Planned& planned) {
    const auto cost = [](const auto& share) -> double {
        if constexpr (requires { share.cycles; }) return share.cycles;
        return 0;
    };
    double sum = 0;
    for (size_t i = 0; i < planned.plan.kernels.size(); ++i) {
        double slowest = 0;
        for (const compiler::CorePlan& share : planned.plan.kernels[i].cores)
            slowest = std::max(slowest, cost(share));
        sum += slowest * static_cast<double>(planned.kernels.kernels[i].repeat);
    }
    return sum > 0 ? std::optional(sum) : std::nullopt;
}

/// What a chained list's kernels hand on could stay in the buffer, whatever this plan does.
LowerBound bound_of(const compiler::Planned& planned) {
    compiler::Plan plan = planned.plan;
    if (planned.kernels.chained)
        for (compiler::ValuePlan& value : plan.values) value.resident = true;
    compiler::Bounds sum;
    for (const compiler::Bounds& bounds :
         compiler::lower_bounds(planned.kernels, plan, planned.chip))
        sum += bounds;
    return {.compute = sum.compute(),
            .traffic = std::max(sum.device_memory, sum.cmem),
            .host = sum.host(),
            .fixed = sum.launch + sum.synchronisation,
            .least_bytes = sum.least_memory};
}

}  // namespace

const char* LowerBound::name() const {
    if (host > std::max(compute, traffic)) return "host";
    return traffic > compute ? "traffic" : "compute";
}

compiler::Planned plan_list(const tables::Workload& work, const arch::ChipConfig& chip,
                            compiler::PlanMode plan) {
    compiler::CompileOptions options;
    options.plan = plan;
    return compiler::plan_graph(graph_of(work, run::element_type_of(chip)), chip, options);
}

Measured measure(const tables::Workload& work, const arch::ChipConfig& chip,
                 compiler::PlanMode plan) {
    Measured measured{.name = work.name, .chip = chip.name, .chained = work.chained, .bound = {}};
    try {
        const compiler::Planned planned = plan_list(work, chip, plan);
        measured.bound = bound_of(planned);
        measured.estimate = estimate_of(planned);
        measured.result = run::time_list_apart(work, chip, plan);
    } catch (const UserError& error) {
        measured.refused = error.what();
    }
    return measured;
}

std::optional<LowerBound> lower_bound(const tables::Workload& work, const arch::ChipConfig& chip) {
    try {
        return bound_of(plan_list(work, chip, compiler::PlanMode::kRules));
    } catch (const UserError&) {
        return std::nullopt;
    }
}

void do_all(size_t count, uint32_t jobs, const std::function<void(size_t)>& work) {
    std::atomic<size_t> next = 0;
    std::exception_ptr error;
    std::mutex mutex;
    const auto worker = [&] {
        for (size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                if (!error) error = std::current_exception();
                next = count;
            }
        }
    };
    std::vector<std::jthread> others(jobs - 1);
    for (std::jthread& other : others) other = std::jthread(worker);
    worker();
    others.clear();
    if (error) std::rethrow_exception(error);
}

}  // namespace tandem::benchmarks
