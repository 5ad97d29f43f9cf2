// SPDX-License-Identifier: Apache-2.0
// The check of whole programs: takes what the compiler makes, names what is wrong with others, and
// keeps its word: what it takes runs to its end on the interpreter, whoever moves first.
#include "arch/program_check.h"

#include <gtest/gtest.h>

#include "compiler/import/tflite/tflite_import.h"
#include "compiler/pipeline.h"
#include "testbench/compiler/checked_product.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/random_graph.h"
#include "testbench/support/mutated_program.h"
#include "testbench/support/seeded.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {
namespace {

using isa::Unit;

TEST(ProgramCheck, TakesAProductAndCountsItsWork) {
    const auto work = arch::check_program(chip8(), Product{}.program(), "p.tpu");
    EXPECT_EQ(work.rows, 10u);
    EXPECT_EQ(work.macs, 320u);
    EXPECT_EQ(work.weight_tiles, 1u);
    EXPECT_EQ(work.instructions, 7u);
}

struct Spoilt {
    const char* name;
    std::function<void(Product&)> spoil;
    const char* says;
};

class ProgramCheckRefuses : public ::testing::TestWithParam<Spoilt> {};

TEST_P(ProgramCheckRefuses, AndSaysWhy) {
    Product product;
    GetParam().spoil(product);
    const std::string why = refusal(chip8(), product.program());
    EXPECT_EQ(why.find("p.tpu: "), 0u) << why;
    EXPECT_NE(why.find(GetParam().says), std::string::npos) << why;
}

const Spoilt kInstructions[] = {
    {"UnknownOpcode", [](Product& p) { p.before = {isa::Words{0xee}}; },
     "instruction 0: expected a known opcode, found 0xee"},
    {"UnusedBits",
     [](Product& p) {
         p.after = {isa::Words{0, 0, 0, 0, 0, 0, 0, 1}};
     },
     "instruction 6 (nop): expected zeros where no field is"},
    {"AnotherCore", [](Product& p) { p.matmul.header.core = 2; }, "cores of the program, found 2"},
    {"AFenceOfNoUnit", [](Product& p) { p.after = {isa::Fence{.header = {}, .unit = 6}.encode()}; },
     "a unit that there is"},
    {"AnArrayThatIsNotThere", [](Product& p) { p.matmul.mxu = 1; },
     "instruction 3 (matmul): expected an array that the chip has, found 1"},
    {"FlagsOfAWindow", [](Product& p) { p.window.header.signal_a = 9; }, "no flags"},
    {"BufferOfATransfer", [](Product& p) { p.input.ub_addr = 4017; }, "80 bytes at 4017"},
    {"BufferOfManyRuns",
     [](Product& p) {
         p.input.bytes = 1u << 31;
         p.input.rows = p.input.planes = 0xffff;
     },
     "9223090564025548800 bytes at 0"},
    {"NoRuns", [](Product& p) { p.input.rows = 0; }, "at least one row and one plane"},
    {"BeyondTheInputs", [](Product& p) { p.input.offset = 1; }, "inside the inputs (80 bytes)"},
    {"ARunBeyondTheInputs",
     [](Product& p) {
         p.input.bytes = 40;
         p.input.rows = 2;
         p.input.row_stride = 41;
     },
     "inside the inputs"},
    {"BeyondTheOutputs", [](Product& p) { p.output.bytes = 41; }, "inside the outputs"},
    {"OutputsNotAllWritten",
     [](Product& p) {
         p.output.offset = 1;
         p.output.bytes = 39;
     },
     "none of byte 0"},
    {"InputsFromTheOutputs", [](Product& p) { p.input.base = 3; }, "the inputs as base"},
    {"OutputsToANumber", [](Product& p) { p.output.base = 0; }, "the outputs as base"},
    {"WeightsBeyondMemory", [](Product& p) { p.weights.offset_high = 1; },
     "an extent inside device memory"},
    {"WeightsBehindTheData", [](Product& p) { p.weights.offset = 481; },
     "data, or what was written before, up to 4608"},
    {"WeightsFromTheHost", [](Product& p) { p.weights.base = 2; }, "a base in device memory"},
    {"WritesOverTheCode",
     [](Product& p) {
         p.after = {isa::WriteMemory{.header = {}, .ub_addr = 0, .offset = 0, .bytes = 8, .base = 0}
                        .encode()};
     },
     "behind the code, from 4096 on"},
    {"AWindowOfNothing", [](Product& p) { p.window.geometry.stride_h = 0; }, "no size, stride"},
    {"KBeyondTheWindow", [](Product& p) { p.matmul.k_start = 1; }, "elements inside the window"},
    {"KBeyondTheArray", [](Product& p) { p.matmul.k_len = 9; }, "k_len between 1 and"},
    {"NBeyondTheArray", [](Product& p) { p.matmul.n_len = 5; }, "n_len of at most"},
    {"NoRows", [](Product& p) { p.matmul.rows = 0; }, "at least one row"},
    {"AccumulatorsOfAMatmul", [](Product& p) { p.matmul.acc_addr = 55; },
     "instruction 3 (matmul): expected rows inside the accumulators"},
    {"AccumulatorsOfADrain", [](Product& p) { p.drain.acc_addr = 55; },
     "instruction 4 (requantise): expected rows inside the accumulators"},
    {"ImagesBeyondTheBuffer", [](Product& p) { p.matmul.ub_addr = 4017; }, "all images"},
    {"RowsOfADrain", [](Product& p) { p.drain.row_stride = 0x10000000; }, "the rows inside"},
    {"ParametersNotAligned", [](Product& p) { p.drain.params_addr = 2; },
     "instruction 4 (requantise): expected parameters at a multiple of 4 bytes, found 2"},
    {"ParametersOfADrain", [](Product& p) { p.drain.params_addr = 4052; }, "the parameters inside"},
    {"AFloatDrain",
     [](Product& p) { p.after = {isa::Convert{.header = {}, .rows = 1, .cols = 1}.encode()}; },
     "a bf16 array"},
    {"AMapThatTakesAges",
     [](Product& p) {
         isa::SetShape shape;
         shape.n0 = 100'000'000;
         p.after = {shape.encode(), isa::Map{}.encode()};
     },
     "the watchdog's 1000000 cycles"},
};

const Spoilt kMachine[] = {
    {"AFlagThatNobodyRaises", [](Product& p) { p.drain.header.wait_b = 77; },
     "instruction 4 (requantise): expected a program without deadlock, found a wait for flag 77"},
    {"AFlagLeftOver", [](Product& p) { p.input.header.signal_b = 78; },
     "no flag left over, found 1 of flag 78"},
    {"AFlagOfTwoTakers",
     [](Product& p) {
         p.input.header.signal_b = p.matmul.header.signal_b = 5;
         p.drain.header.wait_b = p.output.header.wait_b = 5;
     },
     "flag 5 taken by one unit only"},
    {"ASequencerThatWaitsForWhatItHasNotSent", [](Product& p) { p.between = {nop(3, 0)}; },
     "a wait for flag 3"},
    {"ATileThatNobodyBrings",
     [](Product& p) { p.weights.tiles = 1, p.between = {p.matmul.encode()}; }, "without deadlock"},
    {"ATileThatNobodyUses", [](Product& p) { p.weights.tiles = 2; },
     "as many weight tiles fetched as used, found 2 and 1"},
    {"TilesThatBlockTheFifo", [](Product& p) { p.weights.tiles = 9; },
     "room in a queue or weight FIFO"},
    {"NoWeights", [](Product& p) { p.matmul.new_weights = 0; }, "weights in the array"},
    {"ADrainThatDoesNotWait",
     [](Product& p) { p.matmul.header.signal_a = p.drain.header.wait_a = 0; },
     "of the same accumulators"},
    {"AMatmulThatDoesNotWait",
     [](Product& p) {
         isa::Matmul again = p.matmul;
         again.header = {};
         again.new_weights = 0;
         p.after = {again.encode()};
     },
     "of the same accumulators"},
    {"AFlagOfTwoRaisersProvesNothing",
     [](Product& p) {
         p.input.header.signal_b = 2;
         p.drain.header.wait_b = 2;
     },
     "of the same accumulators"},
    {"AHaltInBetween", [](Product& p) { p.after = {isa::Halt{}.encode()}; },
     "instruction 6 (halt): expected a halt as the last instruction only"},
    {"NoHalt",
     [](Product& p) {
         p.change = [](arch::Program& program) {
             program.cores[0].instructions.back() = isa::Nop{}.encode();
         };
     },
     "instruction 6 (nop): expected a halt as the last instruction"},
    {"ABranchOutOfTheProgram",
     [](Product& p) {
         p.before = {isa::SetScalar{.header = {}, .rd = 5, .imm = 1}.encode(),
                     isa::BranchNonzero{.header = {}, .rs = 5, .offset = -2}.encode()};
     },
     "a target inside the program, found -1"},
    {"ALoopWithoutEnd",
     [](Product& p) {
         p.before = {isa::SetScalar{.header = {}, .rd = 5, .imm = 1}.encode(),
                     isa::BranchNonzero{.header = {}, .rs = 5, .offset = 0}.encode()};
     },
     "comes to its end soon"},
};

template <void (*Change)(arch::Program&)>
void metadata(Product& p) {
    p.change = Change;
}

const Spoilt kMetadata[] = {
    {"NoBatch", metadata<[](arch::Program& p) { p.batch = 0; }>, "batch: expected 1 or more"},
    {"HalfASample", metadata<[](arch::Program& p) { p.batch = 3; }>, "tensor \"in\""},
    {"Rounding", metadata<[](arch::Program& p) { p.rounding = "up"; }>,
     "rounding: expected single"},
    {"NoInputs", metadata<[](arch::Program& p) { p.inputs.clear(); }>, "inputs and outputs"},
    {"AShapeOfOtherBytes", metadata<[](arch::Program& p) {
         p.outputs[0].shape = {7, 4};
     }>,
     "tensor \"out\": expected bytes that its shape explains"},
    {"AShapeWithoutEnd",
     metadata<[](arch::Program& p) { p.outputs[0].shape.assign(40, 0xffffffffu); }>, "explains"},
    {"AnOutputOutsideTheBuffer",
     metadata<[](arch::Program& p) { p.nodes[0].output_address = 4057; }>,
     "node 0: expected an output inside the unified buffer"},
    {"ALastInstructionBehindTheEnd",
     metadata<[](arch::Program& p) { p.nodes[0].parts[0].last_instruction = 7; }>, "node 0"},
    {"MoreMacsThanAreDone", metadata<[](arch::Program& p) { p.nodes[0].macs = 321; }>, "nodes: "},
    {"ASourceThatIsNoNode", metadata<[](arch::Program& p) { p.cores[0].sources[2].node = 1; }>,
     "source of instruction 2"},
    {"ASourceBelowNone", metadata<[](arch::Program& p) { p.cores[0].sources[2].node = -2; }>,
     "source of"},
    {"DataBeyondMemory", metadata<[](arch::Program& p) { p.data.resize((1 << 20) - 4095); }>,
     "DATA: expected code and data of at most 1048576 bytes"},
    {"NoInstructions", metadata<[](arch::Program& p) { p.cores[0] = {}; }>, "CODE"},
};

const auto kName = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Instruction, ProgramCheckRefuses, ::testing::ValuesIn(kInstructions),
                         kName);
