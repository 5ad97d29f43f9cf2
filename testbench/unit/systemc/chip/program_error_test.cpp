// SPDX-License-Identifier: Apache-2.0
// Every error of arch/registers.yaml, from a program or a ring that provokes it; afterwards the
// chip must be usable again. One simulation per process.
#include <gtest/gtest.h>

#include "testbench/support/chip_bench.h"
#include "testbench/support/chip_programs.h"
#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using namespace testbench;

constexpr uint32_t kUb = 4096, kMemory = 1 << 20;

struct Bad {
    const char* name;
    uint32_t code;
    uint32_t instruction;  ///< that ERROR_INFO has to name
    ProgramWords program;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

isa::Words with_window(void (*change)(isa::Geometry&)) {
    isa::Geometry geometry = matrix_window(4, 8);
    change(geometry);
    return set_window(geometry);
}
isa::Words with_matmul(void (*change)(isa::Matmul&)) {
    isa::Matmul instruction = matmul({}, 0, 4, 8);
    change(instruction);
    return instruction.encode();
}
isa::Words with_requantise(void (*change)(isa::Requantise&)) {
    isa::Requantise instruction = requantise({}, 0, 1024, 4);
    change(instruction);
    return instruction.encode();
}
isa::Words with_map(void (*change)(isa::Map&)) {
    isa::Map instruction;
    instruction.out_addr = 100;
    change(instruction);
    return instruction.encode();
}
isa::Words with_reduce(void (*change)(isa::Reduce&)) {
    isa::Reduce instruction;
    instruction.out_addr = 100;
    change(instruction);
    return instruction.encode();
}
isa::Words with_move(void (*change)(isa::Move&)) {
    isa::Move instruction;
    instruction.out_addr = 100;
    change(instruction);
    return instruction.encode();
}
isa::Words lookup(uint32_t a, uint32_t table, uint32_t out) {
    return isa::Lookup{.header = {}, .a_addr = a, .table_addr = table, .out_addr = out}.encode();
}
/// Four elements a line, lines 16 bytes apart.
isa::Words shape(uint32_t lines) {
    return isa::SetShape{.header = {}, .n4 = lines, .n5 = 4}.encode();
}
isa::Words view(uint8_t operand, uint8_t type, int32_t line = 16) {
    return isa::SetView{.header = {}, .operand = operand, .type = type, .s4 = line, .s5 = 4}
        .encode();
}

std::vector<Bad> bad_programs() {
    const isa::Words window = set_window(matrix_window(4, 8));
    return {
        {"DmaInBeyondBuffer", 5, 0, {read_host({}, kUb - 3, 0, 4), halt()}},
        {"DmaOutBeyondBuffer", 5, 0, {write_host({}, kUb, 0, 1), halt()}},
        {"DmaWithHugeLength", 5, 0, {read_host({}, 1, 0, 0xffffffff), halt()}},
        {"MatmulBeyondBuffer",
         5,
         1,
         {window, with_matmul([](isa::Matmul& m) { m.ub_addr = kUb - 31; }), halt()}},
        {"RequantiseOutputBeyondBuffer",
         5,
         0,
         {with_requantise([](isa::Requantise& a) { a.ub_addr = kUb - 15; }), halt()}},
        {"RequantiseParamsBeyondBuffer",
         5,
         0,
         {with_requantise([](isa::Requantise& a) { a.params_addr = kUb - 47; }), halt()}},
        {"MapOperandBeyondBuffer",
         5,
         2,
         {shape(2), view(1, 3), with_map([](isa::Map& m) { m.a_addr = kUb - 31; }), halt()}},
        {"MapOperandAheadOfBuffer",
         5,
         2,
         {shape(2), view(1, 3, -16), with_map([](isa::Map& m) { m.a_addr = 15; }), halt()}},
        {"MapThirdOperandBeyondBuffer",
         5,
         0,
         {with_map([](isa::Map& m) { m.operands = 3, m.c_addr = kUb; }), halt()}},
        {"MapResultBeyondBuffer",
         5,
         2,
         {shape(2), view(0, 3), with_map([](isa::Map& m) { m.out_addr = kUb - 31; }), halt()}},
        {"MapOfFarStrides",
         5,
         2,
         {shape(0xffffffff), view(1, 0, 0x7fffffff), with_map([](isa::Map&) {}), halt()}},
        {"ReduceResultBeyondBuffer",
         5,
         0,
         {with_reduce([](isa::Reduce& r) { r.out_addr = kUb; }), halt()}},
        {"LookupTableBeyondBuffer", 5, 0, {lookup(0, kUb - 255, 0), halt()}},
        {"MoveIndicesBeyondBuffer",
         5,
         0,
         {with_move([](isa::Move& m) { m.gather = 1, m.rows = 1, m.index_addr = kUb - 3; }),
          halt()}},
        {"MoveRowsBeyondBuffer",
         5,
         1,
         {isa::SetView{.header = {}, .operand = 1, .s0 = 64}.encode(),
          with_move([](isa::Move& m) { m.gather = 1, m.rows = kUb / 64 + 1; }), halt()}},
        {"ReadMemoryBeyondMemory", 4, 0, {read_memory({}, 0, kMemory - 3, 4, 0), halt()}},
        {"WriteMemoryBeyondMemory", 4, 0, {write_memory({}, 0, kMemory, 1, 0), halt()}},
        {"ReadWeightsBeyondMemory", 4, 0, {read_weights({}, kMemory - 31, 1, 0), halt()}},
        {"SecondWeightTileBeyondMemory", 4, 0, {read_weights({}, kMemory - 63, 2, 0), halt()}},
        {"ReadHostRefused", 3, 0, {read_host({}, 0, 0, 4, 0), halt()}},
        {"WriteHostRefused", 3, 1, {nop(), write_host({}, 0, kHostBytes, 4), halt()}},
        {"MatmulBeyondAccumulators",
         6,
         1,
         {window, with_matmul([](isa::Matmul& m) { m.acc_addr = 61; }), halt()}},
        {"RequantiseBeyondAccumulators",
         6,
         0,
         {with_requantise([](isa::Requantise& a) { a.acc_addr = 61; }), halt()}},
        {"UnknownOpcode", 7, 1, {nop(), isa::Words{0x77}, halt()}},
        {"MatmulWithoutRows",
         7,
         1,
         {window, with_matmul([](isa::Matmul& m) { m.rows = 0; }), halt()}},
        {"MatmulWithoutReduction",
         7,
         1,
         {window, with_matmul([](isa::Matmul& m) { m.k_len = 0; }), halt()}},
        {"MatmulWithMoreThanTheArraysRows",
         7,
         1,
         {set_window(matrix_window(4, 16)), with_matmul([](isa::Matmul& m) { m.k_len = 9; }),
          halt()}},
        {"MatmulWithMoreThanTheArraysColumns",
         7,
         1,
         {window, with_matmul([](isa::Matmul& m) { m.n_len = 5; }), halt()}},
        {"MatmulBeyondTheReduction",
         7,
         1,
         {window, with_matmul([](isa::Matmul& m) { m.k_start = 1; }), halt()}},
        {"WindowWithoutHeight",
         7,
         0,
         {with_window([](isa::Geometry& g) { g.in_height = 0; }), halt()}},
        {"WindowWithoutOutput",
         7,
         0,
         {with_window([](isa::Geometry& g) { g.out_width = 0; }), halt()}},
        {"WindowWithoutStride",
         7,
         0,
         {with_window([](isa::Geometry& g) { g.stride_h = 0; }), halt()}},
        {"WindowWithoutDilation",
         7,
         0,
         {with_window([](isa::Geometry& g) { g.dilation_w = 0; }), halt()}},
        {"WindowWithoutChannels",
         7,
         0,
         {with_window([](isa::Geometry& g) { g.channels = 0; }), halt()}},
        {"RequantiseWithoutRows",
         7,
         0,
         {with_requantise([](isa::Requantise& a) { a.rows = 0; }), halt()}},
        {"RequantiseWithoutColumns",
         7,
         0,
         {with_requantise([](isa::Requantise& a) { a.cols = 0; }), halt()}},
        {"RequantiseWithTooManyColumns",
         7,
         0,
         {with_requantise([](isa::Requantise& a) { a.cols = 5; }), halt()}},
        {"ShapeOfNothing", 7, 0, {shape(0), halt()}},
        {"ViewOfUnknownType", 7, 0, {view(1, 4), halt()}},
        {"WindowOverNoLines", 7, 0, {isa::SetTaps{.header = {}, .size_h = 0}.encode(), halt()}},
        {"ChainOfAnUnknownOperation",
         7,
         0,
         {isa::SetChain{.header = {}, .op5 = 20}.encode(), halt()}},
        {"ChainFromAnOddStep", 7, 0, {isa::SetChain{.header = {}, .first = 5}.encode(), halt()}},
        {"ConstantsFromAnOddOne",
         7,
         0,
         {isa::SetConstants{.header = {}, .first = 12}.encode(), halt()}},
        {"MapOfNothing", 7, 0, {with_map([](isa::Map& m) { m.operands = 0; }), halt()}},
        {"ReduceOfNothing", 7, 0, {with_reduce([](isa::Reduce& r) { r.operands = 0; }), halt()}},
        {"LookupOfFloats", 7, 1, {view(1, 3), lookup(0, 0, 0), halt()}},
        {"MoveBetweenTypes", 7, 1, {view(1, 3), with_move([](isa::Move&) {}), halt()}},
        {"MoveOfNoRows", 7, 0, {with_move([](isa::Move& m) { m.gather = 1; }), halt()}},
        {"ConvertOfInt8SumsWithoutChain",
         7,
         0,
         {isa::Convert{.header = {}, .rows = 1, .cols = 4, .wide = 1}.encode(), halt()}},
        {"ConvertByAnUnknownFunction",
         7,
         0,
         {isa::Convert{.header = {}, .rows = 1, .cols = 4, .function = 3, .wide = 1}.encode(),
          halt()}},
        {"MapForEver",
         9,
         1,
         {isa::SetShape{.header = {}, .n0 = 0xffffffff, .n1 = 0xffffffff, .n2 = 0xffffffff}
              .encode(),
          with_map([](isa::Map&) {}), halt()}},
        {"ReadWeightsWithoutTiles", 7, 0, {read_weights({}, 0, 0), halt()}},
        {"ReadWhileBeingWritten",
         8,
         4,
         {read_weights({}, 0, 1), window, with_matmul([](isa::Matmul& m) {
              m.rows = 4;
              m.header.signal_a = 0;
          }),
          with_matmul([](isa::Matmul& m) {
              m.rows = 4;
              m.acc_addr = 8;
          }),
          with_requantise([](isa::Requantise& a) { a.acc_addr = 2; }), halt()}},
        {"OverwrittenWhileBeingRead",
         8,
         6,
         {read_weights({}, 0, 2), set_window(matrix_window(60, 8)), with_matmul([](isa::Matmul& m) {
              m.rows = 60;
              m.header.signal_a = 1;
          }),
          nop(wait(1)), requantise({}, 3000, 1024, 60).encode(), nop(),
          with_matmul([](isa::Matmul& m) { m.acc_addr = 50; }), halt()}},
        {"FlagThatNobodyRaises", 9, 0, {nop(wait(3)), halt()}},
        {"FlagThatNobodyRaisesForAUnit", 9, 1, {read_host(wait(3), 0, 0, 1), halt()}},
        {"TilesThatNobodyTakes", 9, 1, {read_weights({}, 0, 4), halt()}},
        {"TileThatNobodyBrings", 9, 2, {window, with_matmul([](isa::Matmul&) {}), halt()}},
        {"NoHalt", 10, 1, {nop()}},
        {"BranchBeyondTheEnd",
         10,
         101,
         {isa::SetScalar{.header = {}, .rd = 1, .imm = 1}.encode(),
          isa::BranchNonzero{.header = {}, .rs = 1, .offset = 100}.encode(), halt()}},
    };
}

class ProgramError : public ChipTest, public testing::WithParamInterface<Bad> {
  protected:
    void check_usable(const char* after) {
        Seeded random(1);
        const auto bytes = random.bytes(64);
        std::memcpy(bench->memory.at(kData), bytes.data(), bytes.size());
        const uint32_t error = bench->run_program(
            {read_host(signal(1), 0, 0, 64), write_host(wait(1), 0, 0, 64), halt()});
        EXPECT_EQ(error, TANDEM_ERROR_NONE) << "program after " << after;
        EXPECT_EQ(std::memcmp(bench->memory.at(kData + 0x4000), bytes.data(), 64), 0)
            << "bytes copied after " << after;
    }
};

TEST_P(ProgramError, IsToldWithCodeAndInstruction) {
    make();
    bench->run([&] {
        bench->enable();
        EXPECT_EQ(bench->run_program(GetParam().program), GetParam().code) << "ERROR_CODE";
        EXPECT_EQ(bench->read(TANDEM_REG_ERROR_INFO), GetParam().instruction) << "ERROR_INFO";
        EXPECT_EQ(bench->read(TANDEM_REG_STATUS), TANDEM_STATUS_ERROR) << "STATUS";
        EXPECT_EQ(bench->status(), 1 + GetParam().code) << "status in the ring";
        EXPECT_EQ(bench->read(TANDEM_REG_IRQ_STATUS), TANDEM_IRQ_STATUS_ERROR) << "IRQ_STATUS";
    });
}

TEST_P(ProgramError, LeavesAUsableChipAfterReset) {
    make();
    bench->run([&] {
        bench->enable();
        bench->run_program(GetParam().program);
        bench->reset();
        check_usable(GetParam().name);
        // The same mistake again must be found again.
        EXPECT_EQ(bench->run_program(GetParam().program), GetParam().code) << "second time";
        bench->reset();
        check_usable(GetParam().name);
    });
}

TEST_P(ProgramError, KeepsEveryCycleAccountedFor) {
    make();
    bench->run([&] {
        bench->enable();
        bench->run_program(GetParam().program);
        const uint64_t expected = bench->chip.sequencer().program_cycles();
        for (const Unit* unit : bench->chip.units()) {
            uint64_t sum = 0;
            for (const uint64_t cycles : unit->account().cycles()) sum += cycles;
            EXPECT_EQ(sum, expected)
                << "cycles of " << isa::kUnitNames[static_cast<size_t>(unit->unit())];
        }
    });
}

TEST_P(ProgramError, IsTheSameWithoutData) {
    make(small_chip(), false);
    bench->run([&] {
        bench->enable();
        EXPECT_EQ(bench->run_program(GetParam().program), GetParam().code)
            << "ERROR_CODE in timing mode";
    });
}

/// But for hazards, which are a matter of time: no work is under way when the next one begins.
TEST_P(ProgramError, IsTheSameLooselyTimed) {
    make(small_chip(), true, 1, Level::kLt);
    const bool hazard = GetParam().code == TANDEM_ERROR_ACC_HAZARD;
    bench->run([&] {
        for (int time = 0; time < 2; ++time) {
            bench->enable();
            const uint32_t code = bench->run_program(GetParam().program);
            if (hazard) {
                EXPECT_NE(code, GetParam().code) << "ERROR_CODE";
            } else {
                EXPECT_EQ(code, GetParam().code) << "ERROR_CODE";
                EXPECT_EQ(bench->read(TANDEM_REG_ERROR_INFO), GetParam().instruction)
                    << "ERROR_INFO";
            }
            bench->reset();
            check_usable(GetParam().name);
            bench->reset();
        }
        const uint64_t expected = bench->chip.sequencer().program_cycles();
        for (const Unit* unit : bench->chip.units()) {
            uint64_t sum = 0;
            for (const uint64_t cycles : unit->account().cycles()) sum += cycles;
            EXPECT_EQ(sum, expected) << unit->basename();
        }
    });
}

using LooseProgram = ChipTest;

TEST_F(LooseProgram, WithoutAnEndLetsTimePassAndIsAborted) {
    make(small_chip(), true, 1, Level::kLt);
    bench->run([&] {
        bench->enable();
        bench->load_program({isa::SetScalar{.header = {}, .rd = 1, .imm = 1}.encode(),
                             isa::BranchNonzero{.header = {}, .rs = 1, .offset = 0}.encode()});
        bench->put_run(2);
        bench->ring();
        EXPECT_FALSE(bench->wait_idle(sc_core::sc_time(100, sc_core::SC_US)));
        bench->reset();
        EXPECT_EQ(bench->run_program({halt()}), TANDEM_ERROR_NONE);
    });
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramError, testing::ValuesIn(bad_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem::sim
