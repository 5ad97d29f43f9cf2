// SPDX-License-Identifier: Apache-2.0
// Compiled programs on the interpreter against the oracle and against real expected outputs, with
// units racing each other in all kinds of order.
#include "compiler/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "arch/error.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/support/isa_interpreter.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testing {
namespace {

using compiler::CompileOptions;
using numerics::Rounding;

uint64_t total_macs(const arch::Program& program) {
    uint64_t macs = 0;
    for (const auto& node : program.nodes) macs += node.macs;
    return macs;
}

/// Outputs of a run that also kept the laws: all MACs done, no flag and no tile left over.
std::vector<int8_t> run_lawfully(const arch::ChipConfig& chip, const arch::Program& program,
                                 const std::vector<int8_t>& inputs, const UnitOrder& order) {
    IsaInterpreter machine(chip, program, order);
    auto outputs = machine.run(inputs);
    EXPECT_EQ(machine.macs(), total_macs(program));
    EXPECT_FALSE(machine.flags_left());
    EXPECT_EQ(machine.tiles_left(), 0u);
    return outputs;
}

/// The oracle, sample by sample.
std::vector<int8_t> oracle(const compiler::Graph& graph,
                           const std::vector<std::vector<int8_t>>& inputs, uint32_t batch,
                           Rounding rounding) {
    std::vector<int8_t> outputs;
    for (uint32_t sample = 0; sample < batch; ++sample) {
        std::vector<Int8s> one;
        for (const auto& values : inputs) {
            const auto bytes = static_cast<ptrdiff_t>(values.size() / batch);
            one.emplace_back(values.begin() + bytes * sample,
                             values.begin() + bytes * (sample + 1));
        }
        const auto nodes = naive_run(
            graph, one,
            rounding == Rounding::kSingle ? NaiveRounding::kSingle : NaiveRounding::kGemmlowp);
        outputs.insert(outputs.end(), nodes.back().begin(), nodes.back().end());
    }
    return outputs;
}

arch::ChipConfig random_chip(std::mt19937& random) {
    const auto pick = [&](uint32_t low, uint32_t high) {
        return low + random() % (high - low + 1);
    };
    arch::ChipConfig chip = test_chip(pick(2, 20), pick(2, 20));
    chip.mxu.accumulator_rows = pick(4, 200);
    chip.mxu.weight_fifo_tiles = pick(1, 4);
    chip.sequencer.queue_entries = pick(1, 16);
    return chip;
}

/// The smallest unified buffer, to within 16 bytes, into which the network fits: every byte is used
/// again as soon as it can be.
uint64_t smallest_buffer(const compiler::Graph& graph, arch::ChipConfig chip,
                         const CompileOptions& options) {
    uint64_t too_small = 0, enough = chip.unified_buffer_bytes;
    while (enough - too_small > 16) {
        chip.unified_buffer_bytes = (too_small + enough) / 2;
        try {
            compiler::compile(graph, chip, options);
            enough = chip.unified_buffer_bytes;
        } catch (const UserError&) {
            too_small = chip.unified_buffer_bytes;
        }
    }
    return enough;
}

TEST(CompiledProgram, EqualsTheOracleOnRandomNetworksAndChips) {
    for (uint32_t seed = 0; seed < 600; ++seed) {
        std::mt19937 random(seed);
        const auto graph = random_graph(random);
        auto chip = random_chip(random);
        const CompileOptions options{.batch = 1 + seed % 3,
                                     .rounding = static_cast<Rounding>(seed / 3 % 2)};
        if (seed % 2 == 0) chip.unified_buffer_bytes = smallest_buffer(graph, chip, options);
        const auto program = compiler::compile(graph, chip, options);
        const auto inputs = random_inputs(graph, options.batch, random);
        const auto expected = oracle(graph, inputs, options.batch, options.rounding);
        for (uint32_t order = 0; order < 4; ++order)
            ASSERT_EQ(run_lawfully(chip, program, inputs[0], {.random = true, .seed = order}),
                      expected)
                << "seed " << seed << ", order " << order;
    }
}

TEST(CompiledProgram, DoesNotDependOnWhichUnitIsFaster) {
    for (uint32_t seed = 0; seed < 6; ++seed) {
        std::mt19937 random(1000 + seed);
        const auto graph = random_graph(random);
        auto chip = test_chip(8, 8);
        chip.mxu.accumulator_rows = 32;
        const auto program = compiler::compile(graph, chip);
        const auto inputs = random_inputs(graph, 1, random);
        const auto expected = oracle(graph, inputs, 1, Rounding::kSingle);
        UnitOrder order;
        do {
            ASSERT_EQ(run_lawfully(chip, program, inputs[0], order), expected) << "seed " << seed;
        } while (std::next_permutation(order.precedence.begin(), order.precedence.end()));
    }
}

/// Without the waits and signals of one flag.
arch::Program without_flag(arch::Program program, uint32_t flag) {
    const std::pair<uint32_t, uint32_t> fields[] = {{8, 6}, {14, 6}, {20, 6}, {26, 6}};
    for (auto& words : program.instructions)
        for (const auto& [lsb, width] : fields) {
            const uint32_t mask = ((1u << width) - 1) << lsb;
            if ((words[0] & mask) >> lsb == flag) words[0] &= ~mask;
        }
    return program;
}

TEST(CompiledProgram, NeedsEachOfItsFlags) {
    std::map<uint32_t, uint32_t> needed, used;
    for (uint32_t seed = 0; seed < 40; ++seed) {
        std::mt19937 random(seed);
        const auto graph = random_graph(random);
        auto chip = test_chip(8, 8);
        chip.mxu.accumulator_rows = 8;
        chip.unified_buffer_bytes = smallest_buffer(graph, chip, {});
        const auto program = compiler::compile(graph, chip);
        const auto inputs = random_inputs(graph, 1, random);
        const auto expected = oracle(graph, inputs, 1, Rounding::kSingle);
        uint32_t flags = 0;
        for (const auto& words : program.instructions)
            flags = std::max(flags, uint32_t{isa::Nop::decode(words).header.signal_a});
        for (uint32_t flag = 1; flag <= flags; ++flag) {
            const auto spoilt = without_flag(program, flag);
            bool noticed = false;
            for (uint32_t order = 0; order < 50 && !noticed; ++order)
                noticed =
                    IsaInterpreter(chip, spoilt, {.random = true, .seed = order}).run(inputs[0]) !=
                    expected;
            ++used[flag];
            needed[flag] += noticed;
        }
    }
    // Not in each: some networks are constant, and some waits never make a difference.
    for (const auto& [flag, programs] : used)
        EXPECT_GE(2 * needed[flag], programs)
            << "flag " << flag << " of " << programs << " programs";
}

TEST(CompiledProgram, IsTheSameEveryTime) {
    std::mt19937 random(7);
    const auto graph = random_graph(random);
    const auto chip = test_chip(8, 8);
    EXPECT_EQ(arch::serialise(compiler::compile(graph, chip)),
              arch::serialise(compiler::compile(graph, chip)));
}

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
    return chip;
}

