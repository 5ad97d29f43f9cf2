// SPDX-License-Identifier: Apache-2.0
// Narrow 1x1 convolutions and products, several pixels in a row: which, how many, and that nothing
// else changes.
#include "compiler/plan/packing.h"

#include <gtest/gtest.h>

#include "compiler/explain.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/append_node.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

using Pixels = std::vector<uint32_t>;

/// A chain of 1x1 convolutions; in between and at the end what a test adds.
class Pointwise {
  public:
    explicit Pointwise(const Shape& input, ElementType type = ElementType::kInt8) : type_(type) {
        graph_.file = "pointwise";
        last_ = add_tensor(input, {0.5f}, 3);
        graph_.inputs = {last_};
    }

    Pointwise& conv(int64_t filters, const WindowAttributes& window = {}) {
        const Shape in = graph_.tensors[last_].shape;
        const Shape out{in[0],
                        output_extent(in[1], window.kernel_h, window.stride_h, 1,
                                      window.pad_top + window.pad_bottom),
                        output_extent(in[2], window.kernel_w, window.stride_w, 1,
                                      window.pad_left + window.pad_right),
                        filters};
        add(Operator::kConv2d, {filters, window.kernel_h, window.kernel_w, in[3]}, out, filters);
        set_window(graph_.nodes.back(), window);
        return *this;
    }

    Pointwise& fully_connected(int64_t n) {
        const Shape in = graph_.tensors[last_].shape;
        add(Operator::kFullyConnected, {n, in[1]}, {in[0], n}, n);
        return *this;
    }

    /// Constants seeded.
    Graph graph() {
        graph_.outputs = {last_};
        seed_constants(graph_, 7);
        verify(graph_);
        return graph_;
    }

  private:
    TensorId add_tensor(const Shape& shape, std::vector<float> scales, int32_t zero_point) {
        Tensor t;
        t.name = "t" + std::to_string(graph_.tensors.size());
        t.shape = shape;
        t.type = type_;
        if (shape.size() == 4) t.layout = Layout::kNhwc;
        if (type_ == ElementType::kInt8) {
            t.quantization.zero_points.assign(scales.size(), zero_point);
            t.quantization.scales = std::move(scales);
        }
        return graph_.add(std::move(t));
    }

    /// Scales differ from channel to channel, so that parameters in the wrong place show.
    void add(Operator op, const Shape& weights, const Shape& out, int64_t channels) {
        std::vector<float> scales;
        for (int64_t c = 0; c < channels; ++c)
            scales.push_back(0.01f + 0.001f * static_cast<float>(c % 7));
        const TensorId w = add_tensor(weights, std::move(scales), 0);
        graph_.tensors[w].is_constant = true;
        const TensorId result = add_tensor(out, {0.75f}, -5);
        append_node(graph_, op, {last_, w}, result);
        last_ = result;
    }

    Graph graph_;
    ElementType type_;
    TensorId last_ = 0;
};

/// By the rules, which never pack.
Kernel plain_kernel(const Graph& graph, const arch::ChipConfig& chip) {
    CompileOptions options;
    options.plan = PlanMode::kRules;
    return plan_graph(graph, chip, options).kernels.kernels.front();
}

Pixels pixels(const Graph& graph, const arch::ChipConfig& chip, uint32_t cores = 1) {
    return pixels_per_row(plain_kernel(graph, chip), chip, cores);
}

/// Pixels in a row of each product, as compiled.
Pixels packed(const Graph& graph, const arch::ChipConfig& chip,
              const CompileOptions& options = {}) {
    Pixels all;
    for (const Kernel& kernel : plan_graph(graph, chip, options).kernels.kernels)
        if (kernel.matmul() != nullptr) all.push_back(kernel.matmul()->packed_pixels);
    return all;
}

Graph narrow_conv(int64_t height, int64_t width, int64_t k, int64_t n) {
    return Pointwise({1, height, width, k}).conv(n).graph();
}

// ---- which

TEST(Packing, TakesDivisorsOfALineThatUseMoreOfTheTiles) {
    const auto chip = test_chip(16, 16);
    // One tile of 16 x 16 for 2 x 4 weights: p copies use a p-th at most, of which 8 are left over
    // 256, so that fewer than 32 pixels can gain.
    EXPECT_EQ(pixels(narrow_conv(3, 24, 2, 4), chip), (Pixels{1, 2, 3, 4, 6, 8, 12, 24}));
    EXPECT_EQ(pixels(narrow_conv(3, 13, 2, 4), chip), (Pixels{1, 13}));
    EXPECT_EQ(pixels(narrow_conv(3, 24, 16, 16), chip), (Pixels{1}));
    // 24 rows of weights take two tiles, 48 three.
    EXPECT_EQ(pixels(narrow_conv(3, 24, 24, 8), chip), (Pixels{1, 2}));
}

