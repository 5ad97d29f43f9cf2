// SPDX-License-Identifier: Apache-2.0
#include "jobs/graph_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/terminal.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "jobs/progress.h"
#include "run/plain_loops.h"

namespace tandem::jobs {
namespace {

using compiler::Counts;
using compiler::Graph;
using compiler::Node;
using nlohmann::json;

/// Told beforehand.
constexpr double kLongSeconds = 5;

bool is_layer(const Node& node) { return node.op != compiler::Operator::kEdge; }

std::string size_text(const Counts& counts) {
    if (counts.m == 0) return fmt::format("{} elements", counts.elements);
    std::string text = fmt::format("{} x {} x {}", counts.m, counts.k, counts.n);
    if (counts.groups != 1) text += fmt::format(" x {} groups", counts.groups);
    if (counts.repeat != 1) text += fmt::format(", {} times", counts.repeat);
    return text;
}

json details_of(const Node& node, const Counts& counts) {
    return {{"where", node.where},
            {"m", counts.m},
            {"k", counts.k},
            {"n", counts.n},
            {"groups", counts.groups},
            {"repeat", counts.repeat},
            {"input_elements", counts.input_elements},
            {"output_elements", counts.output_elements}};
}

/// Memory that a run takes, about: weights stand in the graph, as matrices, as the program's data
/// and in the chip's memory; activations in the last of these, in the run's result and in the
/// loops'.
uint64_t data_bytes(const Graph& graph, uint32_t batch) {
    constexpr uint64_t kCopiesOfWeights = 5, kCopiesOfActivations = 3;
    uint64_t bytes = 0;
    for (const compiler::Tensor& tensor : graph.tensors)
        bytes += tensor.size_bytes() *
                 (tensor.is_constant ? kCopiesOfWeights : kCopiesOfActivations * batch);
    return bytes;
}

}  // namespace

void describe_layers(const Graph& graph, run::RunReport& report) {
    for (const Node& node : graph.nodes) {
        if (!is_layer(node)) continue;
        const Counts counts = compiler::counts(graph, node);
        report.layer_sizes.push_back(size_text(counts));
        report.layer_details.push_back(details_of(node, counts));
    }
}

void compare_with_plain_loops(Graph graph, const arch::ChipConfig& chip,
                              const run::GraphOptions& how, const run::GraphResult& result,
                              run::RunReport& report) {
    Progress progress("MACs of plain loops");
    compiler::seed_constants(graph, how.seed);
    const auto plain =
        run::plain_loops(graph, chip.mxu, how.batch, how.seed,
                         [&](uint64_t done, uint64_t total) { progress.update(done, total); });
    report.check.compared = true;
    for (const run::ComputedTensor& computed : result.computed) {
        const auto check = run::compare_outputs(computed.bytes, plain.of_tensor.at(computed.tensor),
                                                computed.bytes.size());
        const uint64_t bytes = report.check.bytes_compared + check.bytes_compared;
        const uint64_t mismatches = report.check.mismatches + check.mismatches;
        if (report.check.mismatches == 0 && check.mismatches != 0) {
            base::print("tensor '{}' is not what plain loops have\n",
                        graph.tensors[computed.tensor].name);
            report.check = check;  // says where the first difference is
        }
        report.check.bytes_compared = bytes;
        report.check.mismatches = mismatches;
    }
}

void check_cost(const Graph& graph, const std::string& model, const run::GraphOptions& how) {
    if (how.rounding != numerics::Rounding::kSingle)
        throw UserError(model, "--rounding", "single, as the plain loops have it, or --mode timing",
                        "gemmlowp");
    const uint64_t needed = data_bytes(graph, how.batch);
    const auto available = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                           static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    if (needed > available)
        throw UserError(
            model, "seeded data",
            fmt::format("at most the {} bytes of this machine's memory, or --mode timing",
                        available),
            fmt::format("about {} bytes needed", needed));
    const double seconds = run::plain_seconds(graph, how.batch);
    if (seconds > kLongSeconds)
        base::tell(
            "tandem: {} with seeded data: the plain loops alone take about {:.0f} s, all "
            "about {:.1f} GB of memory\n",
            model, seconds, static_cast<double>(needed) / 1e9);
}

void describe_nodes(const Graph& graph, const arch::Program& program, run::RunReport& report) {
    for (const arch::ProgramNode& of_program : program.nodes) {
        const auto node = std::ranges::find_if(graph.nodes, [&](const Node& candidate) {
            return candidate.index == of_program.index && is_layer(candidate);
        });
        report.layer_details.push_back(node == graph.nodes.end()
                                           ? json::object()
                                           : details_of(*node, compiler::counts(graph, *node)));
    }
}

}  // namespace tandem::jobs
