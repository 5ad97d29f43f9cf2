// SPDX-License-Identifier: Apache-2.0
#include "tools/graph_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "run/plain_loops.h"
#include "run/report.h"
#include "tools/command.h"
#include "tools/progress.h"

namespace tandem::tools {
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

void describe_layers(const Graph& graph, run::RunReport& report) {
    for (const Node& node : graph.nodes) {
        if (!is_layer(node)) continue;
        const Counts counts = compiler::counts(graph, node);
        report.layer_sizes.push_back(size_text(counts));
        report.layer_details.push_back(details_of(node, counts));
    }
}

/// Every tensor that the chip has computed against plain loops.
void compare(Graph graph, const arch::ChipConfig& chip, const GraphArguments& a,
             const run::GraphResult& result, run::RunReport& report) {
    Progress progress("MACs of plain loops");
    compiler::seed_constants(graph, a.how.seed);
    const auto plain =
        run::plain_loops(graph, chip.mxu, a.how.batch, a.how.seed,
                         [&](uint64_t done, uint64_t total) { progress.update(done, total); });
    report.check.compared = true;
    for (const run::ComputedTensor& computed : result.computed) {
        const auto check = run::compare_outputs(computed.bytes, plain.of_tensor.at(computed.tensor),
                                                computed.bytes.size());
        const uint64_t bytes = report.check.bytes_compared + check.bytes_compared;
        const uint64_t mismatches = report.check.mismatches + check.mismatches;
        if (report.check.mismatches == 0 && check.mismatches != 0) {
            fmt::print("tensor '{}' is not what plain loops have\n",
                       graph.tensors[computed.tensor].name);
            report.check = check;  // says where the first difference is
        }
        report.check.bytes_compared = bytes;
        report.check.mismatches = mismatches;
    }
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

void check_cost(const Graph& graph, const GraphArguments& a) {
    if (a.how.rounding != numerics::Rounding::kSingle)
        throw UserError(a.model, "--rounding",
                        "single, as the plain loops have it, or --mode timing", "gemmlowp");
    const uint64_t needed = data_bytes(graph, a.how.batch);
    const auto available = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                           static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    if (needed > available)
        throw UserError(
            a.model, "seeded data",
            fmt::format("at most the {} bytes of this machine's memory, or --mode timing",
                        available),
            fmt::format("about {} bytes needed", needed));
    const double seconds = run::plain_seconds(graph, a.how.batch);
    if (seconds > kLongSeconds)
        fmt::print(stderr,
                   "tandem: {} with seeded data: the plain loops alone take about {:.0f} s, all "
                   "about {:.1f} GB of memory\n",
                   a.model, seconds, static_cast<double>(needed) / 1e9);
}

}  // namespace

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

int run_graph_on_chip(const Graph& graph, const arch::ChipConfig& chip, const GraphArguments& a) {
    if (a.options.functional) check_cost(graph, a);
    const auto start = std::chrono::steady_clock::now();
    std::optional<Progress> progress(std::in_place, "waves");
    run::RunOptions options = a.options;
    options.progress = [&](uint64_t done, uint64_t total) { progress->update(done, total); };
    const run::GraphResult result = run::run_graph(graph, chip, a.how, options);
    progress.reset();  // ends its line
    run::RunReport report;
    report.backend = options.backend;
    report.mode = options.functional ? "functional" : "timing";
    report.model = a.model;
    report.name = graph.name;
    report.rerun = a.rerun;
    report.plan = name_of(a.how.plan);
    report.csv = a.csv;
    report.seed = a.how.seed;
    report.batch = report.samples = graph.samples * a.how.batch;
    report.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    describe_layers(graph, report);
    if (options.functional && result.run.completed()) compare(graph, chip, a, result, report);
    const int status = exit_status(run::conclude(chip, result.run, report, a.json));
    if (!options.inject.empty() && !result.run.injected && !result.run.divergence)
        throw UserError("--inject", "cycle", "a cycle in which the array is used",
                        options.inject + ", which was not reached");
    return status;
}

}  // namespace tandem::tools
