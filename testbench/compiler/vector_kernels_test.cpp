// SPDX-License-Identifier: Apache-2.0
// Operators of the vector unit against the oracle: in both roundings, by several cores, with
// batches, and in chunks where the buffer is small.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "compiler/graph/text.h"
#include "compiler/lower/vector_steps.h"
#include "testbench/compiler/kernel_run.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"

namespace tandem::testbench {
namespace {

using numerics::Rounding;

struct VectorCase {
    std::string name;
    std::string text;  ///< of a graph with one node
};

std::string image(int id, const std::string& shape, const std::string& scale, int zero_point) {
    return "tensor %" + std::to_string(id) + " \"t" + std::to_string(id) + "\" INT8 " + shape +
           " layout=NHWC scales=" + scale + " zero_points=" + std::to_string(zero_point) + "\n";
}

std::string one_node(const std::string& tensors, const std::string& node, int inputs) {
    std::string names = "%0", output = "%" + std::to_string(inputs);
    if (inputs == 2) names += ",%1";
    return "tgraph 1\n" + tensors + "node 0 " + node + " inputs=" + names + " outputs=" + output +
           "\ninputs " + (inputs == 2 ? "%0,%1" : "%0") + "\noutputs " + output + "\n";
}

std::string sum(const std::string& activation) {
    return one_node(image(0, "1x7x5x37", "0.03", 4) + image(1, "1x7x5x37", "0.017", -11) +
                        image(2, "1x7x5x37", "0.041", 9),
                    "ADD \"n\" activation=" + activation, 2);
}
std::string pool(const std::string& op, const std::string& in, const std::string& out,
                 const std::string& window, const std::string& activation = "NONE") {
    return one_node(image(0, in, "0.05", -3) + image(1, out, "0.05", -3),
                    op + " \"n\" " + window + " activation=" + activation, 1);
}
std::string mean(const std::string& in, const std::string& out) {
    return one_node(image(0, in, "0.05", -3) + image(1, out, "0.013", 17), "MEAN \"n\" keep_dims=1",
                    1);
}
std::string softmax(const std::string& shape, const std::string& beta) {
    return one_node(image(0, shape, "0.11", 5) + image(1, shape, "0.00390625", -128),
                    "SOFTMAX \"n\" beta=" + beta, 1);
}

/// Scale and zero point of the output are the input's.
std::string transpose(const std::vector<int>& shape, const std::vector<int>& perm) {
    const auto tensor = [](int id, const std::string& dims) {
        return "tensor %" + std::to_string(id) + " \"t" + std::to_string(id) + "\" INT8 " + dims +
               " scales=0.05 zero_points=-3\n";
    };
    std::string in, out, order;
    for (size_t i = 0; i < shape.size(); ++i) {
        in += (i == 0 ? "" : "x") + std::to_string(shape[i]);
        out += (i == 0 ? "" : "x") + std::to_string(shape[static_cast<size_t>(perm[i])]);
        order += (i == 0 ? "" : ",") + std::to_string(perm[i]);
    }
    return one_node(tensor(0, in) + tensor(1, out), "TRANSPOSE \"n\" perm=" + order, 1);
}

std::string hard_swish(const std::string& scale_in, int zero_in, const std::string& scale_out) {
    return one_node(image(0, "1x7x5x37", scale_in, zero_in) + image(1, "1x7x5x37", scale_out, -100),
                    "HARD_SWISH \"n\"", 1);
}

const std::vector<VectorCase> kCases = {
    {"Sum", sum("NONE")},
    {"SumClamped", sum("RELU6")},
    {"Largest",
     pool("MAX_POOL_2D", "1x13x9x6", "1x6x4x6", "filter=3,3 stride=2,2 padding=0,0,0,0")},
    {"LargestPadded",
     pool("MAX_POOL_2D", "1x13x9x6", "1x8x6x6", "filter=3,4 stride=2,2 padding=2,2,2,3", "RELU")},
    {"Average", pool("AVERAGE_POOL_2D", "1x12x9x6", "1x6x3x6",
                     "filter=2,3 stride=2,3 padding=0,0,0,0", "RELU_N1_TO_1")},
    {"AveragePadded",
     pool("AVERAGE_POOL_2D", "1x13x9x6", "1x13x9x6", "filter=4,3 stride=1,1 padding=1,1,2,1")},
    {"AverageOfAll",
     pool("AVERAGE_POOL_2D", "1x5x6x7", "1x1x1x7", "filter=5,6 stride=5,6 padding=0,0,0,0")},
    {"LargestOfSteps",
     pool("MAX_POOL_2D", "1x300x1x2", "1x2x1x2", "filter=260,1 stride=40,1 padding=0,0,0,0")},
    {"Mean", mean("1x7x5x11", "1x1x1x11")},
    {"MeanOfLongColumn", mean("1x700x1x3", "1x1x1x3")},
    {"Softmax", softmax("1x1x3x40", "1")},
    {"SoftmaxFlat", softmax("1x29x1x2", "0.3")},
    {"TransposeToNchw", transpose({1, 7, 5, 37}, {0, 3, 1, 2})},
    {"TransposeToNhwc", transpose({2, 37, 7, 5}, {0, 2, 3, 1})},
    {"TransposeRows", transpose({1, 23, 41}, {0, 2, 1})},
    {"TransposeBackwards", transpose({2, 3, 4, 5, 6}, {0, 4, 3, 2, 1})},
    {"TransposeBehindTwo", transpose({3, 7, 4, 5, 6}, {0, 1, 4, 2, 3})},
    {"HardSwish", hard_swish("0.0471", -4, "0.0261")},
    {"HardSwishFine", hard_swish("0.004", 11, "0.0011")},
    {"HardSwishCoarse", hard_swish("0.93", -128, "0.47")},
};

/// The same on floats; the output in bf16, or wide.
VectorCase in_floats(const VectorCase& int8, bool wide) {
    static const std::regex activation("INT8 (\\S+(?: layout=NHWC)?) scales=\\S+ zero_points=\\S+");
    std::string text = std::regex_replace(int8.text, activation, "BFLOAT16 $1");
    if (wide) text.replace(text.rfind("BFLOAT16"), 8, "FLOAT32");
    return {int8.name + (wide ? "Wide" : "Bf16"), text};
}

VectorCase cast(const std::string& from, const std::string& to) {
    const auto tensor = [](int id, const std::string& type) {
        return "tensor %" + std::to_string(id) + " \"t" + std::to_string(id) + "\" " + type +
               " 1x5x7x9 layout=NHWC\n";
    };
    return {from + "To" + to, one_node(tensor(0, from) + tensor(1, to), "CAST \"n\"", 1)};
}

std::vector<VectorCase> all_cases() {
    std::vector<VectorCase> all = kCases;
    for (const VectorCase& one : kCases)
        for (const bool wide : {false, true}) all.push_back(in_floats(one, wide));
    all.push_back(cast("FLOAT32", "BFLOAT16"));
    all.push_back(cast("BFLOAT16", "FLOAT32"));
    return all;
}

class VectorKernels : public ::testing::TestWithParam<VectorCase> {
  protected:
    static void expect_exact(const arch::ChipConfig& chip, const compiler::CompileOptions& options,
                             bool in_chunks) {
        const auto graph = compiler::parse_graph(GetParam().text, GetParam().name);
        const Case c(graph, chip, options, seeded_inputs(graph, options.batch, 7), 7);
        if (in_chunks) {
            EXPECT_GT(c.planned().plan.kernels[0].cores[0].chunks.size(), 1u) << text_of(chip);
        }
        for (const uint32_t order : {0u, 1u, 5u})
            EXPECT_EQ(c.fault(c.streams(), Order::number(order)), "")
                << text_of(chip) << ", batch " << options.batch << ", rounding "
                << static_cast<int>(options.rounding);
    }
    static compiler::CompileOptions options(Rounding rounding, uint32_t batch) {
        compiler::CompileOptions options;
        options.rounding = rounding, options.batch = batch;
        return options;
    }
};

TEST_P(VectorKernels, AreExactByAnyNumberOfCores) {
    for (const Rounding rounding : {Rounding::kSingle, Rounding::kGemmlowp})
        for (const uint32_t cores : {1u, 2u, 3u}) {
            auto chip = test_chip(8, 8);
            chip.cores = cores;
            for (const uint32_t batch : {1u, 4u})
                expect_exact(chip, options(rounding, batch), false);
        }
}

/// Three images in a buffer that is as small as it may be: one of each thing at a time.
TEST_P(VectorKernels, AreExactInChunks) {
    const auto graph = compiler::parse_graph(GetParam().text, GetParam().name);
    for (const Rounding rounding : {Rounding::kSingle, Rounding::kGemmlowp}) {
        auto chip = test_chip(8, 8);
        const auto how = options(rounding, 3);
        const uint64_t least = smallest_buffer(graph, chip, how);
        for (const uint64_t more : {uint64_t{0}, least / 3}) {
            chip.unified_buffer_bytes = least + more;
            expect_exact(chip, how, true);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, VectorKernels, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name; });

using enum isa::ChainOp;
using compiler::ChainBuilder;

/// Operands of all kinds that no operator has yet: rows of `cols` int8, of which the output has
/// those of the second input, which every row reads, added twice, turned round within the row. The
/// way goes through int32 in scratch memory, the second time of the parameter block.
compiler::Kernel broadcast_kernel(uint64_t rows, int32_t cols, const Int8s& added) {
    using namespace compiler;
    using arch::VectorType;
    const Extents row{1, 1, 1, 1, 1, static_cast<uint64_t>(cols)};
    const auto int8s = dense(VectorType::kInt8, row), int32s = dense(VectorType::kInt32, row);
    arch::VectorView every_row = int8s, backwards = int8s;
    every_row.strides[0] = 0;
    backwards.strides[5] = -1;
    ChainBuilder f;
    const Chain sum = f.chain(f(kAddI, f.a(), f.b()));
    VectorRef out = output_ref(backwards);
    out.offset = static_cast<uint64_t>(cols) - 1;
    VectorWork work;
    work.lines = rows;
    work.input_line_bytes = {static_cast<uint64_t>(cols), 0};
    work.output_line_bytes = static_cast<uint64_t>(cols);
    work.scratch_line_bytes = {3, static_cast<uint64_t>(cols) * 4};
    work.steps = {
        map_step(row, {input_ref(0, int8s), input_ref(1, every_row)}, sum, scratch_ref(1, int32s)),
        map_step(row, {scratch_ref(1, int32s), params_ref(every_row, 16)}, sum, out)};
    Kernel kernel;
    kernel.work = std::move(work);
    kernel.params.resize(16 + added.size());
    std::ranges::copy(added, kernel.params.begin() + 16);
    kernel.params_bytes = kernel.params.size();
    return kernel;
}

TEST(VectorWork, TakesOperandsThatAllLinesRead) {
    constexpr int32_t kRows = 50, kCols = 20;
    std::mt19937 random(3);
    const auto values = [&](size_t count) {
        Int8s all(count);
        for (int8_t& value : all) value = static_cast<int8_t>(random() % 80 - 40);
        return all;
    };
    const Int8s x = values(kRows * kCols), added = values(kCols);
    Int8s expected(x.size());
    for (size_t i = 0; i < x.size(); ++i)
        expected[i / kCols * kCols + kCols - 1 - i % kCols] =
            static_cast<int8_t>(x[i] + 2 * added[i % kCols]);
    for (const uint32_t cores : {1u, 3u})
        for (const uint64_t buffer : {64u * 1024, 1024u}) {
            auto chip = test_chip(8, 8);
            chip.cores = cores;
            chip.unified_buffer_bytes = buffer;
            EXPECT_EQ(run_kernel(chip, broadcast_kernel(kRows, kCols, added), {x, added}, x.size()),
                      expected)
                << text_of(chip);
        }
}

TEST(ChainBuilder, UsesRegistersAgain) {
    ChainBuilder f;
    const auto k = f.constant(0.5f);
    const auto a = f(kMulF, f(kToFloat, f.a()), k);
    const auto b = f(kMulF, f(kToFloat, f.b()), k);
    const auto chain = f.chain(f(kRound, f(kAddF, a, b)));
    EXPECT_EQ(chain.constants, (std::vector<uint32_t>{0x3f000000}));
    const std::vector<arch::ChainStep> expected = {{kToFloat, 0, 0, 0, 0}, {kMulF, 0, 0, 4, 0},
                                                   {kToFloat, 1, 1, 0, 0}, {kMulF, 1, 1, 4, 0},
                                                   {kAddF, 0, 0, 1, 0},    {kRound, 0, 0, 0, 0}};
    EXPECT_EQ(chain.steps, expected);
}

TEST(ChainBuilder, KeepsWhatIsReadLater) {
    ChainBuilder f;
    const auto square = f(kMulF, f.a(), f.a());
    const auto chain = f.chain(f(kAddF, f(kMulF, square, f.a()), square));
    const std::vector<arch::ChainStep> expected = {
        {kMulF, 1, 0, 0, 0}, {kMulF, 0, 1, 0, 0}, {kAddF, 0, 0, 1, 0}};
    EXPECT_EQ(chain.steps, expected);
}

TEST(ChainBuilder, CopiesAResultThatIsNoStep) {
    ChainBuilder f;
    EXPECT_TRUE(f.chain(f.a()).steps.empty());
    EXPECT_EQ(f.chain(f.b()).steps, (std::vector<arch::ChainStep>{{kCopy, 0, 1, 0, 0}}));
    EXPECT_EQ(f.chain(f.constant(3)).steps, (std::vector<arch::ChainStep>{{kCopy, 0, 4, 0, 0}}));
}

TEST(ChainBuilder, RejectsWhatTheUnitDoesNotHold) {
    ChainBuilder long_one;
    auto x = long_one.a();
    for (int i = 0; i < 13; ++i) x = long_one(kAddF, x, x);
    EXPECT_THROW(long_one.chain(x), std::logic_error);

    ChainBuilder constants;
    for (int32_t i = 0; i < 12; ++i) constants.constant(i);
    constants.constant(5);
    EXPECT_THROW(constants.constant(12), std::logic_error);

    ChainBuilder wide;
    std::vector<ChainBuilder::Term> terms;
    for (int i = 0; i < 5; ++i) terms.push_back(wide(kAddI, wide.a(), wide.constant(i)));
    auto all = terms[0];
    for (const auto& term : terms) all = wide(kAddI, all, term);
    EXPECT_THROW(wide.chain(all), std::logic_error);
}

}  // namespace
}  // namespace tandem::testbench
