// SPDX-License-Identifier: Apache-2.0
// RUN on a chip of two cores: registers of the cores, errors of one of them, reset, bad tables.
#include "systemc/chip/tpu_chip.h"
#include "testbench/support/chip_bench.h"
#include "testbench/support/chip_programs.h"
#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using namespace testbench;

arch::ChipConfig two_cores(uint32_t cross_core_cycles = 0) {
    arch::ChipConfig chip = small_chip();
    chip.cores = 2;
    chip.sequencer.cross_core_latency_ps = cross_core_cycles * uint64_t{2000};  // at 500 MHz
    return chip;
}

/// A flag of another core.
isa::Header signal_to(uint32_t core, uint32_t flag) {
    return {.signal_b = static_cast<uint8_t>(flag), .core = static_cast<uint8_t>(core + 1)};
}

const ProgramWords kEndless = {isa::SetScalar{.header = {}, .rd = 5, .imm = 1}.encode(),
                               isa::BranchNonzero{.header = {}, .rs = 5, .offset = 0}.encode(),
                               halt()};

class CorePrograms : public ChipTest {
  protected:
    CorePrograms() { make(two_cores(), true, 2); }
    uint32_t of_core(uint32_t core, uint32_t offset) {
        bench->write(TANDEM_REG_CORE_SELECT, core);
        return bench->read(offset);
    }
    void expect_usable() {
        bench->reset();
        EXPECT_EQ(bench->run_programs({{halt()}, {halt()}}), TANDEM_ERROR_NONE);
        bench->reset();
    }
};

TEST_F(CorePrograms, RunAndCountOnBothCores) {
    bench->run([&] {
        bench->enable();
        EXPECT_EQ(bench->read(TANDEM_REG_CORES), 2u | 1u << 16);
        EXPECT_EQ(bench->read(TANDEM_REG_WATCHDOG_LO), 20000u);
        const auto bytes = Seeded(4).bytes(64);
        std::memcpy(bench->memory.at(kData), bytes.data(), bytes.size());
        ASSERT_EQ(bench->run_programs(
                      {{read_host(signal(1), 0, 0, 32), write_host(wait(1), 0, 0, 32), halt()},
                       {read_weights({}, 0, 1), set_window(matrix_window(20, 8)),
                        matmul({}, 512, 20, 8).encode(), read_host(signal(1), 0, 32, 32),
                        write_host(wait(1), 0, 32, 32), halt()}}),
                  TANDEM_ERROR_NONE);
        EXPECT_EQ(std::memcmp(bench->memory.at(kData + 0x4000), bytes.data(), 64), 0);
        EXPECT_EQ(bench->read(TANDEM_REG_INSTRUCTIONS), 9u);
        EXPECT_EQ(of_core(0, TANDEM_REG_CORE_INSTRUCTIONS), 3u);
        EXPECT_EQ(of_core(1, TANDEM_REG_CORE_INSTRUCTIONS), 6u);
        EXPECT_EQ(of_core(0, TANDEM_REG_CORE_MACS_LO), 0u);
        EXPECT_EQ(of_core(1, TANDEM_REG_CORE_MACS_LO), 20u * 8 * 4);
        EXPECT_EQ(bench->read(TANDEM_REG_MACS_LO), 20u * 8 * 4);
        EXPECT_EQ(of_core(1, TANDEM_REG_CORE_MXU_BUSY_LO), 20u);
        EXPECT_EQ(
            bench->read(TANDEM_REG_CYCLES_LO),
            std::max(of_core(0, TANDEM_REG_CORE_CYCLES_LO), of_core(1, TANDEM_REG_CORE_CYCLES_LO)));
        EXPECT_EQ(of_core(2, TANDEM_REG_CORE_CYCLES_LO), 0u) << "of a core that is not there";
        EXPECT_EQ(of_core(1, TANDEM_REG_CORE_STATUS), 0u);
    });
}