TEST(Packing, OfRowsTakesWhatDividesThoseOfEachCore) {
    const auto chip = test_chip(16, 16);
    const Graph graph = Pointwise({24, 8}).fully_connected(4).graph();
    EXPECT_EQ(pixels(graph, chip, 1), (Pixels{1, 2, 3, 4, 6}));
    EXPECT_EQ(pixels(graph, chip, 4), (Pixels{1, 2, 3, 6}));
    EXPECT_EQ(pixels(graph, chip, 5), (Pixels{1}));
}

TEST(Packing, IsOfWindowsThatReadEveryPixelOnce) {
    const auto chip = test_chip(16, 16);
    WindowAttributes strided, padded, wide;
    strided.stride_h = strided.stride_w = 2;
    padded.pad_left = padded.pad_right = 1;
    wide.kernel_h = wide.kernel_w = 3;
    wide.pad_top = wide.pad_bottom = wide.pad_left = wide.pad_right = 1;
    for (const auto& window : {strided, padded, wide})
        EXPECT_EQ(pixels(Pointwise({1, 8, 8, 4}).conv(4, window).graph(), chip), (Pixels{1}));
    EXPECT_NE(pixels(Pointwise({1, 8, 8, 4}).conv(4).graph(), chip), (Pixels{1}));
}

TEST(Packing, IsOfInt8Alone) {
    auto chip = test_chip(16, 16);
    chip.mxu.dtype = arch::Dtype::kBf16;
    EXPECT_EQ(pixels(Pointwise({1, 8, 8, 4}, ElementType::kBf16).conv(4).graph(), chip),
              (Pixels{1}));
}

// ---- how

TEST(Packing, MakesTheWeightsBlockDiagonalAndRepeatsParameters) {
    const auto chip = test_chip(16, 16);
    const Kernel before = plain_kernel(narrow_conv(3, 12, 3, 5), chip);
    Kernel after = before;
    pack(after, 4, chip);
    const MatmulWork& work = *after.matmul();
    const MatmulGroup &plain = before.matmul()->groups[0], &group = work.groups[0];
    EXPECT_EQ(group.k, 12u);
    EXPECT_EQ(group.n, 20u);
    EXPECT_EQ(group.channels, 12u);
    EXPECT_EQ(work.out_channels, 20u);
    EXPECT_EQ(work.window.out_w, 3u);
    EXPECT_EQ(work.window.channels, 12u);
    EXPECT_EQ(work.window.image_bytes(), before.matmul()->window.image_bytes());
    ASSERT_EQ(group.weights.size(), 12u * 20u);
    for (uint32_t k = 0; k < 12; ++k)
        for (uint32_t n = 0; n < 20; ++n) {
            const uint8_t expected =
                k / 3 == n / 5 ? plain.weights[(k % 3) * 5 + n % 5] : uint8_t{0};
            EXPECT_EQ(group.weights[k * 20 + n], expected) << k << ", " << n;
        }
    // Zero points of the input are folded in for the plain columns.
    ASSERT_EQ(after.params.size(), 4 * before.params.size());
    for (size_t at = 0; at < after.params.size(); ++at)
        EXPECT_EQ(after.params[at], before.params[at % before.params.size()]) << at;
}

TEST(Packing, CountsNoZerosAmongUsefulColumns) {
    MatmulGroup group;
    group.n = 30;
    group.useful_n = 7;
    uint32_t sum = 0;
    for (uint32_t first = 0; first < 30; first += 4)
        sum += group.useful_columns(first, std::min(4u, 30 - first));
    EXPECT_EQ(sum, 7u);
    EXPECT_EQ(group.useful_columns(0, 30), 7u);
}

// ---- where it pays

/// 16x16 with lanes for a row.
arch::ChipConfig chip_16x16() {
    auto chip = test_chip(16, 16);
    chip.vector.lanes = 16;
    return chip;
}

