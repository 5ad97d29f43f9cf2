// SPDX-License-Identifier: Apache-2.0
// Convolutions of one tap that move in strides load the pixels that they read and no others.
#include "compiler/emit/gather.h"

#include <gtest/gtest.h>

#include <map>

#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "compiler/plan/bounds.h"
#include "testbench/compiler/append_node.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"

namespace tandem::testbench {
namespace {

using namespace compiler;

int64_t pick(std::mt19937& random, int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

// ---- transfers

/// Far bytes in the order in which they come to lie in the buffer.
std::vector<uint64_t> bytes_of(const std::vector<Transfer>& transfers, uint32_t address) {
    std::vector<uint64_t> bytes;
    for (const Transfer& t : transfers) {
        EXPECT_EQ(t.address, address + bytes.size()) << "a gap in the buffer";
        for (uint64_t plane = 0; plane < t.planes; ++plane)
            for (uint64_t row = 0; row < t.rows; ++row)
                for (uint64_t i = 0; i < t.bytes; ++i)
                    bytes.push_back(t.offset + plane * t.plane_stride + row * t.stride + i);
    }
    return bytes;
}

/// The pixels that windows read, line by line.
std::vector<uint64_t> wanted_bytes(const Gather& g) {
    const ImageWindow& w = g.window;
    const uint64_t lines = w.skips_lines() ? w.out_h : w.in_h;
    const uint64_t columns = w.skips_pixels() ? w.out_w : w.in_w;
    std::vector<uint64_t> bytes;
    for (uint64_t pixel = g.pixels.begin; pixel < g.pixels.end; ++pixel) {
        const uint64_t image = pixel / columns / lines;
        const uint64_t line = pixel / columns % lines * (w.skips_lines() ? w.stride_h : 1);
        const uint64_t column = pixel % columns * (w.skips_pixels() ? w.stride_w : 1);
        for (uint64_t i = 0; i < g.bytes; ++i)
            bytes.push_back(((image * w.in_h + line) * w.in_w + column) * w.channels *
                                w.element_bytes +
                            g.offset + i);
    }
    return bytes;
}

ImageWindow strided(uint64_t images, uint64_t height, uint64_t width, uint64_t channels,
                    uint64_t stride_h, uint64_t stride_w) {
    ImageWindow w;
    w.images = images, w.in_h = height, w.in_w = width, w.channels = channels;
    w.stride_h = stride_h, w.stride_w = stride_w;
    w.out_h = (height - 1) / stride_h + 1, w.out_w = (width - 1) / stride_w + 1;
    return w;
}

TEST(Gather, TakesThePixelsThatAreReadInTheirOrder) {
    for (uint32_t seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        const auto size = [&](int64_t most) {
            return static_cast<uint64_t>(pick(random, 1, most));
        };
        Gather g;
        g.window = strided(size(3), size(7), size(7), size(5), size(3), size(3));
        const ImageWindow near = g.window.gathered();
        const uint64_t pixels = near.images * near.in_h * near.in_w;
        g.pixels.begin = random() % pixels;
        g.pixels.end = g.pixels.begin + 1 + random() % (pixels - g.pixels.begin);
        g.offset = random() % g.window.pixel_bytes();
        g.bytes = 1 + random() % (g.window.pixel_bytes() - g.offset);
        g.address = 100;
        EXPECT_EQ(bytes_of(gathered(0, g), g.address), wanted_bytes(g)) << "seed " << seed;
    }
}

TEST(Gather, IsOneTransferWhereImagesJoin) {
    const auto whole = [](const ImageWindow& w) {
        return gathered(0, {w, {0, w.images * w.out_h * w.out_w}, 0, w.pixel_bytes(), 0});
    };
    EXPECT_EQ(whole(strided(4, 8, 8, 3, 2, 2)).size(), 1u);
    EXPECT_EQ(whole(strided(4, 9, 8, 3, 3, 2)).size(), 1u);
    EXPECT_EQ(whole(strided(4, 7, 8, 3, 2, 2)).size(), 4u) << "an image has a line more";
    const ImageWindow w = strided(1, 8, 8, 3, 2, 2);
    EXPECT_EQ(gathered(0, {w, {1, 14}, 0, 3, 0}).size(), 3u) << "parts of lines at both ends";
}

TEST(Gather, SkipsNothingThatWindowsOfSeveralTapsOrPaddingNeed) {
    ImageWindow w = strided(1, 8, 8, 3, 2, 2);
    EXPECT_TRUE(w.skips_lines() && w.skips_pixels());
    w.kernel_h = 2;
    EXPECT_TRUE(!w.skips_lines() && w.skips_pixels());
    w = strided(1, 8, 8, 3, 2, 1);
    EXPECT_TRUE(w.skips_lines() && !w.skips_pixels());
    w = strided(1, 8, 8, 3, 2, 2);
    w.pad_left = 1;
    EXPECT_TRUE(w.skips_lines() && !w.skips_pixels());
    w = strided(1, 8, 8, 3, 2, 2);
    w.out_h = 5;  // the last line is padding
    EXPECT_TRUE(!w.skips_lines() && w.skips_pixels());
}

// ---- programs

struct Conv {
    int64_t images = 1, height = 8, width = 8, channels = 16, filters = 8;
    int64_t kernel_h = 1, kernel_w = 1, stride_h = 2, stride_w = 2;
};

/// One convolution whose input and output lie in `memory`.
Graph convolution(const Conv& c, Memory memory) {
    Graph graph;
    graph.file = "convolution";
    const auto tensor = [&](const char* name, const Shape& shape, bool constant) {
        Tensor t;
        t.name = name;
        t.shape = shape;
        t.is_constant = constant;
        t.memory = constant ? Memory::kDevice : memory;
        if (!constant) t.layout = Layout::kNhwc;
        const auto taps = static_cast<uint64_t>(c.kernel_h * c.kernel_w * c.channels);
        t.quantization = {{constant ? seeded_weight_scale(taps) : 1.0f}, {0}, 0};
        return graph.add(std::move(t));
    };
    WindowAttributes w;
    w.kernel_h = c.kernel_h, w.kernel_w = c.kernel_w;
    w.stride_h = c.stride_h, w.stride_w = c.stride_w;
    const TensorId in = tensor("in", {c.images, c.height, c.width, c.channels}, false);
    const TensorId weights =
        tensor("weights", {c.filters, c.kernel_h, c.kernel_w, c.channels}, true);
    const TensorId out = tensor("out",
                                {c.images, output_extent(c.height, c.kernel_h, c.stride_h, 1, 0),
                                 output_extent(c.width, c.kernel_w, c.stride_w, 1, 0), c.filters},
                                false);
    graph.inputs = {in};
    graph.outputs = {out};
    set_window(append_node(graph, Operator::kConv2d, {in, weights}, out), w);
    seed_constants(graph, 0);
    verify(graph);
    return graph;
}

/// Bytes that DMA engines bring into buffers, without parameters.
uint64_t loaded_bytes(const Planned& planned) {
    StreamedProgram stream(planned);
    uint64_t bytes = 0;
    for (const CoreProgram& program : programs_of(stream))
        for (const isa::Words& words : program.instructions) {
            const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(words));
            if (opcode != isa::Opcode::kReadHost && opcode != isa::Opcode::kReadMemory) continue;
            const auto read = isa::ReadMemory::decode(words);
            bytes += uint64_t{read.bytes} * read.rows * read.planes;
        }
    for (const Kernel& kernel : planned.kernels.kernels) bytes -= kernel.params_bytes;
    return bytes;
}

TEST(Gather, LoadsEveryPixelThatIsReadOnce) {
    const auto chip = test_chip(16, 16);
    for (const Conv& c :
         {Conv{4, 8, 8, 16, 8}, Conv{3, 7, 9, 16, 8}, Conv{2, 9, 9, 32, 16, 1, 1, 3, 2},
          Conv{1, 40, 20, 16, 8, 1, 1, 1, 2}, Conv{2, 12, 7, 16, 8, 1, 1, 3, 1}}) {
        const Planned planned = plan_graph(convolution(c, Memory::kDevice), chip, {});
        const CorePlan& share = planned.plan.kernels[0].cores[0];
        EXPECT_TRUE(share.gathers);
        const int64_t lines = (c.height - 1) / c.stride_h + 1;
        const int64_t columns = (c.width - 1) / c.stride_w + 1;
        EXPECT_EQ(loaded_bytes(planned),
                  static_cast<uint64_t>(c.images * lines * columns * c.channels));
        const Bounds bounds = lower_bounds(planned.kernels, planned.plan, chip).front();
        const uint64_t tiles = tiles_of(planned.plan.kernels[0]) * chip.tile_bytes();
        EXPECT_EQ(bounds.compulsory, loaded_bytes(planned) + tiles +
                                         static_cast<uint64_t>(c.images * lines * columns) *
                                             static_cast<uint64_t>(c.filters));
    }
}

TEST(Gather, IsNoneByRules) {
    CompileOptions rules;
    rules.plan = PlanMode::kRules;
    const Conv c;
    const Planned planned = plan_graph(convolution(c, Memory::kDevice), test_chip(16, 16), rules);
    EXPECT_FALSE(planned.plan.kernels[0].cores[0].gathers);
    EXPECT_EQ(loaded_bytes(planned),
              static_cast<uint64_t>(c.images * c.height * c.width * c.channels));
}

/// Any candidate, from buffers that hold all to those that hold next to nothing.
TEST(Gather, GivesTheSumsOfPlainLoops) {
    std::map<Way, int> gathered;
    int overlaps = 0, host = 0, partly = 0;
    for (uint32_t seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        Conv c{pick(random, 1, 4),
               pick(random, 1, 13),
               pick(random, 1, 13),
               pick(random, 1, 90),
               pick(random, 1, 30),
               1,
               1,
               pick(random, 1, 3),
               pick(random, 1, 3)};
        if (seed % 8 == 1) c.kernel_h = pick(random, 1, std::min<int64_t>(c.height, 3));
        if (seed % 8 == 2) c.kernel_w = pick(random, 1, std::min<int64_t>(c.width, 3));
        const Graph graph = convolution(c, seed % 3 == 0 ? Memory::kHost : Memory::kDevice);
        auto chip = random_chip(random);
        CompileOptions options;
        if (seed % 4 != 0) options.forced = random();
        const uint64_t least = smallest_buffer(graph, chip, options);
        chip.unified_buffer_bytes =
            std::min<uint64_t>(chip.unified_buffer_bytes, least * (10 + seed % 4 * 7) / 10);
        const Case one(graph, chip, options, seeded_inputs(graph, 1, seed), seed);
        const CorePlan& share = one.planned().plan.kernels[0].cores[0];
        const ImageWindow& window = one.planned().kernels.kernels[0].matmul()->window;
        gathered[share.in] += share.gathers;
        host += share.gathers && seed % 3 == 0;
        overlaps += share.gathers && share.in == Way::kChunks && share.chunks.size() > 1 &&
                    share.in_step < share.in_piece;
        partly += share.gathers && window.skips_lines() != window.skips_pixels();
        const auto programs = one.streams();
        for (const uint32_t order : {1u, seed * 4})
            EXPECT_EQ(one.fault(programs, Order::number(order)), "")
                << "seed " << seed << ", order " << order << ", " << text_of(chip);
    }
    for (const Way way : {Way::kWhole, Way::kChunks, Way::kSlices})
        EXPECT_GT(gathered[way], 4) << "way " << static_cast<int>(way);
    for (const int times : {overlaps, host, partly}) EXPECT_GT(times, 4);
}

}  // namespace
}  // namespace tandem::testbench
