// SPDX-License-Identifier: Apache-2.0
// Products as blocks of rows, column tiles and K tiles, told from the programs that they become.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/data.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_list.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

bool is(const isa::Words& words, isa::Opcode opcode) {
    return isa::opcode_of(words) == static_cast<uint32_t>(opcode);
}

/// [m,k] times [groups,n,k], seeded.
Graph product(int64_t m, int64_t k, int64_t n, int64_t groups = 1,
              ElementType type = ElementType::kInt8) {
    Graph graph;
    graph.file = "product";
    const auto tensor = [&](const char* name, const Shape& shape, bool constant) {
        Tensor t;
        t.name = name;
        t.shape = shape;
        t.type = type;
        t.is_constant = constant;
        if (type == ElementType::kInt8) t.quantization = {{1.0f}, {0}, 0};
        return graph.add(std::move(t));
    };
    Node node;
    node.op = groups == 1 ? Operator::kFullyConnected : Operator::kGroupedMatmul;
    node.inputs = {tensor("in", {m, k}, false),
                   tensor("weights", groups == 1 ? Shape{n, k} : Shape{groups, n, k}, true)};
    node.outputs = {tensor("out", {m, n * groups}, false)};
    graph.inputs = {node.inputs[0]};
    graph.outputs = node.outputs;
    graph.nodes.push_back(std::move(node));
    seed_constants(graph, 0);
    verify(graph);
    return graph;
}

struct Product {
    Graph graph;
    Planned planned;
    std::vector<CoreProgram> programs;
};

Product planned_product(const Graph& graph, const arch::ChipConfig& chip,
                        const CompileOptions& options = {}) {
    Product p{graph, plan_graph(graph, chip, options), {}};
    StreamedProgram stream(p.planned);
    p.programs = programs_of(stream);
    return p;
}

/// By rules, as the search has it, or any candidate.
Product random_product(uint32_t seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int64_t low, int64_t high) {
        return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
    };
    const Graph graph = product(pick(1, 300), pick(1, 40), pick(1, 30), pick(1, 3));
    auto chip = random_chip(random);
    CompileOptions options;
    if (seed % 3 == 0) options.plan = PlanMode::kRules;
    if (seed % 3 == 1) options.forced = random();
    if (seed % 2 == 0) chip.unified_buffer_bytes = smallest_buffer(graph, chip, options);
    return planned_product(graph, chip, options);
}

/// For every instruction of the kind: visit(core, decoded, source).
template <class Instruction, class Visit>
void for_each(const Product& p, const Visit& visit) {
    for (size_t core = 0; core < p.programs.size(); ++core)
        for (size_t i = 0; i < p.programs[core].instructions.size(); ++i) {
            const isa::Words& words = p.programs[core].instructions[i];
            if (is(words, Instruction::kOpcode))
                visit(core, Instruction::decode(words), p.programs[core].sources[i]);
        }
}

TEST(Blocks, ComputeEveryOutputOnce) {
    for (uint32_t seed = 0; seed < 180; ++seed) {
        const Product p = random_product(seed);
        const auto& mxu = p.planned.chip.mxu;
        const Shape& out = p.graph.tensors[p.graph.outputs[0]].shape;
        std::vector<int> done(static_cast<size_t>(out[0] * out[1]));
        for_each<isa::Matmul>(p, [&](size_t, const isa::Matmul& m, const auto&) {
            EXPECT_LE(m.acc_addr + m.rows, mxu.accumulator_rows) << "seed " << seed;
            const KernelPlan& plan = p.planned.plan.kernels[0];
            const bool ring = std::ranges::any_of(
                plan.cores, [](const CorePlan& share) { return share.dealing.ring; });
            if (p.planned.plan.mode == PlanMode::kRules && !ring) {
                EXPECT_LE(m.rows, half_accumulators(p.planned.chip)) << "seed " << seed;
            }
        });
        for_each<isa::Requantise>(p, [&](size_t, const isa::Requantise& a, const auto& source) {
            EXPECT_LE(a.cols, mxu.cols) << "seed " << seed;
            for (uint64_t m = source.m_start; m < source.m_start + uint64_t{a.rows}; ++m)
                for (uint32_t c = 0; c < a.cols; ++c)
                    ++done.at(m * static_cast<uint64_t>(out[1]) + source.n_start + c);
        });
        for (const int times : done) ASSERT_EQ(times, 1) << "seed " << seed;
    }
}

