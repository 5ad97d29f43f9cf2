// SPDX-License-Identifier: Apache-2.0
// Other people's tables and the six applications with seeded values: programs of all cores on the
// interpreter against the oracle. Of tables the rows that take plain loops little time, of
// applications those that do with a batch of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "compiler/graph/operators.h"
#include "compiler/import/import.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/tables/shapes_folder.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

/// Kinds of chips: one array with a roomy buffer; two cores of two arrays with tight ones; the same
/// with a synchronisation between layers.
std::vector<arch::ChipConfig> chips(arch::Dtype dtype) {
    auto one = test_chip(64, 64);
    one.unified_buffer_bytes = 4 << 20;
    auto four = test_chip(32, 16);
    four.cores = four.mxu.count = 2;
    four.unified_buffer_bytes = 96 << 10;
    auto synchronised = four;
    synchronised.sequencer.layer_sync = true;
    std::vector<arch::ChipConfig> all = {one, four, synchronised};
    for (auto& chip : all) {
        chip.memory.bytes = 512 << 20;
        chip.mxu.dtype = dtype;
    }
    return all;
}

void expect_right(const Graph& graph) {
    const bool bf16 = graph.tensors[graph.inputs[0]].type == ElementType::kBf16;
    for (const auto& chip : chips(bf16 ? arch::Dtype::kBf16 : arch::Dtype::kInt8)) {
        const Case c(graph, chip, {}, seeded_inputs(graph, 1, 3), 3);
        const auto programs = c.streams();
        for (const uint32_t order : {1u, 6u})
            EXPECT_EQ(c.fault(programs, Order::number(order)), "")
                << chip.cores << " cores, layer_sync " << chip.sequencer.layer_sync << ", order "
                << order;
    }
}

/// The first independent rows of at most `macs` each, and of no more than `elements` in and out.
Graph small_rows(const Graph& list, uint64_t macs, uint64_t elements, size_t most) {
    Graph graph = list;
    // Weights of rows that are left out get no values.
    for (Tensor& tensor : graph.tensors) tensor.is_constant = false;
    graph.nodes.clear();
    graph.inputs.clear();
    graph.outputs.clear();
    for (const Node& node : list.nodes) {
        if (std::ranges::find(list.inputs, node.inputs[0]) == list.inputs.end()) continue;
        const Counts c = counts(list, node);
        if (graph.nodes.size() == most || c.macs() > macs ||
            c.input_elements + c.output_elements + c.weights() > elements)
            continue;
        graph.nodes.push_back(node);
        graph.inputs.push_back(node.inputs[0]);
        for (size_t i = 1; i < node.inputs.size(); ++i)
            graph.tensors[node.inputs[i]].is_constant = true;
        graph.outputs.push_back(node.outputs[0]);
    }
    return graph;
}

/// Empty for those that are refused (public_tables_test.cpp has them).
Graph table(const std::filesystem::path& file, ElementType type) {
    ImportOptions options;
    options.list_type = type;
    try {
        return import_model(file, options);
    } catch (const UserError&) {
        return {};
    }
}

void expect_tables_right(ElementType type, uint64_t macs, uint64_t elements) {
    size_t rows = 0;
    for (const auto& entry : std::filesystem::directory_iterator(shapes_folder())) {
        if (entry.path().extension() != ".csv") continue;
        SCOPED_TRACE(entry.path().filename().string());
        const Graph graph = small_rows(table(entry.path(), type), macs, elements, 6);
        if (graph.nodes.empty() || first_without_values(graph) != nullptr) continue;
        rows += graph.nodes.size();
        expect_right(graph);
    }
    EXPECT_GT(rows, type == ElementType::kBf16 ? 8u : 20u);
}

TEST(ListRuns, OfTablesAreRight) {
    TANDEM_NEEDS_SHAPES();
    expect_tables_right(ElementType::kInt8, 3'000'000, 2'000'000);
}

TEST(ListRuns, OfBf16TablesAreRight) {
    TANDEM_NEEDS_SHAPES();
    expect_tables_right(ElementType::kBf16, 600'000, 300'000);
}

/// The application with a batch of one; those of 16 bits have a time and no values.
Graph application(const std::string& name, bool values = true) {
    std::ifstream file(testbench::source_dir() / "models/applications" / (name + ".yaml"));
    std::stringstream text;
    text << file.rdbuf();
    std::string content = text.str();
    const std::string batch = "batch: {value: ";
    const size_t at = content.find(batch) + batch.size();
    content.replace(at, content.find(',', at) - at, "1");
    const size_t wide = content.find("activation_bits: {value: 16");
    if (values && wide != std::string::npos) content.replace(wide + 25, 2, "8");
    const size_t published = content.find("published:");
    if (published != std::string::npos) content.resize(published);
    const testbench::ScratchFile scratch(name + ".yaml", content);
    return import_model(scratch.path());
}

/// Without values: it runs to its end within its memories, and leaves nothing behind.
void expect_lawful(const Graph& graph) {
    for (const auto& chip : chips(arch::Dtype::kInt8)) {
        StreamedProgram stream(plan_graph(graph, chip, {}));
        const Plan& plan = stream.planned().plan;
        const auto programs = programs_of(stream);
        std::mt19937 random(0);
        Setting setting;
        setting.scalars[1] = kStreamDataBase;
        setting.scalars[2] = uint64_t{1} << 40;
        setting.scalars[3] = uint64_t{2} << 40;
        setting.device.push_back({setting.scalars[1], rubbish(plan.memory_bytes, random)});
        setting.host.push_back({setting.scalars[2], rubbish(plan.host_input_bytes, random)});
        setting.host.push_back({setting.scalars[3], rubbish(plan.host_output_bytes, random)});
        IsaInterpreter machine(chip, programs, setting, Order::number(9));
        EXPECT_NO_THROW(
            try { machine.run(); } catch (const std::runtime_error& error) {
                ADD_FAILURE() << error.what();
                throw;
            });
        EXPECT_EQ(machine.left_over(), "");
        uint64_t macs = 0;
        for (const Kernel& kernel : stream.planned().kernels.kernels) macs += kernel.macs;
        EXPECT_EQ(machine.macs(), macs);
    }
}

TEST(ListRuns, OfWideLstm1AreLawful) { expect_lawful(application("lstm1", false)); }
TEST(ListRuns, OfMlp0AreRight) { expect_right(application("mlp0")); }
TEST(ListRuns, OfLstm1AreRight) { expect_right(application("lstm1")); }
TEST(ListRuns, OfMlp1AreRight) { expect_right(application("mlp1")); }

}  // namespace
}  // namespace tandem::testbench