INSTANTIATE_TEST_SUITE_P(Machine, ProgramCheckRefuses, ::testing::ValuesIn(kMachine), kName);
INSTANTIATE_TEST_SUITE_P(Metadata, ProgramCheckRefuses, ::testing::ValuesIn(kMetadata), kName);

TEST(ProgramCheck, DataMayFillTheMemory) {
    Product product;
    product.change = [](arch::Program& p) { p.data.resize((1 << 20) - 4096); };
    EXPECT_EQ(refusal(chip8(), product.program()), "");
}

TEST(ProgramCheck, WhatWasWrittenMayBeRead) {
    Product product;
    isa::WriteMemory spill{.header = {.signal_a = 9}, .offset = 600, .bytes = 32, .base = 1};
    isa::ReadMemory back{
        .header = {.wait_a = 9}, .ub_addr = 64, .offset = 600, .bytes = 32, .base = 1};
    product.after = {spill.encode(), back.encode()};
    EXPECT_EQ(refusal(chip8(), product.program()), "");
    back.bytes = 33;
    product.after.back() = back.encode();
    EXPECT_NE(refusal(chip8(), product.program()).find("what was written before"),
              std::string::npos);
}

TEST(ProgramCheck, TakesAProductInALoop) {
    Product product;
    product.before = {isa::SetScalar{.header = {}, .rd = 5, .imm = 3}.encode()};
    product.output.header.signal_a = 4;
    product.after = {nop(4, 0), isa::AddScalar{.header = {}, .rd = 5, .rs = 5, .imm = -1}.encode(),
                     isa::BranchNonzero{.header = {}, .rs = 5, .offset = -8}.encode()};
    const auto work = arch::check_program(chip8(), product.program(), "p.tpu");
    EXPECT_EQ(work.macs, 3 * 320u);
    EXPECT_EQ(work.weight_tiles, 3u);
}