TEST(Packing, PaysWhereRowsAreWhatTakesTime) {
    auto chip = chip_16x16();
    const auto long_rows = [](int64_t k, int64_t n) {
        return Pointwise({1, 32, 32, 3}).conv(k).conv(n).graph();
    };
    EXPECT_EQ(packed(long_rows(4, 4), chip), (Pixels{4, 4}));
    EXPECT_EQ(packed(long_rows(4, 8), chip).back(), 2u);
    EXPECT_EQ(packed(long_rows(16, 16), chip).back(), 1u);
    // Two pixels of 24 channels take three tiles in place of four.
    EXPECT_EQ(packed(long_rows(24, 8), chip).back(), 2u);
    // Sixteen columns are drained in two cycles, eight in one.
    chip.vector.lanes = 8;
    EXPECT_EQ(packed(long_rows(4, 8), chip).back(), 1u);
    CompileOptions rules;
    rules.plan = PlanMode::kRules;
    EXPECT_EQ(packed(long_rows(4, 4), chip, rules), (Pixels{1, 1}));
}

TEST(Packing, DoesNotPayWhereTilesOrMemoryTakeTheTime) {
    auto chip = chip_16x16();
    // 16 rows stream while a tile of 16 rows goes into the array.
    EXPECT_EQ(packed(narrow_conv(2, 8, 4, 4), chip), (Pixels{1}));
    const Graph graph = narrow_conv(32, 32, 4, 4);
    Graph in_memory = graph;
    in_memory.tensors[in_memory.inputs[0]].memory = Memory::kDevice;
    in_memory.tensors[in_memory.outputs[0]].memory = Memory::kDevice;
    chip.memory.bytes_per_second = 32'000'000'000;
    EXPECT_EQ(packed(in_memory, chip), (Pixels{4}));
    chip.memory.bytes_per_second = 1'000'000'000;
    EXPECT_EQ(packed(in_memory, chip), (Pixels{1}));
}

/// Column tiles behind the first one would begin when all of the host's input is there.
TEST(Packing, OfTheHostsInputAddsNoColumnTiles) {
    const auto chip = chip_16x16();
    const Graph graph = narrow_conv(64, 32, 4, 12);
    EXPECT_EQ(packed(graph, chip), (Pixels{1}));
    Graph in_memory = graph;
    in_memory.tensors[in_memory.inputs[0]].memory = Memory::kDevice;
    EXPECT_EQ(packed(in_memory, chip), (Pixels{4}));
}

TEST(Packing, IsToldByExplain) {
    const auto planned =
        plan_graph(Pointwise({1, 32, 32, 3}).conv(4).conv(8).graph(), chip_16x16(), {});
    const auto kernels = explain(planned);
    EXPECT_EQ(kernels[1].pixels, 2u);
    EXPECT_NE(explanation_text(kernels).find("packs 2 pixels into a row"), std::string::npos);
}

// ---- the same results

/// Any number of pixels, whether it pays or not; widths that have many divisors.
TEST(Packing, ChangesNoResult) {
    int with_packing = 0, several_tiles = 0;
    for (uint32_t seed = 0; seed < 120; ++seed) {
        std::mt19937 random(seed);
        const auto pick = [&](int64_t low, int64_t high) {
            return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
        };
        const bool image = seed % 3 != 0;
        const std::array widths{4, 6, 8, 12};
        Pointwise net(image ? Shape{pick(1, 2), pick(1, 5), widths[pick(0, 3)], pick(1, 12)}
                            : Shape{12 * pick(1, 5), pick(1, 12)});
        for (int64_t i = pick(1, 3); i > 0; --i)
            image ? net.conv(pick(1, 12)) : net.fully_connected(pick(1, 12));
        auto chip = random_chip(random);
        CompileOptions options;
        options.batch = 1 + static_cast<uint32_t>(random() % 3);
        options.forced_packing = random();
        if (seed % 2 == 0) options.forced = random();
        if (seed % 5 == 0) options.rounds = 2;
        options.use_cmem = seed % 7 < 4;  // an image's weights are loaded elsewhere
        const Graph graph = net.graph();
        if (seed % 4 == 0) chip.unified_buffer_bytes = smallest_buffer(graph, chip, options);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + text_of(chip));
        const Case c(graph, chip, options, seeded_inputs(graph, options.batch, seed), seed);
        for (const Kernel& kernel : c.planned().kernels.kernels) {
            with_packing += kernel.matmul()->packed_pixels > 1;
            several_tiles +=
                kernel.matmul()->packed_pixels > 1 && kernel.matmul()->groups[0].n > chip.mxu.cols;
        }
        const auto programs = options.use_cmem ? c.streams() : c.image();
        for (const uint32_t order : {0u, 1u, seed * 4 + 2, seed * 4 + 3}) {
            EXPECT_EQ(c.fault(programs, Order::number(order)), "") << "order " << order;
        }
    }
    EXPECT_GT(with_packing, 60);
    EXPECT_GT(several_tiles, 20);
}

}  // namespace
}  // namespace tandem::testbench
