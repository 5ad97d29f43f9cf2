// SPDX-License-Identifier: Apache-2.0
// Mistakes in ring and commands, CONTROL.RESET while something runs, and programs that are made to
// break the chip. One simulation per process.
#include <gtest/gtest.h>

#include "testbench/support/chip_bench.h"
#include "testbench/support/chip_programs.h"
#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using namespace testbench;

class Ring : public ChipTest {
  protected:
    Ring() { make(); }
    void expect_error(uint32_t code) {
        EXPECT_TRUE(bench->wait_idle()) << "the chip did not come to rest";
        EXPECT_EQ(bench->read(TANDEM_REG_ERROR_CODE), code) << "ERROR_CODE";
    }
    void expect_usable() {
        bench->reset();
        EXPECT_EQ(bench->run_program({halt()}), TANDEM_ERROR_NONE) << "after CONTROL.RESET";
        bench->reset();
    }
};

TEST_F(Ring, RejectsAnUnknownCommand) {
    bench->run([&] {
        bench->enable();
        bench->put_command(99, 0, 0, 0);
        bench->ring();
        expect_error(TANDEM_ERROR_BAD_COMMAND);
        EXPECT_EQ(bench->status(), 1 + TANDEM_ERROR_BAD_COMMAND) << "status in the ring";
        expect_usable();
    });
}

TEST_F(Ring, RejectsALengthThatIsNoPowerOfTwo) {
    bench->run([&] {
        for (const uint32_t entries : {0u, 1u, 3u, 7u, 2048u, 0xffffffffu}) {
            bench->enable();
            bench->write(TANDEM_REG_RING_ENTRIES, entries);
            bench->write(TANDEM_REG_DOORBELL, 1);
            SCOPED_TRACE(entries);
            expect_error(TANDEM_ERROR_BAD_RING);
            expect_usable();
        }
    });
}

TEST_F(Ring, RejectsAMisalignedBase) {
    bench->run([&] {
        bench->enable();
        bench->write(TANDEM_REG_RING_BASE_LO, static_cast<uint32_t>(kRing) + 32);
        bench->write(TANDEM_REG_DOORBELL, 1);
        expect_error(TANDEM_ERROR_BAD_RING);
        expect_usable();
    });
}

TEST_F(Ring, RejectsADoorbellBeyondTheRing) {
    bench->run([&] {
        bench->enable();
        bench->write(TANDEM_REG_DOORBELL, 9);
        expect_error(TANDEM_ERROR_BAD_RING);
        expect_usable();
    });
}

TEST_F(Ring, RejectsARingOutsideOfHostMemory) {
    bench->run([&] {
        bench->enable();
        bench->write(TANDEM_REG_RING_BASE_HI, 0x12);
        bench->write(TANDEM_REG_DOORBELL, 1);
        expect_error(TANDEM_ERROR_HOST_ADDRESS);
        expect_usable();
    });
}

TEST_F(Ring, RejectsALoadFromOutsideOfHostMemory) {
    bench->run([&] {
        bench->enable();
        bench->put_command(TANDEM_COMMAND_LOAD, kHostBase + kHostBytes - 10, 0, 11);
        bench->ring();
        expect_error(TANDEM_ERROR_HOST_ADDRESS);
        expect_usable();
    });
}

TEST_F(Ring, RejectsALoadBeyondDeviceMemory) {
    bench->run([&] {
        for (const uint64_t destination : {(1ull << 20) - 10, 1ull << 20, ~0ull - 4}) {
            bench->enable();
            bench->put_command(TANDEM_COMMAND_LOAD, kData, destination, 11);
            bench->ring();
            SCOPED_TRACE(destination);
            expect_error(TANDEM_ERROR_MEMORY_ADDRESS);
            expect_usable();
        }
    });
}

TEST_F(Ring, RejectsAProgramOutsideOfDeviceMemory) {
    bench->run([&] {
        bench->enable();
        bench->put_run((1 << 20) / 32 + 1);
        bench->ring();
        expect_error(TANDEM_ERROR_BAD_CORE_TABLE);
        expect_usable();
    });
}