TEST(ProgramCheck, TakesFencesAsThirdWaitsAndSignals) {
    Product product;
    product.matmul.header = {.wait_a = 1};
    product.between = {
        isa::Fence{.header = {.signal_a = 2}, .unit = static_cast<uint8_t>(Unit::kMxu)}.encode(),
        isa::Fence{.header = {.wait_a = 2}, .unit = static_cast<uint8_t>(Unit::kVector)}.encode()};
    product.drain.header = {.signal_a = 3};
    EXPECT_EQ(refusal(chip8(), product.program()), "");
    product.between.pop_back();
    product.after = {nop(2, 0)};
    EXPECT_NE(refusal(chip8(), product.program()).find("of the same accumulators"),
              std::string::npos);
}

TEST(ProgramCheck, TakesWhatTheCompilerMakes) {
    for (uint32_t seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        const auto graph = random_graph(random);
        auto chip = test_chip(8, 8);
        chip.mxu.accumulator_rows = seed % 2 == 0 ? 256 : 8;
        chip.cores = 1 + seed % 3;
        chip.mxu.count = 1 + seed % 2;
        // Some of the values go through device memory then.
        if (seed % 3 == 0) chip.unified_buffer_bytes = smallest_buffer(graph, chip, {});
        EXPECT_EQ(refusal(chip, compiler::compile(graph, chip)), "") << "seed " << seed;
    }
}

