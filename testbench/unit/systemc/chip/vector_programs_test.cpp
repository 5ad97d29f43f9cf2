// SPDX-License-Identifier: Apache-2.0
// The typed vector unit of a chip against the interpreter: random programs give the same bytes, and
// arbitrary words are taken or refused by chip, check and interpreter alike.
#include <gtest/gtest.h>

#include "arch/instruction_check.h"
#include "base/error.h"
#include "testbench/support/chip_bench.h"
#include "testbench/support/chip_programs.h"
#include "testbench/support/isa_interpreter.h"
#include "testbench/support/random_vector_program.h"

namespace tandem::sim {
namespace {

using namespace testbench;

class VectorPrograms : public ChipTest {
  protected:
    /// What the interpreter leaves in the buffer; throws std::runtime_error where it refuses.
    std::vector<uint8_t> interpreted(const ProgramWords& program, const std::vector<uint8_t>& from,
                                     uint32_t order, const testbench::Setting& setting = {}) const {
        const std::vector<testbench::CoreProgram> programs = {
            {program, std::vector<arch::InstructionSource>(program.size())}};
        testbench::IsaInterpreter interpreter(bench->config, programs, setting,
                                              testbench::Order::number(order));
        interpreter.buffer(0) = from;
        interpreter.run();
        return interpreter.buffer(0);
    }
    /// Products of random bytes, drained through random chains.
    void convert_sums(arch::Dtype dtype) {
        arch::ChipConfig chip = small_chip();
        chip.mxu.dtype = dtype;
        make(chip);
        bench->run([&] {
            bench->enable();
            for (uint32_t seed = 0; seed < 100; ++seed) convert_sums_once(seed);
        });
    }
    void convert_sums_once(uint32_t seed) {
        constexpr uint16_t kRows = 6;
        RandomVectorProgram chains(seed);
        Seeded random(seed);
        const auto before = chains.buffer();
        testbench::Setting setting;
        setting.device = {{ChipBench::kDeviceData, random.bytes(bench->config.tile_bytes())}};
        setting.scalars[1] = ChipBench::kDeviceData;
        std::ranges::copy(setting.device[0].bytes,
                          bench->device().begin() + ChipBench::kDeviceData);
        isa::Geometry window = matrix_window(kRows, 8);
        window.pixel_stride = static_cast<uint16_t>(bench->config.row_bytes());
        isa::Convert op{.header = wait(1), .ub_addr = 3001, .params_addr = 2000, .rows = kRows};
        op.row_stride = 20, op.cols = 3, op.function = 2;
        op.bias = static_cast<uint8_t>(random.below(2));
        op.wide = static_cast<uint8_t>(random.below(2));
        ProgramWords program = {read_weights({}, 0, 1), set_window(window),
                                matmul(signal(1), 0, kRows, 8).encode()};
        for (const isa::Words& words : chains.settings_of_a_chain()) program.push_back(words);
        program.push_back(op.encode());
        program.push_back(halt());
        ASSERT_EQ(run(program, before), TANDEM_ERROR_NONE) << "seed " << seed;
        const auto expected = interpreted(program, before, seed, setting);
        for (size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(bench->buffer()[i], expected[i]) << "seed " << seed << ", byte " << i;
    }
    /// Error of the chip; the buffer begins with `from`.
    uint32_t run(const ProgramWords& program, const std::vector<uint8_t>& from) {
        std::ranges::copy(from, bench->buffer().begin());
        const uint32_t error = bench->run_program(program);
        if (error != 0) bench->reset();
        return error;
    }
};

TEST_F(VectorPrograms, LeaveTheInterpretersBytes) {
    make();
    bench->run([&] {
        bench->enable();
        for (uint32_t seed = 0; seed < 400; ++seed) {
            RandomVectorProgram random(seed);
            const auto before = random.buffer();
            ProgramWords program = random.program(4);
            program.push_back(halt());
            ASSERT_EQ(run(program, before), TANDEM_ERROR_NONE)
                << "seed " << seed << ", instruction " << bench->read(TANDEM_REG_ERROR_INFO);
            const auto expected = interpreted(program, before, seed);
            for (size_t i = 0; i < expected.size(); ++i)
                ASSERT_EQ(bench->buffer()[i], expected[i]) << "seed " << seed << ", byte " << i;
        }
    });
}

TEST_F(VectorPrograms, ConvertSumsOfInt8ByAChain) { convert_sums(arch::Dtype::kInt8); }
TEST_F(VectorPrograms, ConvertSumsOfBf16ByAChain) { convert_sums(arch::Dtype::kBf16); }

TEST_F(VectorPrograms, BeginWithTheSameStateEachTime) {
    make();
    bench->run([&] {
        bench->enable();
        RandomVectorProgram random(1);
        const auto before = random.buffer();
        isa::Map map;
        map.out_addr = 100;
        const ProgramWords plain = {map.encode(), halt()};
        ProgramWords other = random.program(6);
        other.push_back(halt());
        ASSERT_EQ(run(plain, before), TANDEM_ERROR_NONE);
        const std::vector<uint8_t> first(bench->buffer().begin(), bench->buffer().end());
        ASSERT_EQ(run(other, before), TANDEM_ERROR_NONE);
        ASSERT_EQ(run(plain, before), TANDEM_ERROR_NONE);
        EXPECT_TRUE(std::ranges::equal(bench->buffer(), first));
        EXPECT_EQ(interpreted(plain, before, 0), first);
    });
}

TEST_F(VectorPrograms, EndAtAnIndexOutsideOfTheRows) {
    make();
    bench->run([&] {
        bench->enable();
        isa::Move op{.header = {}, .index_addr = 8, .out_addr = 100, .rows = 3, .gather = 1};
        const ProgramWords program = {isa::SetShape{.header = {}, .n0 = 2}.encode(), op.encode(),
                                      halt()};
        for (const int32_t index : {0, 2, 3, -1, 256}) {
            std::vector<uint8_t> before(RandomVectorProgram::kBufferBytes);
            std::memcpy(before.data() + 12, &index, 4);  // the second one
            std::ranges::copy(before, bench->buffer().begin());
            const bool inside = index >= 0 && index < 3;
            ASSERT_EQ(bench->run_program(program),
                      inside ? TANDEM_ERROR_NONE : TANDEM_ERROR_UB_ADDRESS)
                << "index " << index;
            if (inside) continue;
            EXPECT_EQ(bench->read(TANDEM_REG_ERROR_INFO), 1u) << "index " << index;
            EXPECT_THROW(interpreted(program, before, 0), std::runtime_error);
            bench->reset();
        }
    });
}

/// A field of an instruction of the vector unit gets other bits.
void spoil(ProgramWords& program, Seeded& random) {
    isa::Words& words = program[random.below(program.size())];
    const auto& info = *std::ranges::find_if(isa::kInstructions, [&](const auto& candidate) {
        return static_cast<uint32_t>(candidate.opcode) == isa::opcode_of(words);
    });
    const auto position = info.fields[random.below(info.field_count)].position;
    const uint32_t mask = position.width == 32 ? ~0u : (1u << position.width) - 1;
    const uint32_t small = static_cast<uint32_t>(random.below(300));
    const uint32_t value = random.chance(50) ? small : static_cast<uint32_t>(random.bits());
    words[position.word] &= ~(mask << position.lsb);
    words[position.word] |= (value & mask) << position.lsb;
}

/// Whether the check of programs takes all of the instructions, one after the other.
bool taken(const arch::ChipConfig& chip, const ProgramWords& words) {
    arch::Program program;
    program.cores = {{words, {}}};
    arch::ProgramCheck all(chip, program, "program");
    arch::InstructionCheck check(all, 0);
    try {
        check.check_encodings();
        for (uint32_t i = 0; i < words.size(); ++i) check.look_at(i, {});
        return true;
    } catch (const UserError&) {
        return false;
    }
}

TEST_F(VectorPrograms, AreTakenOrRefusedByAllAlike) {
    make();
    bench->run([&] {
        bench->enable();
        uint32_t taken_ones = 0, refused = 0;
        for (uint32_t seed = 0; seed < 600; ++seed) {
            RandomVectorProgram random(seed);
            const auto before = random.buffer();
            ProgramWords program = random.program(2);
            Seeded other(seed);
            spoil(program, other);
            program.push_back(halt());
            const bool check = taken(bench->config, program);
            const uint32_t error = run(program, before);
            // Indices are data; cycles the check only estimates.
            const bool unforeseen =
                error == TANDEM_ERROR_UB_ADDRESS || error == TANDEM_ERROR_WATCHDOG;
            EXPECT_TRUE(check == (error == 0) || (check && unforeseen))
                << "seed " << seed << ": check " << check << ", chip " << error;
            if (error == 0) {
                EXPECT_NO_THROW(interpreted(program, before, seed)) << "seed " << seed;
            }
            ++(error == 0 ? taken_ones : refused);
        }
        EXPECT_GT(taken_ones, 60u);
        EXPECT_GT(refused, 60u);
    });
}

}  // namespace
}  // namespace tandem::sim