TEST_F(Ring, RejectsAnEmptyProgram) {
    bench->run([&] {
        bench->enable();
        bench->put_run(0);
        bench->ring();
        expect_error(TANDEM_ERROR_BAD_CORE_TABLE);
        expect_usable();
    });
}

TEST_F(Ring, TakesNoCommandAfterAnErrorUntilReset) {
    bench->run([&] {
        bench->enable();
        bench->load_program({halt()});
        bench->put_command(99, 0, 0, 0);
        bench->put_run(1);
        bench->ring();
        expect_error(TANDEM_ERROR_BAD_COMMAND);
        sc_core::wait(100, sc_core::SC_US);
        EXPECT_EQ(bench->read(TANDEM_REG_RING_HEAD), 1u) << "commands completed";
    });
}

TEST_F(Ring, TakesNoCommandWhileDisabled) {
    bench->run([&] {
        bench->enable();
        bench->write(TANDEM_REG_CONTROL, 0);
        bench->load_program({halt()});
        bench->put_run(1);
        bench->ring();
        sc_core::wait(100, sc_core::SC_US);
        EXPECT_EQ(bench->read(TANDEM_REG_RING_HEAD), 0u) << "commands completed";
        bench->write(TANDEM_REG_CONTROL, TANDEM_CONTROL_ENABLE);
        EXPECT_TRUE(bench->wait_idle()) << "after ENABLE";
    });
}

/// A program that never ends by itself.
ProgramWords endless() {
    return {isa::SetScalar{.header = {}, .rd = 5, .imm = 1}.encode(),
            isa::BranchNonzero{.header = {}, .rs = 5, .offset = 0}.encode(), halt()};
}

struct InFlight {
    const char* name;
    ProgramWords program;
    uint32_t after_ns;
};

void PrintTo(const InFlight& work, std::ostream* out) { *out << work.name; }

class Reset : public ChipTest, public testing::WithParamInterface<InFlight> {};