TEST_F(CorePrograms, FindTheirNumberInScalar4AndTakeFlagsOfEachOther) {
    bench->run([&] {
        bench->enable();
        // Core 1 branches over the raise that core 0 has, and the other way round.
        const auto skip = isa::BranchNonzero{.header = {}, .rs = 4, .offset = 2}.encode();
        EXPECT_EQ(bench->run_programs({{skip, nop(signal_to(1, 7)), nop(wait(9)), halt()},
                                       {skip, halt(), nop(wait(7)), nop(signal_to(0, 9)), halt()}}),
                  TANDEM_ERROR_NONE);
        EXPECT_EQ(of_core(1, TANDEM_REG_CORE_INSTRUCTIONS), 4u);
    });
}

TEST_F(CorePrograms, TheFirstErrorStopsTheOthersAndIsNamed) {
    bench->run([&] {
        for (const uint32_t bad : {0u, 1u}) {
            SCOPED_TRACE(bad);
            bench->enable();
            std::vector<ProgramWords> programs{kEndless, kEndless};
            programs[bad] = {nop(), read_memory({}, 4090, 0, 100), halt()};
            EXPECT_EQ(bench->run_programs(programs), TANDEM_ERROR_UB_ADDRESS);
            EXPECT_EQ(bench->read(TANDEM_REG_ERROR_CORE), bad);
            EXPECT_EQ(bench->read(TANDEM_REG_ERROR_INFO), 1u);
            EXPECT_EQ(of_core(bad, TANDEM_REG_CORE_ERROR_CODE), TANDEM_ERROR_UB_ADDRESS);
            EXPECT_EQ(of_core(1 - bad, TANDEM_REG_CORE_ERROR_CODE), TANDEM_ERROR_ABORTED);
            EXPECT_EQ(of_core(1 - bad, TANDEM_REG_CORE_STATUS), TANDEM_CORE_STATUS_ERROR);
            expect_usable();
            EXPECT_EQ(of_core(bad, TANDEM_REG_CORE_ERROR_CODE), 0u) << "after reset";
        }
    });
}

TEST_F(CorePrograms, OfTwoErrorsInTheSameCycleTheFirstCoresIsTold) {
    bench->run([&] {
        bench->enable();
        const ProgramWords wrong = {nop(), isa::Words{0xff}, halt()};
        EXPECT_EQ(bench->run_programs({wrong, wrong}), TANDEM_ERROR_BAD_INSTRUCTION);
        EXPECT_EQ(bench->read(TANDEM_REG_ERROR_CORE), 0u);
        expect_usable();
    });
}

TEST_F(CorePrograms, ThatWaitForEachOtherEndByTheWatchdog) {
    bench->run([&] {
        bench->enable();
        EXPECT_EQ(bench->run_programs({{nop(wait(3)), halt()}, {nop(wait(3)), halt()}}),
                  TANDEM_ERROR_WATCHDOG);
        EXPECT_NE(of_core(0, TANDEM_REG_CORE_STATUS) & TANDEM_CORE_STATUS_WATCHDOG, 0u);
        expect_usable();
    });
}

TEST_F(CorePrograms, ResetEndsAllOfThemAtAnyTime) {
    bench->run([&] {
        const ProgramWords transfers = {read_host({}, 0, 0, 4000), read_host({}, 0, 0, 4000),
                                        nop(wait(1)), halt()};
        for (uint32_t after_ns = 0; after_ns < 3000; after_ns += 97) {
            bench->enable();
            bench->load_program(kEndless);
            bench->load_program(transfers, ChipBench::kCodeBytes);
            bench->put_run({kEndless.size(), transfers.size()},
                           {ChipBench::kDeviceData, kData, kData});
            bench->ring();
            sc_core::wait(after_ns, sc_core::SC_NS);
            SCOPED_TRACE(after_ns);
            expect_usable();
        }
    });
}