/// Number of the tile that holds an output channel and an element of the reduction.
uint64_t tile_of(const Product& p, uint32_t channel, uint32_t k) {
    const KernelPlan& plan = p.planned.plan.kernels[0];
    const auto& groups = p.planned.kernels.kernels[0].matmul()->groups;
    for (const ColumnTile& tile : plan.tiles)
        if (groups[tile.group].out_channel + tile.n_start == channel)
            return tile.first_tile + k / p.planned.chip.mxu.rows;
    throw std::logic_error("no tile begins at this channel");
}

TEST(Blocks, FetchTheTilesThatTheirProductsSwitchToInTheirOrder) {
    for (uint32_t seed = 0; seed < 180; ++seed) {
        const Product p = random_product(seed);
        using PerArray = std::map<std::pair<size_t, uint32_t>, std::vector<uint64_t>>;
        PerArray fetched, used;
        const uint64_t first = p.planned.plan.kernels[0].weight_offset;
        for_each<isa::ReadWeights>(p, [&](size_t core, const isa::ReadWeights& r, const auto&) {
            const uint64_t offset = (uint64_t{r.offset_high} << 32) + r.offset - first;
            for (uint32_t i = 0; i < r.tiles; ++i)
                fetched[{core, r.mxu}].push_back(offset / p.planned.chip.tile_bytes() + i);
        });
        for_each<isa::Matmul>(p, [&](size_t core, const isa::Matmul& m, const auto& source) {
            if (m.new_weights != 0)
                used[{core, m.mxu}].push_back(tile_of(p, source.n_start, source.k_start));
        });
        EXPECT_EQ(fetched, used) << "seed " << seed;
    }
}

TEST(Blocks, LayOutEveryWeightAtItsPlaceInItsTile) {
    auto chip = test_chip(7, 5);
    const Product p = planned_product(product(3, 40, 12, 3), chip);
    const KernelPlan& plan = p.planned.plan.kernels[0];
    const auto data = make_data(p.planned).front().bytes;
    const auto& weights = p.graph.input(p.graph.nodes[0], 1).bytes();
    size_t tiles = 0;
    for (const ColumnTile& tile : plan.tiles) {
        tiles += tile.k_tiles;
        for (uint32_t k = 0; k < tile.k_tiles * 7; ++k)
            for (uint32_t n = 0; n < 5; ++n) {
                const bool inside = k < 40 && n < tile.n_len;
                const size_t at = plan.weight_offset + (size_t{tile.first_tile} * 7 + k) * 5 + n;
                // The graph's weights lie [group][n][k].
                const size_t from = (size_t{tile.group} * 12 + tile.n_start + n) * 40 + k;
                ASSERT_EQ(data.at(at), inside ? weights[from] : 0) << "k " << k << ", n " << n;
            }
    }
    EXPECT_EQ(tiles, 3u * 6 * 3);
}

TEST(Blocks, KeepATileForAllWhenOneIsEnough) {
    auto chip = test_chip(8, 8);
    chip.mxu.accumulator_rows = 32;
    CompileOptions rules;
    rules.plan = PlanMode::kRules;
    const Product p = planned_product(product(64, 8, 4), chip, rules);
    std::vector<int> loads;
    for_each<isa::Matmul>(p, [&](size_t, const isa::Matmul& m, const auto&) {
        loads.push_back(static_cast<int>(m.new_weights));
    });
    EXPECT_EQ(loads, (std::vector<int>{1, 0, 0, 0}));
    uint32_t tiles = 0;
    for_each<isa::ReadWeights>(
        p, [&](size_t, const isa::ReadWeights& r, const auto&) { tiles += r.tiles; });
    EXPECT_EQ(tiles, 1u);
}

