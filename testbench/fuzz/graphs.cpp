// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/graphs.h"

#include <fmt/format.h>

#include <random>

#include "arch/chip_modes.h"
#include "arch/program.h"
#include "arch/program_check.h"
#include "base/error.h"
#include "compiler/graph/array_type.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/text.h"
#include "compiler/pipeline.h"
#include "compiler/stream.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/random_pairs.h"

namespace tandem::fuzz {
namespace {

using namespace compiler;

// Larger ones are read, not compiled.
constexpr uint64_t kMostElementsOfAll = uint64_t{1} << 16;
constexpr uint64_t kMostWork = uint64_t{1} << 22;
constexpr size_t kMostNodes = 40;
constexpr uint64_t kMostInstructions = 100'000;

/// What Tandem made it must not refuse.
template <class Work>
auto must(const std::string& what, Work work) {
    try {
        return work();
    } catch (const UserError& error) {
        throw Broken(what + ": " + error.what());
    }
}

bool is_small(const Graph& graph) {
    if (graph.nodes.size() > kMostNodes) return false;
    uint64_t elements = 0, work = 0;
    for (const Tensor& tensor : graph.tensors) {
        if (tensor.elements() > kMostElementsOfAll) return false;
        elements += tensor.elements();
    }
    for (const Node& node : graph.nodes) {
        const Counts counts = compiler::counts(graph, node);
        const double all = static_cast<double>(counts.macs()) +
                           static_cast<double>(counts.elements) * static_cast<double>(node.repeat);
        if (all > static_cast<double>(kMostWork) || node.repeat > 1000) return false;
        work += static_cast<uint64_t>(all);
    }
    return elements <= kMostElementsOfAll && work <= kMostWork;
}

void expect_same_text(const Graph& graph) {
    const std::string text = to_text(graph, DumpBytes::kAll);
    const Graph again =
        must("a dump is not read back", [&] { return parse_graph(text, graph.file); });
    require(to_text(again, DumpBytes::kAll) == text, "a dump is another graph when read back");
}

void check_image(const arch::Program& program, const arch::ChipConfig& chip) {
    must("the compiler's own program is refused", [&] {
        const arch::Program again = arch::deserialise(arch::serialise(program), "program");
        return arch::check_program(chip, again, "program");
    });
}

uint64_t drain(StreamedProgram& stream) {
    std::vector<isa::Words> words(64);
    uint64_t instructions = 0;
    for (bool more = true; more && instructions < kMostInstructions;) {
        more = false;
        for (size_t c = 0; c < stream.cores(); ++c) {
            const size_t count = stream.core(c).next(words);
            instructions += count;
            more = more || count == words.size();
        }
    }
    return instructions;
}

}  // namespace

arch::ChipConfig small_chip(const std::string& name) {
    return arch::load_chip(source_dir() / "arch/chips" / (name + ".yaml"), {"memory.size=1 MiB"});
}

Graph tiny_graph() {
    return parse_graph(
        "tgraph 1\n"
        "name \"tiny\"\n"
        "tensor %0 \"in\" INT8 1x4x4x3 layout=NHWC scales=0.5 zero_points=-3\n"
        "constant %1 \"w\" INT8 4x1x1x3 scales=0.25,0.1,0.2,0.1\n"
        "bytes 00fe12017f8181030a0b0c0d\n"
        "constant %2 \"b\" INT32 4\n"
        "bytes 01000000020000000300000004000000\n"
        "tensor %3 \"out\" INT8 1x4x4x4 layout=NHWC scales=1.25\n"
        "node 0 CONV_2D \"conv\" inputs=%0,%1,%2 outputs=%3 activation=RELU\n"
        "inputs %0\n"
        "outputs %3\n",
        "tiny.tgraph");
}

std::vector<Graph> sample_graphs() {
    std::vector<Graph> graphs{tiny_graph()};
    std::mt19937 random(1);
    for (int i = 0; i < 24; ++i) {
        graphs.push_back(testbench::random_graph(random));
        if (i % 4 == 0) graphs.push_back(testbench::random_pairs(random, ElementType::kInt8));
    }
    for (int i = 0; i < 4; ++i)
        graphs.push_back(testbench::random_graph(random, ElementType::kFloat32));
    return graphs;
}

std::string compile_for(const Graph& graph, const arch::ChipConfig& chip) {
    const auto type = array_type(graph).value_or(chip.mxu.dtype);
    const auto mode = arch::for_dtype(chip, type);
    if (!mode) return "of a type that the chip does not have";
    CompileOptions options;
    // The search now and then: it takes its time.
    options.plan = graph.tensors.size() % 8 == 0 ? PlanMode::kSearch : PlanMode::kRules;
    options.batch = 1 + static_cast<uint32_t>(graph.tensors.size() % 3);
    try {
        if (!has_image(graph)) {
            options.batch = 1;
            StreamedProgram stream(plan_graph(graph, *mode, options));
            return drain(stream) < kMostInstructions ? "streamed" : "streamed in part";
        }
        const arch::Program program = compile(graph, *mode, options);
        check_image(program, *mode);
        return "compiled";
    } catch (const UserError& error) {
        return std::string("does not fit: ") + error.what();
    }
}

std::string use_graph(const Graph& graph, const std::string& chip_name) {
    if (!is_small(graph)) return "too large to compile";
    expect_same_text(graph);
    std::string operators;
    for (const Node& node : graph.nodes) operators += fmt::format("{} ", operator_name(node.op));
    return operators + compile_for(graph, small_chip(chip_name));
}

}  // namespace tandem::fuzz
