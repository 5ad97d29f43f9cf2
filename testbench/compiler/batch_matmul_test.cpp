// SPDX-License-Identifier: Apache-2.0
// Products of two activations: TFLite's kernel vectors, a block of attention, what is left out
// where a zero point is 0, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "compiler/graph/text.h"
#include "testbench/compiler/kernel_vectors.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/support/attention_graph.h"

namespace tandem::testbench {
namespace {

using compiler::CompileOptions;
using numerics::Rounding;

std::string tensor(int id, const std::string& type, const std::string& shape, int zero_point) {
    return "tensor %" + std::to_string(id) + " \"t" + std::to_string(id) + "\" " + type + " " +
           shape +
           (type == "INT8" ? " scales=0.05 zero_points=" + std::to_string(zero_point) : "") + "\n";
}

std::string product(const std::string& a, const std::string& b, const std::string& out,
                    const std::string& attributes = "", int zero_a = 0, int zero_b = 0,
                    const std::string& type = "INT8") {
    return "tgraph 1\n" + tensor(0, type, a, zero_a) + tensor(1, type, b, zero_b) +
           tensor(2, type, out, 4) + "node 0 BATCH_MATMUL \"n\" inputs=%0,%1 outputs=%2" +
           attributes + "\ninputs %0,%1\noutputs %2\n";
}

// ---- kernel vectors

/// Scales whose product, taken through the output's, is the factor that the file has in Q31: of
/// many first ones one that does.
void set_scales(compiler::Graph& graph, int32_t multiplier, int32_t shift) {
    const double factor = std::ldexp(multiplier, shift - 31);
    for (float a = 0.5f; a < 1; a = std::nextafter(a, 1.0f)) {
        const auto b = static_cast<float>(factor / double{a});
        const NaiveScale made = naive_quantise(double{a} * double{b});
        if (made.multiplier != multiplier || made.shift != shift) continue;
        graph.tensors[0].quantization.scales = {a};
        graph.tensors[1].quantization.scales = {b};
        graph.tensors[2].quantization.scales = {1.0f};
        return;
    }
    FAIL() << "no scales make " << multiplier << " and " << shift;
}

compiler::Graph graph_of(const KernelVector& v) {
    const auto shape = [&](const std::string& side) {
        std::string text;
        for (const char* part : {"_BATCH", "_HEIGHT", "_ROWS", "_COLS"})
            text += (text.empty() ? "" : "x") + std::to_string(v.number(side + part));
        return text;
    };
    compiler::Graph graph =
        compiler::parse_graph(product(shape("LHS"), shape("RHS"), shape("OUTPUT"),
                                      " adj_x=" + std::to_string(v.number("ADJ_X")) +
                                          " adj_y=" + std::to_string(v.number("ADJ_Y")),
                                      -v.number("LHS_OFFSET"), -v.number("RHS_OFFSET")),
                              "vector");
    graph.tensors[2].quantization.zero_points = {v.number("OUTPUT_OFFSET")};
    set_scales(graph, v.number("OUTPUT_MULTIPLIER"), v.number("OUTPUT_SHIFT"));
    return graph;
}

TEST(BatchMatmulVectors, AreExact) {
    TANDEM_NEEDS_MODELS();
    for (const char* name : {"batch_matmul_1_s8", "batch_matmul_3_s8", "batch_matmul_4_s8"}) {
        SCOPED_TRACE(name);
        const KernelVector v(name);
        CompileOptions options;
        options.rounding = Rounding::kGemmlowp;
        for (auto chip : {test_chip(8, 8), test_chip(16, 4), test_chip(64, 64)}) {
            if (chip.mxu.rows == 16) chip.cores = chip.mxu.count = 2;
            const Case c(graph_of(v), chip, options,
                         {v.bytes({"lhs_input_tensor"}), v.bytes({"rhs_input_tensor"})}, 0);
            EXPECT_EQ(c.expected().outputs[0], v.bytes({"output"}));
            EXPECT_EQ(c.run(c.streams(), Order::number(3)).outputs[0], v.bytes({"output"}));
        }
    }
}

// ---- a block of attention

void expect_attention(bool int8, arch::ChipConfig chip, bool smallest) {
    if (!int8) chip.mxu.dtype = arch::Dtype::kBf16;
    const auto graph =
        compiler::parse_graph(attention_text(int8, 3, 21, 37, 10, true), "attention");
    CompileOptions options;
    options.batch = 2;
    if (smallest) chip.unified_buffer_bytes = smallest_buffer(graph, chip, options);
    SCOPED_TRACE(text_of(chip));
    const Case c(graph, chip, options, seeded_inputs(graph, 2, 7), 7);
    for (uint32_t order = 0; order < 4; ++order) {
        EXPECT_EQ(c.fault(c.streams(), Order::number(order)), "");
        if (chip.cores == 1) {
            EXPECT_EQ(c.fault(c.image(), Order::number(order)), "");
        }
    }
}

TEST(Attention, IsExactOnEveryChip) {
    for (const bool int8 : {true, false})
        for (const bool smallest : {false, true})
            for (const uint32_t cores : {1u, 2u, 5u})
                for (const bool layer_sync : {false, true}) {
                    auto chip = test_chip(8, 8);
                    chip.cores = cores;
                    chip.mxu.count = cores == 1 ? 3 : 2;
                    chip.sequencer.layer_sync = layer_sync;
                    expect_attention(int8, chip, smallest);
                }
}

// ---- kernels

std::vector<std::string> kernel_names(const std::string& text) {
    const auto graph = compiler::parse_graph(text, "product");
    std::vector<std::string> names;
    for (const auto& kernel : compiler::plan_graph(graph, test_chip(8, 8), {}).kernels.kernels)
        names.push_back(kernel.name);
    return names;
}

TEST(BatchMatmul, LeavesOutWhatAZeroPointOfZeroAsksFor) {
    using Names = std::vector<std::string>;
    const auto of_zeros = [](int a, int b) {
        return kernel_names(product("2x3x4", "2x4x5", "2x3x5", "", a, b));
    };
    EXPECT_EQ(of_zeros(0, 0), (Names{"n/tiles", "n"}));
    EXPECT_EQ(of_zeros(3, 0), (Names{"n/tiles", "n/column sums", "n/sums", "n"}));
    EXPECT_EQ(of_zeros(0, 3), (Names{"n/tiles", "n/row sums", "n/sums", "n"}));
    EXPECT_EQ(of_zeros(3, 3), (Names{"n/tiles", "n/row sums", "n/column sums", "n/sums", "n"}));
    EXPECT_EQ(kernel_names(product("1x4x3", "2x4x5", "2x3x5", " adj_x=1 adj_y=0")),
              (Names{"n/rows", "n/tiles", "n"}));
    EXPECT_EQ(kernel_names(product("2x3x4", "5x4", "2x3x5", " adj_x=0 adj_y=1")),
              (Names{"n/columns", "n/tiles", "n"}));
}

/// The second operand does not go through the buffer as it is multiplied, and no data hold it.
TEST(BatchMatmul, HasItsTilesInDeviceMemory) {
    const auto graph = compiler::parse_graph(product("3x9x20", "3x20x9", "3x9x9"), "product");
    const auto planned = compiler::plan_graph(graph, test_chip(8, 8), {});
    const auto& kernels = planned.kernels.kernels;
    const compiler::ValueId tiles = kernels.at(0).output;
    EXPECT_EQ(kernels.at(1).inputs.at(1), tiles);
    EXPECT_TRUE(planned.kernels.values[tiles].is_tiles);
    // 3 pairs, K in 3 tiles, N in 2
    EXPECT_EQ(planned.kernels.values[tiles].bytes, 3u * 3 * 2 * 64);
    EXPECT_FALSE(planned.plan.values[tiles].resident);
    EXPECT_EQ(planned.plan.kernels[1].data_tiles, 0u);
    EXPECT_GE(planned.plan.values[tiles].memory_offset, planned.plan.data_bytes);
    EXPECT_EQ(planned.plan.kernels[1].cores[0].chunks.size(), 3u);
}

// ---- mistakes

void expect_refused(const std::string& text, const std::string& part) {
    try {
        const auto graph = compiler::parse_graph(text, "product");
        compiler::plan_graph(graph, test_chip(8, 8), {});
        FAIL() << "not refused: " << part;
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(BatchMatmul, TellsWhatIsWrong) {
    expect_refused(product("2x3x4", "2x5x6", "2x3x6"), "expected 4 rows, found 5");
    expect_refused(product("2x3x4", "2x5x6", "2x3x5", " adj_x=0 adj_y=1"),
                   "expected 4 columns, found 6");
    expect_refused(product("2x3x4", "3x4x6", "2x3x6"),
                   "expected the other input's dimensions in front of the matrices, or 1, found "
                   "3x4x6 beside 2x3x4");
    expect_refused(product("2x3x4", "2x4x6", "2x3x5"), "expected shape 2x3x6, found 2x3x5");
    expect_refused(product("4", "4x6", "1x6"), "expected 2 to 5 dimensions, found 4");
    expect_refused(product("1x1x1x1x3x4", "4x6", "1x1x1x1x3x6"), "expected 2 to 5 dimensions");
    expect_refused(product("2x3x4", "2x4x6", "2x3x6", " adj_x=2 adj_y=0"), "adj_x");
    expect_refused(product("2x3x4", "2x4x6", "2x3x6", "", 0, 0, "BFLOAT16"),
                   "tensors of the array's type");
    std::string constant = product("2x1x1", "2x1x1", "2x1x1");
    constant.replace(constant.find("tensor %1"), 6, "constant");
    constant.replace(constant.find("inputs %0,%1"), 12, "inputs %0");
    expect_refused(constant, "expected an activation, found a constant");
}

/// The second matrix has to be in the buffer as a whole, with its tiles.
TEST(BatchMatmul, TellsWhatFitsNowhere) {
    expect_refused(product("1x3x400", "1x400x300", "1x3x300"),
                   "fit into the unified buffer of 65536 bytes");
    expect_refused(product("1x3x400", "1x400x300", "1x3x300"), "'t2/tiles'");
    expect_refused(product("1x1x70000", "1x70000x1", "1x1x1"), "rows of the second matrix");
}

}  // namespace
}  // namespace tandem::testbench