TEST_F(CorePrograms, BadTablesEndInAnError) {
    bench->run([&] {
        constexpr uint64_t kMemory = 1 << 20, kTable = ChipBench::kTable;
        struct Bad {
            const char* what;
            uint64_t code, table, bytes;
            std::vector<uint64_t> words;
            uint32_t entry;
        };
        const std::vector<Bad> all = {
            {"no entry", 0, kTable, 0, {0, 1}, 0},
            {"half an entry", 0, kTable, 24, {0, 1, 64, 1}, 0},
            {"more cores than there are", 0, kTable, 48, {0, 1, 64, 1, 128, 1}, 0},
            {"a table of many bytes", 0, kTable, ~uint64_t{15}, {0, 1}, 0},
            {"a table beyond memory", 0, kMemory - 8, 16, {0, 1}, 0},
            {"a table whose end wraps", 0, ~uint64_t{0} - 7, 16, {0, 1}, 0},
            {"no instruction", 0, kTable, 32, {0, 1, 64, 0}, 1},
            {"code beyond memory", 0, kTable, 32, {0, 1, kMemory, 1}, 1},
            {"code whose end wraps", 0, kTable, 16, {~uint64_t{31}, 2}, 0},
            {"a length that wraps", 0, kTable, 16, {0, uint64_t{1} << 59}, 0},
            {"a base that wraps", ~uint64_t{31}, kTable, 16, {64, 1}, 0},
            {"not aligned", 0, kTable, 16, {16, 1}, 0},
            {"the same code", 0, kTable, 32, {0, 2, 32, 2}, 1},
            {"the table as code", 0, kTable, 16, {kTable, 1}, 0}};
        for (const Bad& bad : all) {
            SCOPED_TRACE(bad.what);
            bench->enable();
            std::memcpy(bench->device().data() + kTable, bad.words.data(), bad.words.size() * 8);
            bench->put_command(TANDEM_COMMAND_RUN, bad.code, bad.table, bad.bytes);
            bench->ring();
            ASSERT_TRUE(bench->wait_idle());
            EXPECT_EQ(bench->read(TANDEM_REG_ERROR_CODE), TANDEM_ERROR_BAD_CORE_TABLE);
            EXPECT_EQ(bench->read(TANDEM_REG_ERROR_INFO), bad.entry);
            expect_usable();
        }
    });
}

TEST_F(CorePrograms, RandomTablesLeaveAUsableChip) {
    bench->run([&] {
        for (uint64_t seed = 0; seed < 100; ++seed) {
            Seeded random(seed);
            bench->enable();
            bench->load_program({halt()});
            std::vector<uint64_t> words(4);
            for (uint64_t& word : words)
                word = random.chance(50) ? random.below(8) * 32 : random.bits();
            std::memcpy(bench->device().data() + ChipBench::kTable, words.data(), 32);
            bench->put_command(TANDEM_COMMAND_RUN, random.chance(50) ? 0 : random.bits(),
                               ChipBench::kTable, 16 + 16 * random.below(3));
            bench->ring();
            sc_core::wait(50, sc_core::SC_US);
            SCOPED_TRACE(seed);
            expect_usable();
        }
    });
}

/// Where the wait of core 1 for a raise of core 0 ends, in cycles behind the raise.
class CrossCore : public ChipTest, public testing::WithParamInterface<uint32_t> {};

struct Moments : ChipObserver {
    std::map<uint32_t, Cycle> start, end;
    void on_retire(isa::Unit, uint32_t index, Cycle from, Cycle to) override {
        start[index] = from;
        end[index] = to;
    }
};

TEST_P(CrossCore, AFlagIsVisibleSoManyCyclesAfterItsRaise) {
    make(two_cores(GetParam()), true, 2);
    Moments first, second;
    bench->chip.core(0).services().set_observer(&first);
    bench->chip.core(1).services().set_observer(&second);
    bench->run([&] {
        bench->enable();
        // To a sequencer, twice in a row; to a unit; what is there already costs nothing.
        ASSERT_EQ(bench->run_programs(
                      {{nop(signal_to(1, 5)), nop(signal_to(1, 5)), nop(signal_to(1, 6)), halt()},
                       {nop(wait(5)), nop(wait(5)), read_memory(wait_signal(6, 8), 0, 0, 4),
                        nop(wait(8)), halt()}}),
                  TANDEM_ERROR_NONE);
        // Core 1 may get its instructions later than core 0.
        for (const uint32_t i : {0u, 1u})
            EXPECT_EQ(second.end[i], std::max(second.start[i], first.end[i] + GetParam()));
        EXPECT_GE(second.end[2], first.end[2] + GetParam());
    });
}

INSTANTIATE_TEST_SUITE_P(Latency, CrossCore, testing::Values(0u, 1u, 100u, 5000u));

}  // namespace
}  // namespace tandem::sim