TEST_P(CompiledNetwork, GivesTheExpectedOutputs) {
    TANDEM_NEEDS_MODELS();
    const ModelData data = load_model(GetParam().files);
    const bool single = GetParam().rounding == Rounding::kSingle;
    const auto& expected = single ? data.expected_single : data.expected_gemmlowp;
    const auto chip = chip_of(GetParam());
    const auto program = compiler::compile(data.graph, chip, {.rounding = GetParam().rounding});
    for (uint32_t sample = 0; sample < std::min<size_t>(data.samples(), 12); ++sample) {
        const auto found =
            run_lawfully(chip, program, data.input(sample), {.random = true, .seed = sample});
        for (size_t i = 0; i < found.size(); ++i)
            ASSERT_NEAR(found[i], expected[sample * found.size() + i], single ? 0 : 1)
                << "sample " << sample << ", output " << i;
    }
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
        node_of.emplace(program.nodes[n].last_instruction, n);
        offset[n + 1] = offset[n] + program.nodes[n].output_bytes;
    }
    ASSERT_EQ(offset.back(), data.layers_of_sample_0.size());
    IsaInterpreter machine(chip, program, {.random = true, .seed = 1});
    size_t compared = 0;
    machine.on_retire = [&](uint32_t index) {
        const auto [first, last] = node_of.equal_range(index);
        for (auto it = first; it != last; ++it, ++compared) {
            const auto& node = program.nodes[it->second];
            for (uint32_t i = 0; i < node.output_bytes; ++i)
                ASSERT_EQ(static_cast<int8_t>(machine.unified_buffer()[node.output_address + i]),
                          data.layers_of_sample_0[offset[it->second] + i])
                    << node.op << " " << node.name << ", byte " << i;
        }
    };
    machine.run(data.input(0));
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

TEST(CompiledProgram, SaysWhatNodeDoesNotFit) {
    std::mt19937 random(3);
    const auto graph = random_graph(random);
    auto chip = test_chip(8, 8);
    chip.unified_buffer_bytes = 64;
    try {
        compiler::compile(graph, chip, {.batch = 2});
        FAIL() << "accepted";
    } catch (const UserError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("node "), std::string::npos) << text;
        EXPECT_NE(text.find("batch 2"), std::string::npos) << text;
        EXPECT_NE(text.find("unified buffer of 64 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find("bytes needed"), std::string::npos) << text;
    }
}

TEST(CompiledProgram, RejectsWhatTheChipCannotDo) {
    std::mt19937 random(3);
    const auto graph = random_graph(random);
    auto chip = test_chip(8, 8);
    EXPECT_THROW(compiler::compile(graph, chip, {.batch = 0}), UserError);
    chip.memory.bytes = 128;
    EXPECT_THROW(compiler::compile(graph, chip), UserError);
    chip = test_chip(8, 8);
    chip.mxu.dtype = arch::Dtype::kBf16;
    EXPECT_THROW(compiler::compile(graph, chip), UserError);
}

}  // namespace
}  // namespace tandem::testing
