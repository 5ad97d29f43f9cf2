// SPDX-License-Identifier: Apache-2.0
// What the check of programs takes and refuses of the typed vector unit, and what it says.
#include <gtest/gtest.h>

#include "arch/instruction_check.h"
#include "base/error.h"

namespace tandem::arch {
namespace {

using Code = std::vector<isa::Words>;

ChipConfig chip_of_4_lanes() {
    ChipConfig chip;
    chip.mxu = {8, 4, Dtype::kInt8, 1, false, 0, 64, 2};
    chip.unified_buffer_bytes = 4096;
    chip.vector = {4, 8};
    chip.sequencer = {4, 20000};
    return chip;
}

/// Empty: all of them are taken.
std::string refusal(const Code& code, const ChipConfig& chip = chip_of_4_lanes()) {
    Program program;
    program.cores = {{code, {}}};
    ProgramCheck all(chip, program, "p.tpu");
    InstructionCheck check(all, 0);
    try {
        check.check_encodings();
        for (uint32_t i = 0; i < code.size(); ++i) check.look_at(i, {});
        return {};
    } catch (const UserError& error) {
        return error.what();
    }
}

/// Behind a shape of 2 lines of 4 elements and an fp32 operand a.
template <class Op>
Code in_lines(const Op& op) {
    return {isa::SetShape{.header = {}, .n4 = 2, .n5 = 4}.encode(),
            isa::SetView{.header = {}, .operand = 1, .type = 3, .s4 = 16, .s5 = 4}.encode(),
            op.encode()};
}

struct Refused {
    const char* name;
    Code code;
    const char* says;
};

const Refused kRefused[] = {
    {"AShapeOfNothing",
     {isa::SetShape{.header = {}, .n3 = 0}.encode()},
     "instruction 0 (set_shape): expected values that the vector unit has"},
    {"AViewOfNoType", {isa::SetView{.header = {}, .type = 4}.encode()}, "(set_view): expected"},
    {"TapsOverNothing", {isa::SetTaps{.header = {}, .size_w = 0}.encode()}, "(set_taps): expected"},
    {"AChainOperationThatThereIsNot",
     {isa::SetChain{.header = {}, .op2 = 99}.encode()},
     "(set_chain): expected"},
    {"AChainFromAnOddStep", {isa::SetChain{.header = {}, .first = 3}.encode()}, "(set_chain)"},
    {"ConstantsFromAnOddOne",
     {isa::SetConstants{.header = {}, .first = 1}.encode()},
     "(set_constants): expected"},
    {"UnusedBits", {isa::Words{0x48, 1u << 16}}, "zeros where no field is"},
    {"AMapOfNothing", in_lines(isa::Map{.header = {}, .operands = 0}),
     "instruction 2 (map): expected one operand at least"},
    {"AMapBeyondTheBuffer", in_lines(isa::Map{.header = {}, .a_addr = 4065}),
     "operand a inside the unified buffer of 4096 bytes, found 32 bytes at 4065"},
    {"AThirdOperandBeyondTheBuffer",
     in_lines(isa::Map{.header = {}, .c_addr = 4096, .operands = 3}), "operand c inside"},
    {"AResultBeyondTheBuffer", in_lines(isa::Reduce{.header = {}, .out_addr = 4096}),
     "the result inside the unified buffer"},
    {"AnOperandAheadOfTheBuffer",
     {isa::SetShape{.header = {}, .n5 = 4}.encode(),
      isa::SetView{.header = {}, .operand = 2, .s5 = -1}.encode(),
      isa::Map{.header = {}, .b_addr = 2, .operands = 2}.encode()},
     "operand b inside the unified buffer, found 1 bytes ahead of it"},
    {"AWindowBeyondTheBuffer",
     {isa::SetView{.header = {}, .operand = 1, .s1 = 64}.encode(),
      isa::SetTaps{.header = {}, .size_h = 65}.encode(),
      isa::Map{.header = {}, .taps = 1}.encode()},
     "found 4097 bytes at 0"},
    {"ALookupOfFloats", in_lines(isa::Lookup{}), "an int8 view of operand a"},
    {"ATableBeyondTheBuffer",
     {isa::Lookup{.header = {}, .table_addr = 3841}.encode()},
     "the table inside the unified buffer"},
    {"AMoveBetweenTypes", in_lines(isa::Move{}), "of the same type"},
    {"AGatherOfNoRows", {isa::Move{.header = {}, .gather = 1}.encode()}, "one row at least"},
    {"RowsBeyondTheBuffer",
     {isa::SetView{.header = {}, .operand = 1, .s0 = 64}.encode(),
      isa::Move{.header = {}, .rows = 66, .gather = 1}.encode()},
     "operand a inside the unified buffer of 4096 bytes, found 4161 bytes at 0"},
    {"IndicesBeyondTheBuffer",
     {isa::SetShape{.header = {}, .n0 = 2}.encode(),
      isa::Move{.header = {}, .index_addr = 4089, .rows = 1, .gather = 1}.encode()},
     "the indices inside"},
    {"AMapForEver",
     {isa::SetShape{.header = {}, .n0 = ~0u, .n1 = ~0u, .n2 = ~0u, .n3 = ~0u}.encode(),
      isa::Map{}.encode()},
     "comes to its end soon"},
    {"AMapBeyondTheWatchdog",
     {isa::SetShape{.header = {}, .n0 = 4 * 20000}.encode(), isa::Map{}.encode()},
     "less than the watchdog's 20000 cycles, found 20008"},
    {"SumsOfInt8WithoutAChain",
     {isa::Convert{.header = {}, .rows = 1, .cols = 4, .wide = 1}.encode()},
     "a chain for the sums of an int8 one"},
    {"AnUnknownFunction",
     {isa::Convert{.header = {}, .rows = 1, .cols = 4, .function = 3, .wide = 1}.encode()},
     "function 0, 1 or 2"},
};

class VectorCheckRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(VectorCheckRefuses, AndSaysWhy) {
    const std::string why = refusal(GetParam().code);
    EXPECT_EQ(why.find("p.tpu: "), 0u) << why;
    EXPECT_NE(why.find(GetParam().says), std::string::npos) << why;
}
INSTANTIATE_TEST_SUITE_P(Code, VectorCheckRefuses, ::testing::ValuesIn(kRefused),
                         [](const auto& info) { return std::string(info.param.name); });

// The last byte that each of them reaches is the buffer's.
TEST(VectorCheck, TakesWhatLiesInsideTheBuffer) {
    const Code code[] = {
        in_lines(isa::Map{.header = {}, .a_addr = 4064, .b_addr = 4095, .operands = 2}),
        in_lines(isa::Reduce{.header = {}, .a_addr = 4064, .out_addr = 4095, .axes = 63}),
        {isa::Lookup{.header = {}, .table_addr = 3840}.encode()},
        {isa::SetView{.header = {}, .operand = 1, .s0 = 64}.encode(),
         isa::Move{.header = {}, .index_addr = 4092, .rows = 64, .gather = 1}.encode()},
        {isa::SetShape{.header = {}, .n5 = 4}.encode(),
         isa::SetView{.header = {}, .operand = 2, .s5 = -1}.encode(),
         isa::Map{.header = {}, .b_addr = 3, .operands = 2}.encode()},
        {isa::Convert{.header = {}, .rows = 1, .cols = 4, .function = 2, .wide = 1}.encode()},
    };
    for (size_t i = 0; i < std::size(code); ++i) EXPECT_EQ(refusal(code[i]), "") << "code " << i;
}

// Strides of reduced axes count for operand a only, those of operands that are not read not at all.
TEST(VectorCheck, LooksAtWhatIsReadOnly) {
    const auto far = [](uint8_t operand) {
        return isa::SetView{.header = {}, .operand = operand, .s5 = 1 << 20}.encode();
    };
    const isa::Words shape = isa::SetShape{.header = {}, .n5 = 2}.encode();
    const auto reduce = [](uint8_t axes) {
        return isa::Reduce{.header = {}, .axes = axes, .operands = 2}.encode();
    };
    EXPECT_EQ(refusal({shape, far(0), far(2), reduce(32)}), "");
    EXPECT_NE(refusal({shape, far(0), reduce(16)}), "");
    EXPECT_NE(refusal({shape, far(1), reduce(32)}), "");
    EXPECT_EQ(refusal({shape, far(3), isa::Map{.header = {}, .operands = 2}.encode()}), "");
}

TEST(VectorCheck, CountsTheStepsOfAChain) {
    const Code code = {isa::SetShape{.header = {}, .n0 = 40000}.encode(),
                       isa::SetChain{.header = {}, .op0 = 1, .op1 = 51}.encode(),
                       isa::Map{}.encode()};
    ChipConfig chip = chip_of_4_lanes();
    EXPECT_EQ(refusal(code, chip), "") << "10008 cycles";
    chip.vector.fixed_pipeline = false;
    EXPECT_NE(refusal(code, chip).find("found 20008"), std::string::npos);
    chip.vector.transcendental_lanes = 1;
    EXPECT_NE(refusal(code, chip).find("found 50008"), std::string::npos);
}

}  // namespace
}  // namespace tandem::arch
