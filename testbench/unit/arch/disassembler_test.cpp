// SPDX-License-Identifier: Apache-2.0
// Instructions as text.
#include "arch/disassembler.h"

#include <gtest/gtest.h>

#include "testbench/support/seeded.h"

namespace tandem::arch {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Disassembler, WritesOneInstructionWithFieldsAndFlags) {
    const isa::ReadWeights fetch{.header = {.wait_a = 3, .wait_b = 4, .signal_a = 5, .signal_b = 0},
                                 .offset = 0x40,
                                 .tiles = 7,
                                 .base = 1};
    EXPECT_EQ(
        disassemble(fetch.encode()),
        "read_weights offset=0x40 tiles=7 base=1 mxu=0 offset_high=0 ahead=0 wait 3,4 signal 5");
}

TEST(Disassembler, LeavesOutFlagsThatAreNone) {
    EXPECT_EQ(disassemble(isa::Halt{}.encode()), "halt");
}

TEST(Disassembler, ShowsASingleFlagOfEitherPlace) {
    EXPECT_EQ(disassemble(isa::Nop{.header = {.wait_b = 9, .signal_b = 8}}.encode()),
              "nop wait 9 signal 8");
}

TEST(Disassembler, NamesTheCoreWhoseFlagIsRaised) {
    EXPECT_EQ(disassemble(isa::Nop{.header = {.signal_a = 7, .signal_b = 8, .core = 3}}.encode()),
              "nop signal 7,8 of core 2");
}

TEST(Disassembler, ShowsNegativeValues) {
    const isa::BranchNonzero branch{.header = {}, .rs = 2, .offset = -12};
    EXPECT_EQ(disassemble(branch.encode()), "branch_nonzero rs=2 offset=-12");
}

TEST(Disassembler, NamesEveryInstruction) {
    for (const auto& info : isa::kInstructions) {
        const std::string text = disassemble(isa::Words{static_cast<uint32_t>(info.opcode)});
        EXPECT_TRUE(text == info.name || text.starts_with(std::string(info.name) + " ")) << text;
        for (uint32_t i = 0; i < info.field_count; ++i)
            EXPECT_TRUE(contains(text, " " + std::string(info.fields[i].name) + "="))
                << info.fields[i].name << " missing in: " << text;
    }
}

TEST(Disassembler, ShowsUnknownOpcodesAsWords) {
    EXPECT_EQ(disassemble(isa::Words{0xff, 1, 2, 3, 4, 5, 6, 0xdeadbeef}),
              ".words 000000ff 00000001 00000002 00000003 00000004 00000005 00000006 deadbeef");
}

TEST(Disassembler, TakesAnyWords) {
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        testbench::Seeded random(seed);
        isa::Words words;
        for (uint32_t& word : words) word = static_cast<uint32_t>(random.bits());
        EXPECT_FALSE(disassemble(words).empty()) << "seed " << seed;
    }
}

TEST(Disassembler, WritesAProgramWithNodesAndSources) {
    Program program;
    program.chip_hash = 0xabc;
    program.chip = "chip8";
    program.model = "net.tflite";
    program.batch = 2;
    program.rounding = "single";
    program.cores = {{{isa::Nop{}.encode(), isa::Halt{}.encode()}, {{0, 4, 1, 2, 3}, {}}}};
    program.nodes = {{7, "CONV_2D", "out", 99, ProgramNode::Place::kMemory, 0x100, 5, {}}};
    const std::string text = disassemble(program);
    for (const char* part : {"net.tflite", "chip8", "0000000000000abc", "batch 2", "single",
                             "#7 CONV_2D", "out", "macs=99", "output=memory 0x100+5", "; core 0\n",
                             "0: nop  ; #7 CONV_2D m=1 n=2 k=3\n", "1: halt\n"})
        EXPECT_TRUE(contains(text, part)) << "expected \"" << part << "\" in:\n" << text;
}

}  // namespace
}  // namespace tandem::arch
