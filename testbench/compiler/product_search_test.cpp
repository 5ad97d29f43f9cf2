// SPDX-License-Identifier: Apache-2.0
// What the search for a product's schedule promises of its candidates, whatever they cost.
#include "compiler/plan/product_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compiler/plan/product_grid.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_list.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

/// A product of one group; the graph holds its values.
struct Product {
    KernelGraph graph;
    std::vector<ColumnTile> tiles;

    Product(uint32_t m, uint32_t k, uint32_t n, const arch::ChipConfig& chip) {
        graph.values = {{"in", 0, uint64_t{m} * k}, {"out", 1, uint64_t{m} * n}};
        MatmulWork work;
        work.window.images = m;
        work.window.channels = k;
        work.out_channels = n;
        work.groups = {{0, k, 0, k, n, n, {}}};
        const uint32_t k_tiles = (k + chip.mxu.rows - 1) / chip.mxu.rows;
        for (uint32_t at = 0; at < n; at += chip.mxu.cols)
            tiles.push_back({0, at, std::min(chip.mxu.cols, n - at),
                             static_cast<uint32_t>(tiles.size()) * k_tiles, k_tiles});
        Kernel kernel;
        kernel.inputs = {0};
        kernel.output = 1;
        kernel.work = work;
        graph.kernels.push_back(kernel);
    }

    /// The plan of the lines from `begin` on.
    std::optional<CorePlan> plan(const arch::ChipConfig& chip, std::optional<uint64_t> forced = {},
                                 uint64_t begin = 0) const {
        PieceRequest request;
        request.mode = PlanMode::kSearch;
        request.room = chip.unified_buffer_bytes;
        request.forced = forced;
        CorePlan share;
        share.lines = {begin, lines_of(graph.kernels[0])};
        share.tiles = {0, tiles.size()};
        if (!cut_into_pieces(graph.kernels[0], graph, tiles, chip, request, share)) return {};
        return share;
    }
};

Product random_product(std::mt19937& random, const arch::ChipConfig& chip) {
    const auto size = [&](double most) {
        return static_cast<uint32_t>(std::exp2(std::uniform_real_distribution(0.0, most)(random)));
    };
    return {size(11), size(9), size(9), chip};
}

/// By which candidates are compared: a doubling of machine has to gain something.
double score(const CorePlan& share) {
    return search_score(share.cycles, share.dealing.arrays, share.dealing.block_rows,
                        share.weights_ahead);
}

TEST(ProductSearch, NeverFindsWorseOnALargerMachine) {
    int planned = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const auto chip = random_chip(random);
        const Product product = random_product(random, chip);
        const auto before = product.plan(chip);
        if (!before) continue;
        ++planned;
        int figure = 0;
        for (const auto larger : {+[](arch::ChipConfig& c) { c.mxu.accumulator_rows *= 2; },
                                  +[](arch::ChipConfig& c) { c.unified_buffer_bytes *= 2; },
                                  +[](arch::ChipConfig& c) { c.mxu.count *= 2; },
                                  +[](arch::ChipConfig& c) { c.mxu.weight_fifo_tiles *= 2; },
                                  +[](arch::ChipConfig& c) { c.memory.bytes_per_second *= 2; },
                                  +[](arch::ChipConfig& c) { c.memory.latency_ps /= 2; }}) {
            auto machine = chip;
            larger(machine);
            const auto after = product.plan(machine);
            ASSERT_TRUE(after) << "seed " << seed;
            EXPECT_LE(score(*after), score(*before) * (1 + 1e-9))
                << "seed " << seed << ", figure " << figure;
            ++figure;
        }
    }
    EXPECT_GT(planned, 300);
}

/// What the search leaves out by its bound is no better than what it takes.
TEST(ProductSearch, NoCandidateIsBetterThanTheOneThatItTakes) {
    int compared = 0;
    for (uint32_t seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        auto chip = random_chip(random);
        chip.unified_buffer_bytes >>= random() % 4;
        const Product product = random_product(random, chip);
        const auto best = product.plan(chip);
        if (!best) continue;
        for (int i = 0; i < 50; ++i, ++compared) {
            const uint64_t candidate = random();
            EXPECT_LE(score(*best), score(*product.plan(chip, candidate)) * (1 + 1e-9))
                << "seed " << seed << ", candidate " << candidate;
        }
    }
    EXPECT_GT(compared, 5000);
}

/// Every candidate keeps to the accumulators, the arrays and the room that it was given, and cuts
/// its lines into chunks that follow one another.
TEST(ProductSearch, FitsWhateverItTakes) {
    std::set<Way> in, out;
    int rings = 0, overlaps = 0, few = 0;
    for (uint32_t seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        auto chip = random_chip(random);
        chip.unified_buffer_bytes >>= random() % 4;
        const Product product = random_product(random, chip);
        const auto share = product.plan(chip, random());
        if (!share) continue;
        in.insert(share->in);
        out.insert(share->out);
        rings += share->dealing.ring;
        overlaps += share->in_step < share->in_piece && share->chunks.size() > 1;
        few += share->dealing.arrays < chip.mxu.count;
        EXPECT_LE(in_area_bytes(*share) + out_area_bytes(*share), chip.unified_buffer_bytes);
        EXPECT_LE(share->dealing.arrays, chip.mxu.count);
        uint64_t line = 0;
        for (const Chunk& chunk : share->chunks) {
            EXPECT_EQ(chunk.lines.begin, line);
            line = chunk.lines.end;
            const BlockGrid grid = grid_of(*share, chunk.lines.size(), chip);
            for (const uint64_t blocks : {grid.blocks, grid.rest_blocks}) {
                if ((blocks == grid.blocks && grid.full() == 0) || grid.rest() == 0) continue;
                EXPECT_LE((grid.rows + blocks - 1) / blocks, chip.mxu.accumulator_rows);
            }
            if (share->in == Way::kChunks) {
                EXPECT_LE(chunk.input.size(), share->in_piece);
            }
        }
        EXPECT_EQ(line, share->lines.end);
    }
    EXPECT_EQ(in, (std::set{Way::kWhole, Way::kChunks, Way::kSlices}));
    EXPECT_EQ(out, (std::set{Way::kChunks, Way::kWaves}));
    for (const int times : {rings, overlaps, few}) EXPECT_GT(times, 20);
}

/// Slices are of rows: where an image ends within the share they are one chunk all the same.
TEST(ProductSearch, SlicesOfSeveralImagesAreOneChunk) {
    const auto chip = test_chip(8, 8);
    Product product(24, 40, 8, chip);
    auto& window = std::get<MatmulWork>(product.graph.kernels[0].work).window;
    window.images = 4, window.in_h = window.out_h = 6;
    int slices = 0;
    for (uint64_t forced = 0; forced < 400; ++forced) {
        const auto share = product.plan(chip, forced, 4);
        ASSERT_TRUE(share);
        if (share->in != Way::kSlices) continue;
        ++slices;
        ASSERT_EQ(share->chunks.size(), 1u);
        EXPECT_EQ(share->chunks[0].lines, (Range{4, 24}));
        EXPECT_EQ(share->chunks[0].input, (Range{4 * 40, 24 * 40}));
    }
    EXPECT_GT(slices, 20);
}

}  // namespace
}  // namespace tandem::testbench
