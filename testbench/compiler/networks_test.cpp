// SPDX-License-Identifier: Apache-2.0
// Real networks on the interpreter against their expected outputs, as images and on several cores,
// and what compile() says of programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_graph.h"

namespace tandem::testbench {
namespace {

using numerics::Rounding;

struct NetworkCase {
    ModelFiles files;
    uint32_t rows, cols, accumulator_rows;
    uint64_t unified_buffer_bytes;
    Rounding rounding;
};

void PrintTo(const NetworkCase& test, std::ostream* out) { PrintTo(test.files, out); }

class CompiledNetwork : public ::testing::TestWithParam<NetworkCase> {};
class CompiledLayers : public ::testing::TestWithParam<NetworkCase> {};

arch::ChipConfig chip_of(const NetworkCase& network) {
    auto chip = test_chip(network.rows, network.cols);
    chip.mxu.accumulator_rows = network.accumulator_rows;
    chip.unified_buffer_bytes = network.unified_buffer_bytes;
    chip.memory.bytes = 16 << 20;
    return chip;
}

TEST_P(CompiledNetwork, GivesTheExpectedOutputs) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam().files);
    const bool single = GetParam().rounding == Rounding::kSingle;
    const auto& expected = single ? data.expected_single : data.expected_gemmlowp;
    const auto chip = chip_of(GetParam());
    compiler::CompileOptions options;
    options.rounding = GetParam().rounding;
    const auto program = compiler::compile(data.graph, chip, options);
    for (uint32_t sample = 0; sample < std::min<size_t>(data.samples(), 12); ++sample) {
        const auto found = run_image(chip, program, data.input(sample), Order::number(sample));
        for (size_t i = 0; i < found.size(); ++i)
            ASSERT_NEAR(found[i], expected[sample * found.size() + i], single ? 0 : 1)
                << "sample " << sample << ", output " << i;
    }
}

TEST_P(CompiledNetwork, GivesThemOnTwoCoresOfTwoArrays) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam().files);
    auto chip = chip_of(GetParam());
    chip.cores = chip.mxu.count = 2;
    compiler::CompileOptions options;
    options.rounding = GetParam().rounding;
    options.batch = 3;
    Int8s inputs;
    for (size_t sample = 0; sample < options.batch; ++sample) {
        const Int8s one = data.input(sample % data.samples());
        inputs.insert(inputs.end(), one.begin(), one.end());
    }
    const Case c(data.graph, chip, options, {inputs}, 0);
    const auto programs = c.streams();
    for (const uint32_t order : {0u, 1u, 7u})
        EXPECT_EQ(c.fault(programs, Order::number(order)), "");
}

TEST_P(CompiledLayers, AreAsExpectedForSample0) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam().files);
    const auto chip = chip_of(GetParam());
    const auto program = compiler::compile(data.graph, chip);
    // Several nodes (a reshape and what it reshapes) can be done with the same instruction.
    std::multimap<uint32_t, size_t> node_of;
    std::vector<size_t> offset(program.nodes.size() + 1);
    for (size_t n = 0; n < program.nodes.size(); ++n) {
        node_of.emplace(program.nodes[n].parts.at(0).last_instruction, n);
        offset[n + 1] = offset[n] + program.nodes[n].output_bytes;
    }
    ASSERT_EQ(offset.back(), data.layers_of_sample_0.size());
    const auto programs = programs_of(program);
    IsaInterpreter machine(chip, programs, setting_of(program, chip, data.input(0)),
                           Order::number(5));
    size_t compared = 0;
    machine.on_retire = [&](uint32_t, uint32_t index) {
        const auto [first, last] = node_of.equal_range(index);
        for (auto it = first; it != last; ++it, ++compared) {
            const auto& node = program.nodes[it->second];
            for (uint32_t i = 0; i < node.output_bytes; ++i)
                ASSERT_EQ(static_cast<int8_t>(machine.buffer(0)[node.output_address + i]),
                          data.layers_of_sample_0[offset[it->second] + i])
                    << node.op << " " << node.name << ", byte " << i;
        }
    };
    machine.run();
    EXPECT_EQ(compared, program.nodes.size());
}