TEST(Blocks, AreDrainedInPartsThatAreWorthIt) {
    auto chip = test_chip(8, 8);
    chip.mxu.accumulator_rows = 4096;
    for (const uint32_t rows : {1u, 63u, 127u, 128u, 255u, 2048u}) {
        CompileOptions rules;
        rules.plan = PlanMode::kRules;
        const Product p = planned_product(product(rows, 8, 4), chip, rules);
        std::vector<uint32_t> parts;
        for_each<isa::Requantise>(
            p, [&](size_t, const isa::Requantise& a, const auto&) { parts.push_back(a.rows); });
        EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0u), rows);
        EXPECT_LE(parts.size(), 4u);
        EXPECT_EQ(parts.size() > 1, rows >= 128) << rows;
        for (const uint32_t part : parts) EXPECT_GE(part, std::min(rows, 64u)) << rows;
    }
}

TEST(Blocks, BelowAllAccumulatorsAreOneByRules) {
    auto chip = test_chip(8, 8);
    CompileOptions rules;
    rules.plan = PlanMode::kRules;
    const auto fetched = [&](int64_t rows, uint32_t arrays) {
        chip.mxu.count = arrays;
        chip.mxu.accumulator_rows = 200;
        uint32_t tiles = 0;
        for_each<isa::ReadWeights>(
            planned_product(product(rows, 24, 16), chip, rules),
            [&](size_t, const isa::ReadWeights& r, const auto&) { tiles += r.tiles; });
        return tiles;
    };
    EXPECT_EQ(fetched(100, 1), 6u) << "half of them";
    EXPECT_EQ(fetched(150, 1), 6u);
    EXPECT_EQ(fetched(200, 1), 6u) << "all";
    EXPECT_EQ(fetched(201, 1), 18u) << "three blocks of at most 100 rows";
    EXPECT_EQ(fetched(150, 2), 12u) << "halves, where arrays can share the rows";
}

TEST(Blocks, OfBf16HaveTwoBytesAnElement) {
    auto chip = test_chip(2, 4);
    chip.mxu.dtype = arch::Dtype::kBf16;
    Graph graph = product(1, 3, 5, 1, ElementType::kBf16);
    // Element (k, n) has the bytes 10 * k + n and 100.
    std::vector<uint8_t> bytes;
    for (int n = 0; n < 5; ++n)
        for (int k = 0; k < 3; ++k) {
            bytes.push_back(static_cast<uint8_t>(10 * k + n));
            bytes.push_back(100);
        }
    graph.tensors[graph.nodes[0].inputs[1]].set_bytes(bytes);
    const Product p = planned_product(graph, chip);
    const auto data = make_data(p.planned).front().bytes;
    const size_t first = p.planned.plan.kernels[0].weight_offset;
    ASSERT_GE(data.size(), first + 4 * 2 * 4 * 2);
    // Two tiles of k for columns 0 to 3, two for column 4.
    for (size_t tile = 0; tile < 4; ++tile)
        for (size_t row = 0; row < 2; ++row)
            for (size_t column = 0; column < 4; ++column) {
                const size_t k = tile % 2 * 2 + row, n = tile / 2 * 4 + column;
                const uint8_t* at = &data[first + ((tile * 2 + row) * 4 + column) * 2];
                const bool inside = k < 3 && n < 5;
                EXPECT_EQ(int{at[0]}, inside ? static_cast<int>(10 * k + n) : 0) << k << ", " << n;
                EXPECT_EQ(int{at[1]}, inside ? 100 : 0) << k << ", " << n;
            }
}

}  // namespace
}  // namespace tandem::testbench