TEST_P(Reset, EndsWhatRunsAndLeavesAUsableChip) {
    make();
    bench->run([&] {
        bench->enable();
        bench->load_program(GetParam().program);
        bench->put_run(GetParam().program.size(), {ChipBench::kDeviceData, kData, kData + 0x4000});
        bench->ring();
        sc_core::wait(GetParam().after_ns, sc_core::SC_NS);
        bench->write(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
        ASSERT_TRUE(bench->wait_reset()) << "still busy 100 us after CONTROL.RESET";
        EXPECT_EQ(bench->read(TANDEM_REG_ERROR_CODE), 0u) << "ERROR_CODE after reset";
        EXPECT_EQ(bench->read(TANDEM_REG_RING_HEAD), 0u) << "RING_HEAD after reset";
        EXPECT_EQ(bench->read(TANDEM_REG_DOORBELL), 0u) << "DOORBELL after reset";
        bench->enable();
        const auto bytes = Seeded(3).bytes(64);
        std::memcpy(bench->memory.at(kData), bytes.data(), bytes.size());
        EXPECT_EQ(bench->run_program(
                      {read_host(signal(1), 0, 0, 64), write_host(wait(1), 0, 0, 64), halt()}),
                  TANDEM_ERROR_NONE);
        EXPECT_EQ(std::memcmp(bench->memory.at(kData + 0x4000), bytes.data(), 64), 0)
            << "64 bytes, seed 3";
    });
}

const ProgramWords kMatmuls = {read_weights({}, 0, 4),
                               set_window(matrix_window(60, 8)),
                               matmul({}, 0, 60, 8).encode(),
                               matmul({}, 0, 60, 8).encode(),
                               matmul(signal(1), 0, 60, 8).encode(),
                               requantise(wait(1), 3000, 1024, 60).encode(),
                               nop(wait(2)),
                               halt()};

// A register access takes 500 ns itself, the fetch of the command another 500.
INSTANTIATE_TEST_SUITE_P(
    Moments, Reset,
    testing::Values(
        InFlight{"EndlessLoop", endless(), 5000},
        InFlight{"WhileTheCommandIsFetched", endless(), 0},
        InFlight{"WhileTheProgramIsFetched", endless(), 60},
        InFlight{"BlockedOnAFlag", {nop(wait(1)), halt()}, 3000},
        InFlight{"DuringDma", {read_host({}, 0, 0, 4000), read_host({}, 0, 0, 4000), halt()}, 900},
        InFlight{"DuringMatmul", kMatmuls, 250}, InFlight{"DuringWeights", kMatmuls, 160},
        InFlight{"DuringRequantise", kMatmuls, 800}, InFlight{"LongAfterTheEnd", {halt()}, 9000}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Ring, ResetEndsALoad) {
    bench->run([&] {
        bench->enable();
        bench->put_command(TANDEM_COMMAND_LOAD, kData, 0, 1000);
        bench->put_command(TANDEM_COMMAND_LOAD, kData, 0, 1000);
        bench->ring();
        sc_core::wait(100, sc_core::SC_NS);
        bench->write(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
        EXPECT_TRUE(bench->wait_reset());
        expect_usable();
    });
}

// The command has arrived between two clock edges and its program waits for the next one.
TEST_F(Ring, ResetBetweenTheCommandAndTheFirstCycleEndsTheProgram) {
    bench->run([&] {
        bench->enable();
        bench->load_program(endless());
        bench->put_run(endless().size());
        sc_core::wait(1, sc_core::SC_NS);  // half a cycle
        bench->ring();
        // 64 bytes at 4 GB/s take 16 ns; both register write and command fetch take the latency of
        // 500 ns.
        sc_core::wait(16500, sc_core::SC_PS);
        bench->write(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
        EXPECT_TRUE(bench->wait_reset()) << "still busy 100 us after CONTROL.RESET";
    });
}

// Resets at every point of a program's life, one after the other.
TEST_F(Ring, ResetAtAnyTimeLeavesAUsableChip) {
    bench->run([&] {
        for (uint32_t after_ns = 0; after_ns < 2500; after_ns += 37) {
            bench->enable();
            bench->load_program(kMatmuls);
            bench->put_run(kMatmuls.size(), {ChipBench::kDeviceData, kData, kData});
            bench->ring();
            sc_core::wait(after_ns, sc_core::SC_NS);
            bench->reset();
            ASSERT_EQ(bench->run_program({halt()}), TANDEM_ERROR_NONE)
                << "after a reset at " << after_ns << " ns";
            bench->reset();
        }
    });
}

// ---- programs that are made to break the chip ------------------------------------------------

TEST_F(Ring, RejectsAMatmulWhoseImageAddressWrapsAround) {
    bench->run([&] {
        bench->enable();
        isa::Geometry geometry = matrix_window(1, 2);
        geometry.image_stride = 0xffffffff;
        isa::Matmul instruction = matmul({}, 0xffffffff, 2, 2);
        instruction.row_start = 0xffffffff;
        EXPECT_EQ(bench->run_program(
                      {read_weights({}, 0, 1), set_window(geometry), instruction.encode(), halt()}),
                  TANDEM_ERROR_UB_ADDRESS);
    });
}

TEST_F(Ring, SurvivesRandomPrograms) {
    bench->run([&] {
        for (uint64_t seed = 0; seed < 300; ++seed) {
            Seeded random(seed);
            bench->enable();
            ProgramWords program(1 + random.below(12));
            for (isa::Words& words : program) {
                for (uint32_t& word : words)
                    word = random.chance(50) ? static_cast<uint32_t>(random.below(16))
                                             : static_cast<uint32_t>(random.bits());
                const auto& info = isa::kInstructions[random.below(isa::kInstructions.size())];
                words[0] =
                    static_cast<uint32_t>(info.opcode) |
                    (random.chance(20) ? static_cast<uint32_t>(random.below(1u << 24)) << 8 : 0);
            }
            bench->load_program(program);
            bench->put_run(program.size(), {ChipBench::kDeviceData, kData, kData});
            bench->ring();
            sc_core::wait(50, sc_core::SC_US);
            bench->reset();
            ASSERT_EQ(bench->run_program({halt()}), TANDEM_ERROR_NONE)
                << "after the random program of seed " << seed;
            bench->reset();
        }
    });
}

}  // namespace
}  // namespace tandem::sim