template <size_t kCount>
std::vector<NetworkCase> cases_of(const ModelFiles (&models)[kCount],
                                  std::initializer_list<Rounding> roundings) {
    std::vector<NetworkCase> cases;
    for (const ModelFiles& files : models)
        for (const Rounding rounding : roundings) {
            cases.push_back({files, 8, 8, 256, 64 << 10, rounding});
            cases.push_back({files, 16, 16, 512, 64 << 10, rounding});
            cases.push_back({files, 256, 256, 4096, 24 << 20, rounding});
        }
    return cases;
}

std::string name_of(const ::testing::TestParamInfo<NetworkCase>& info) {
    const NetworkCase& network = info.param;
    return std::string(network.files.name) + "_" + std::to_string(network.rows) + "x" +
           std::to_string(network.cols) +
           (network.rounding == Rounding::kSingle ? "_single" : "_gemmlowp");
}

INSTANTIATE_TEST_SUITE_P(Int8, CompiledNetwork,
                         ::testing::ValuesIn(cases_of(kInt8Models,
                                                      {Rounding::kSingle, Rounding::kGemmlowp})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Int8, CompiledLayers,
                         ::testing::ValuesIn(cases_of(kModelsWithLayers, {Rounding::kSingle})),
                         name_of);

TEST(CompiledProgram, DoesNotDependOnWhichUnitIsFaster) {
    for (uint32_t seed = 0; seed < 6; ++seed) {
        std::mt19937 random(1000 + seed);
        const auto graph = random_graph(random);
        auto chip = test_chip(8, 8);
        chip.mxu.accumulator_rows = 32;
        const Case c(graph, chip, {}, seeded_inputs(graph, 1, seed), seed);
        const auto programs = c.image();
        for (uint32_t order = 0; order < 720; ++order)
            ASSERT_EQ(c.fault(programs, {Order::Kind::kByUnit, order}), "") << "seed " << seed;
    }
}

TEST(CompiledProgram, IsTheSameEveryTime) {
    std::mt19937 random(7);
    const auto graph = random_graph(random);
    const auto chip = test_chip(8, 8);
    EXPECT_EQ(arch::serialise(compiler::compile(graph, chip)),
              arch::serialise(compiler::compile(graph, chip)));
}

/// One core's stream is the image, and what make_data() gives is the image's.
TEST(CompiledProgram, OfOneCoreIsAStreamAsWell) {
    std::mt19937 random(8);
    const auto graph = random_graph(random);
    const Case c(graph, test_chip(8, 8), {}, seeded_inputs(graph, 1, 0), 0);
    EXPECT_EQ(c.image()[0].instructions, c.streams()[0].instructions);
}

TEST(CompiledProgram, SaysWhatNodeDoesNotFit) {
    std::mt19937 random(3);
    const auto graph = random_graph(random);
    auto chip = test_chip(8, 8);
    chip.unified_buffer_bytes = 64;
    try {
        compiler::CompileOptions options;
        options.batch = 2;
        compiler::compile(graph, chip, options);
        FAIL() << "accepted";
    } catch (const UserError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("node "), std::string::npos) << text;
        EXPECT_NE(text.find("batch 2"), std::string::npos) << text;
        EXPECT_NE(text.find("unified buffer of 64 bytes"), std::string::npos) << text;
    }
}

TEST(CompiledProgram, RejectsWhatTheChipCannotDo) {
    std::mt19937 random(3);
    const auto graph = random_graph(random);
    auto chip = test_chip(8, 8);
    compiler::CompileOptions none;
    none.batch = 0;
    EXPECT_THROW(compiler::compile(graph, chip, none), UserError);
    chip.memory.bytes = 128;
    EXPECT_THROW(compiler::compile(graph, chip), UserError);
    chip = test_chip(8, 8);
    chip.mxu.dtype = arch::Dtype::kBf16;
    EXPECT_THROW(compiler::compile(graph, chip), UserError);
}

}  // namespace
}  // namespace tandem::testbench
