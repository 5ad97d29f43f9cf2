// SPDX-License-Identifier: Apache-2.0
// The RISC-V CPU with small hand-assembled programs: what it counts, how it takes interrupts, and
// that no program, however bad, takes the simulator with it.
#include "systemc/host/riscv_host.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/output_file.h"
#include "systemc/host/elf_loader.h"
#include "testbench/unit/systemc/host/riscv_bench.h"

namespace tandem::host {
namespace {

TEST(RiscvHost, ALoopForEverEndsWithItsBudget) {
    Bench bench({kNop, kNop, kLoop}, 1000);
    bench.run();
    ASSERT_TRUE(bench.cpu->finished());
    EXPECT_EQ(bench.cpu->exit_code(), 128u);
    EXPECT_NE(bench.cpu->fault().find("at pc 0x80000008: the budget of 1000 firmware instructions "
                                      "is used up"),
              std::string::npos)
        << bench.cpu->fault();
    EXPECT_LE(bench.cpu->instructions(), 1000u);
}

TEST(RiscvHost, ABudgetThatIsJustEnoughIsEnough) {
    Bench bench({kLoadDeviceBase, kLoad7, kStoreExit, kLoop}, 4);
    bench.run();
    EXPECT_EQ(bench.cpu->fault(), "");
    EXPECT_EQ(bench.cpu->exit_code(), 7u);
}

TEST(RiscvHost, EndsWithTheCodeWritten) {
    Bench bench({kLoadDeviceBase, kLoad7, kStoreExit, kLoop});
    bench.run();
    ASSERT_TRUE(bench.cpu->finished());
    EXPECT_EQ(bench.cpu->exit_code(), 7u);
    EXPECT_EQ(bench.cpu->fault(), "");
}

TEST(RiscvHost, TakesOneClockPerInstruction) {
    // li t2, 1000; 1: addi t2, t2, -1; bnez t2, 1b; exit
    Bench bench({0x3e800393, 0xfff38393, 0xfe039ee3, kLoadDeviceBase, kLoad7, kStoreExit, kLoop});
    sc_core::sc_time end;
    bench.device.on_exit([&](uint32_t code) {
        end = sc_core::sc_time_stamp();
        bench.cpu->request_exit(code);
    });
    bench.run();
    ASSERT_TRUE(bench.cpu->finished());
    // The block of the exit is counted as a whole, with the loop behind it or without.
    EXPECT_GE(bench.cpu->instructions(), 2004u);
    EXPECT_LE(bench.cpu->instructions(), 2005u);
    EXPECT_EQ(end,
              sc_core::sc_time(static_cast<double>(bench.cpu->instructions()), sc_core::SC_NS));
}

TEST(RiscvHost, LetsTimePassInAnEndlessLoop) {
    Bench bench({kLoop});
    bench.run();
    EXPECT_FALSE(bench.cpu->finished());
    EXPECT_NEAR(static_cast<double>(bench.cpu->instructions()), 10e6, 100e3);
}

/// Sets up a timer interrupt at 5 us and a handler that exits with mcause; `body` has six words.
std::vector<uint32_t> timer_program(const std::vector<uint32_t>& body) {
    std::vector<uint32_t> code = {
        0x00000317,  // auipc t1, 0
        0x04030313,  // addi t1, t1, 64     the handler, word 16
        0x30531073,  // csrw mtvec, t1
        kLoadDeviceBase,
        0x00500313,  // li t1, 5
        0x0002aa23,  // sw zero, 20(t0)     COMPARE_HI = 0
        0x0062a823,  // sw t1, 16(t0)       COMPARE_LO = 5 us
        0x00001337,  // lui t1, 1
        0x80030313,  // addi t1, t1, -2048  bit 11
        0x30431073,  // csrw mie, t1
    };
    code.insert(code.end(), body.begin(), body.end());
    code.insert(code.end(), {0x34202373,  // word 16: csrr t1, mcause
                             0x0062a223,  // sw t1, 4(t0)        EXIT = mcause
                             kLoop});
    return code;
}

constexpr uint32_t kEnableInterrupts = 0x30046073;   // csrsi mstatus, 8
constexpr uint32_t kDisableInterrupts = 0x30047073;  // csrci mstatus, 8

TEST(RiscvHost, LeavesALoopForATimerInterrupt) {
    Bench bench(timer_program({kEnableInterrupts, kLoop, kNop, kNop, kNop, kNop}));
    bench.run();
    ASSERT_TRUE(bench.cpu->finished()) << "no interrupt after " << bench.cpu->instructions();
    EXPECT_EQ(bench.cpu->fault(), "");
    EXPECT_EQ(bench.cpu->exit_code(), 0x8000000bu);
}

TEST(RiscvHost, TakesAPendingInterruptInTheShortestWindow) {
    Bench bench(
        timer_program({kWfi, kEnableInterrupts, kDisableInterrupts, kLoad7, kStoreExit, kLoop}));
    bench.run();
    ASSERT_TRUE(bench.cpu->finished());
    EXPECT_EQ(bench.cpu->exit_code(), 0x8000000bu) << "7: the window was missed";
}

TEST(RiscvHost, TakesNoInterruptWhileTheyAreDisabled) {
    Bench bench(timer_program({kWfi, kNop, kNop, kLoad7, kStoreExit, kLoop}));
    bench.run();
    ASSERT_TRUE(bench.cpu->finished());
    EXPECT_EQ(bench.cpu->exit_code(), 7u);
}

struct BadProgram {
    const char* name;
    std::vector<uint32_t> code;
    const char* fault;
};

// Keeps addresses, which differ from run to run, out of the names of tests.
void PrintTo(const BadProgram& program, std::ostream* out) { *out << program.name; }

class RiscvHostFault : public testing::TestWithParam<BadProgram> {};

TEST_P(RiscvHostFault, BecomesATextWithPcAndRegisters) {
    Bench bench(GetParam().code);
    bench.run();
    ASSERT_TRUE(bench.cpu->finished());
    const std::string& fault = bench.cpu->fault();
    EXPECT_NE(fault.find(GetParam().fault), std::string::npos) << fault;
    EXPECT_NE(fault.find("stopped at pc 0x"), std::string::npos) << fault;
    EXPECT_NE(fault.find("a0 0x"), std::string::npos) << fault;
    EXPECT_NE(bench.cpu->exit_code(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Program, RiscvHostFault,
    testing::Values(
        BadProgram{"IllegalInstruction", {0x00000000}, "stopped at pc"},
        BadProgram{"EnvironmentCall", {0x00000073}, "xception"},
        BadProgram{"Breakpoint", {0x00100073}, "stopped at pc"},
        BadProgram{"LoadFromNull", {0x00002303}, "read of 4 bytes at 0x00000000"},
        BadProgram{"StoreToNull", {0x00002023}, "write of 4 bytes at 0x00000000"},
        BadProgram{"JumpToNull", {0x00000067}, "at 0x00000000"},
        BadProgram{"ReadOfAWriteOnlyRegister", {kLoadDeviceBase, 0x0002a303}, "bus error: read"},
        BadProgram{
            "ByteWideRegisterAccess", {kLoadDeviceBase, 0x00628023}, "bus error: write of 1"},
        BadProgram{"SleepWithInterruptsDisabled", {kWfi, kLoop}, "wfi"}),
    [](const auto& info) { return std::string(info.param.name); });

class RiscvHostRandom : public testing::TestWithParam<uint32_t> {};

/// Mostly legal instructions on random registers, CSRs and addresses near the devices and memory.
TEST_P(RiscvHostRandom, SurvivesAnyProgram) {
    constexpr uint32_t kOpcodes[] = {0x03, 0x0f, 0x13, 0x13, 0x17, 0x23, 0x33,
                                     0x33, 0x37, 0x63, 0x67, 0x6f, 0x73};
    constexpr uint32_t kSystem[] = {kWfi, 0x30200073, 0x10200073, 0x12000073, 0x00000073};
    std::mt19937 random(GetParam());
    std::vector<uint32_t> code = {kLoadDeviceBase, 0x80000337 /* lui t1, 0x80000 */};
    while (code.size() < 4000) {
        uint32_t word =
            static_cast<uint32_t>(random() & ~0x7full) | kOpcodes[random() % std::size(kOpcodes)];
        const uint32_t opcode = word & 0x7f;
        if (opcode == 0x33) word &= 0x03ffffff;
        if (opcode == 0x03 || opcode == 0x23)
            word = (word & ~(0x1fu << 15)) | (5 + random() % 2) << 15;
        if (random() % 64 == 0) word = kSystem[random() % std::size(kSystem)];
        code.push_back(word);
    }
    Bench bench(code);
    bench.run();
    if (bench.cpu->finished()) {
        EXPECT_TRUE(bench.cpu->exit_code() != 128 || !bench.cpu->fault().empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Seed, RiscvHostRandom, testing::Range(0u, 8u));

class ElfLoader : public testing::Test {
  protected:
    uint32_t load(const std::vector<uint8_t>& file) {
        return load_elf(file, "test.elf", ram_, platform::kRamBase);
    }
    std::vector<uint8_t> ram_ = std::vector<uint8_t>(4096, 0xff);
    std::vector<uint8_t> good_ = make_elf({kNop, kLoop});
};

TEST_F(ElfLoader, CopiesBytesAndClearsTheRest) {
    good_[sizeof(Elf32_Ehdr) + offsetof(Elf32_Phdr, p_memsz)] = 12;
    EXPECT_EQ(load(good_), platform::kRamBase);
    EXPECT_EQ(ram_[0], kNop & 0xff);
    EXPECT_EQ(ram_[8], 0);
    EXPECT_EQ(ram_[12], 0xff);
}

TEST_F(ElfLoader, RejectsEveryTruncation) {
    for (size_t size = 0; size < good_.size(); ++size) {
        EXPECT_THROW(load({good_.begin(), good_.begin() + static_cast<long>(size)}), UserError)
            << size;
    }
}

TEST_F(ElfLoader, RejectsOtherMachinesAndCompressedCode) {
    auto file = good_;
    file[offsetof(Elf32_Ehdr, e_machine)] = EM_X86_64;
    EXPECT_THROW(load(file), UserError);
    file = good_;
    file[offsetof(Elf32_Ehdr, e_flags)] = EF_RISCV_RVC;
    EXPECT_THROW(load(file), UserError);
    file = good_;
    file[EI_CLASS] = ELFCLASS64;
    EXPECT_THROW(load(file), UserError);
}

TEST_F(ElfLoader, SurvivesRandomDamage) {
    for (const uint32_t seed : {0u, 1u, 2u}) {
        std::mt19937 random(seed);
        for (int round = 0; round < 20000; ++round) {
            auto file = good_;
            for (unsigned i = 1 + random() % 4; i > 0; --i) {
                file[random() % file.size()] = static_cast<uint8_t>(random());
            }
            try {
                const uint32_t entry = load(file);
                ASSERT_LT(entry - platform::kRamBase, ram_.size()) << "seed " << seed;
            } catch (const UserError&) {
            }
        }
    }
}

}  // namespace
}  // namespace tandem::host