arch::Program digits(const arch::ChipConfig& chip) {
    return compiler::compile(
        compiler::import_tflite(testbench::source_dir() / "models/digits/digits_int8.tflite"),
        chip);
}

// Each mutant is a whole file with its checksums repaired. What is taken runs to its end.
TEST(ProgramCheck, AMutantIsRefusedOrRuns) {
    auto chip = test_chip(16, 16);
    chip.memory.bytes = 1 << 20;
    const arch::Program program = digits(chip);
    ASSERT_EQ(refusal(chip, program), "");
    uint32_t taken = 0, run = 0;
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        testbench::Seeded random(seed);
        arch::Program mutant;
        try {
            mutant = arch::deserialise(testbench::mutated_file(program, random), "p.tpu");
            if (!refusal(chip, mutant).empty()) continue;
        } catch (const UserError&) {
            continue;
        }
        ++taken;
        if (taken % 8 != 0) continue;
        ++run;
        const auto programs = programs_of(mutant);
        const Int8s inputs(arch::bytes_of(mutant.inputs), 1);
        IsaInterpreter machine(chip, programs, setting_of(mutant, chip, inputs),
                               Order::number(static_cast<uint32_t>(seed)));
        ASSERT_NO_THROW(machine.run()) << "seed " << seed;
        ASSERT_EQ(machine.left_over(), "") << "seed " << seed;
    }
    // Most mutants are harmless: another weight, another parameter, a name.
    EXPECT_GT(taken, 300u);
    EXPECT_LT(taken, 2900u);
    EXPECT_GT(run, 30u);
}

}  // namespace
}  // namespace tandem::testbench
