// SPDX-License-Identifier: Apache-2.0
// Programs on the whole chip: values against plain loops, order by flags, cycles and their causes.
// One simulation per process.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "testbench/support/chip_bench.h"
#include "testbench/support/chip_programs.h"
#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using namespace testbench;

constexpr uint32_t kRows = 12, kK = 16, kN = 4;  // two tiles of the reduction
constexpr uint32_t kActivations = 0, kParams = 1024, kOutput = 2048;
constexpr uint32_t kTileBytes = 8 * 4;

/// A random product of two weight tiles, and the bytes it must give.
struct Product {
    explicit Product(uint64_t seed) {
        Seeded random(seed);
        activations = random.int8s(kRows * kK);
        weights = random.int8s(kK * kN);
        for (uint32_t c = 0; c < kN; ++c) {
            bias.push_back(static_cast<int32_t>(random.between(-5000, 5000)));
            scale.push_back(static_cast<float>(1 + random.below(100)) / 8192.0f);
        }
    }
    int8_t expected(uint32_t m, uint32_t c) const {
        int64_t sum = bias[c];
        for (uint32_t k = 0; k < kK; ++k) sum += activations[m * kK + k] * weights[k * kN + c];
        const double exact =
            static_cast<double>(static_cast<float>(static_cast<double>(sum) * double{scale[c]}));
        const double floor = std::floor(exact), rest = exact - floor;
        const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) != 0.0);
        const double rounded = floor + (up ? 1.0 : 0.0);
        return static_cast<int8_t>(rounded < -128 ? -128 : rounded > 127 ? 127 : rounded);
    }
    std::vector<int8_t> activations, weights;
    std::vector<int32_t> bias;
    std::vector<float> scale;
};

class ProgramRun : public ChipTest {
  protected:
    /// Inputs in host memory; weights, then parameters in device memory.
    void stage(const Product& product) {
        std::memcpy(bench->memory.at(kData), product.activations.data(),
                    product.activations.size());
        uint8_t* device = bench->device().data() + ChipBench::kDeviceData;
        std::memcpy(device, product.weights.data(), product.weights.size());
        for (uint32_t c = 0; c < kN; ++c) {
            const uint32_t words[3] = {static_cast<uint32_t>(product.bias[c]),
                                       std::bit_cast<uint32_t>(product.scale[c]), 0};
            std::memcpy(device + 2 * kTileBytes + c * sizeof words, words, sizeof words);
        }
    }
    static ProgramWords program() {
        isa::Matmul second = matmul(signal(3), kActivations, kRows, 8);
        second.k_start = 8;
        second.accumulate = 1;
        return {
            read_weights({}, 0, 2),
            read_host(signal(1), kActivations, 0, kRows * kK),
            read_memory(signal(2), kParams, 2 * kTileBytes, kN * 12),
            set_window(matrix_window(kRows, kK)),
            matmul(wait(1), kActivations, kRows, 8).encode(),
            second.encode(),
            requantise({.wait_a = 3, .wait_b = 2, .signal_a = 4}, kOutput, kParams, kRows).encode(),
            write_host(wait(4), kOutput, 0, kRows * kN),
            halt()};
    }
    void expect_output(const Product& product, uint64_t seed) {
        const auto* output = reinterpret_cast<const int8_t*>(bench->memory.at(kData + 0x4000));
        for (uint32_t m = 0; m < kRows; ++m)
            for (uint32_t c = 0; c < kN; ++c)
                ASSERT_EQ(int{output[m * kN + c]}, int{product.expected(m, c)})
                    << "row " << m << " column " << c << ", seed " << seed;
    }
};

TEST_F(ProgramRun, GivesTheBytesOfPlainLoops) {
    make();
    bench->run([&] {
        bench->enable();
        for (uint64_t seed = 0; seed < 20; ++seed) {
            const Product product(seed);
            stage(product);
            ASSERT_EQ(bench->run_program(program()), TANDEM_ERROR_NONE) << "seed " << seed;
            expect_output(product, seed);
        }
    });
}

TEST_F(ProgramRun, CountsUsefulMacs) {
    make();
    bench->run([&] {
        bench->enable();
        bench->run_program(program());
        EXPECT_EQ(bench->read(TANDEM_REG_MACS_LO), kRows * kK * kN) << "MACs";
    });
}

TEST_F(ProgramRun, KeepsTheArrayBusyForEveryRow) {
    make();
    bench->run([&] {
        bench->enable();
        bench->run_program(program());
        EXPECT_EQ(bench->read(TANDEM_REG_MXU_BUSY_LO), 2 * kRows) << "cycles";
    });
}

TEST_F(ProgramRun, TakesTheSameCyclesWithoutData) {
    make();
    ChipBench timing("timing", small_chip(), false);
    bench->run([&] {
        for (ChipBench* each : {bench.get(), &timing}) {
            each->enable();
            EXPECT_EQ(each->run_program(program()), TANDEM_ERROR_NONE);
        }
        EXPECT_EQ(timing.read(TANDEM_REG_CYCLES_LO), bench->read(TANDEM_REG_CYCLES_LO)) << "cycles";
    });
}

TEST_F(ProgramRun, WritesStatusAndCyclesIntoTheRing) {
    make();
    bench->run([&] {
        bench->enable();
        bench->run_program(program());
        uint32_t words[2];
        std::memcpy(words, bench->memory.at(kRing + TANDEM_COMMAND_STATUS_OFFSET), sizeof words);
        EXPECT_EQ(words[0], 1u) << "status";
        EXPECT_EQ(words[1], bench->read(TANDEM_REG_CYCLES_LO)) << "cycles of the only command";
    });
}

TEST_F(ProgramRun, AccountsForEveryCycleOfEveryUnit) {
    make();
    bench->run([&] {
        bench->enable();
        for (int i = 0; i < 3; ++i) bench->run_program(program());
        const uint64_t expected = bench->read(TANDEM_REG_CYCLES_LO);
        const auto sum = [](const CycleAccount& account) {
            uint64_t total = 0;
            for (const uint64_t cycles : account.cycles()) total += cycles;
            return total;
        };
        for (const Unit* unit : bench->chip.units())
            EXPECT_EQ(sum(unit->account()), expected)
                << "cycles of " << isa::kUnitNames[static_cast<size_t>(unit->unit())];
        EXPECT_EQ(sum(bench->chip.sequencer().account()), expected) << "cycles of sequencer";
    });
}

TEST_F(ProgramRun, LoadCopiesHostToDeviceMemory) {
    make();
    bench->run([&] {
        bench->enable();
        Seeded random(0);
        const auto bytes = random.bytes(5000);
        std::memcpy(bench->memory.at(kData), bytes.data(), bytes.size());
        bench->put_command(TANDEM_COMMAND_LOAD, kData, 0x30001, bytes.size());
        bench->ring();
        ASSERT_TRUE(bench->wait_idle());
        EXPECT_EQ(std::memcmp(bench->device().data() + 0x30001, bytes.data(), bytes.size()), 0)
            << "5000 bytes, seed 0";
    });
}

TEST_F(ProgramRun, TakesCommandsBeyondTheEndOfTheRing) {
    make();
    bench->run([&] {
        bench->enable();
        for (int i = 0; i < 20; ++i)
            ASSERT_EQ(bench->run_program({halt()}), TANDEM_ERROR_NONE) << "command " << i;
        EXPECT_EQ(bench->read(TANDEM_REG_RING_HEAD), 20u) << "commands";
    });
}

TEST_F(ProgramRun, TakesSeveralCommandsWithOneDoorbell) {
    make();
    bench->run([&] {
        bench->enable();
        bench->load_program({halt()});
        for (int i = 0; i < 8; ++i) bench->put_run(1);
        bench->ring();
        ASSERT_TRUE(bench->wait_idle());
        EXPECT_EQ(bench->read(TANDEM_REG_RING_HEAD), 8u) << "commands";
    });
}

/// What retired, in order.
struct Retired : ChipObserver {
    std::vector<uint32_t> order;
    std::map<uint32_t, std::pair<Cycle, Cycle>> spans;
    void on_retire(isa::Unit, uint32_t index, Cycle start, Cycle end) override {
        order.push_back(index);
        spans[index] = {start, end};
    }
};

TEST_F(ProgramRun, FlagMakesTheFastUnitWaitForTheSlow) {
    make();
    Retired retired;
    bench->chip.services().set_observer(&retired);
    bench->run([&] {
        bench->enable();
        // dma_out is free at once, and yet comes after the long read.
        bench->run_program(
            {read_host(signal(9), 0, 0, 4000), write_host(wait(9), 0, 0, 1), halt()});
        EXPECT_GE(retired.spans[1].first, retired.spans[0].second) << "cycle";
    });
}

TEST_F(ProgramRun, WithoutAFlagUnitsOverlap) {
    make();
    Retired retired;
    bench->chip.services().set_observer(&retired);
    bench->run([&] {
        bench->enable();
        bench->run_program({read_host({}, 0, 0, 4000), write_host({}, 0, 0, 1), halt()});
        EXPECT_LT(retired.spans[1].first, retired.spans[0].second) << "cycle";
    });
}

TEST_F(ProgramRun, FlagCountsEveryRaise) {
    make();
    bench->run([&] {
        bench->enable();
        ASSERT_EQ(bench->run_program(
                      {nop(signal(5, 5)), nop(signal(5)), nop(wait(5, 5)), nop(wait(5)), halt()}),
                  TANDEM_ERROR_NONE);
        EXPECT_EQ(bench->chip.services().flags().counts()[5], 0u)
            << "flag 5 after three raises and takes";
    });
}

TEST_F(ProgramRun, FlagsAreZeroAtTheStartOfAProgram) {
    make();
    bench->run([&] {
        bench->enable();
        ASSERT_EQ(bench->run_program({nop(signal(7)), halt()}), TANDEM_ERROR_NONE);
        EXPECT_EQ(bench->run_program({nop(wait(7)), halt()}), TANDEM_ERROR_WATCHDOG);
    });
}

TEST_F(ProgramRun, LoopsByScalarAndBranch) {
    make();
    bench->run([&] {
        bench->enable();
        const ProgramWords program = {
            isa::SetScalar{.header = {}, .rd = 5, .imm = 10}.encode(), nop(),
            isa::AddScalar{.header = {}, .rd = 5, .rs = 5, .imm = -1}.encode(),
            isa::BranchNonzero{.header = {}, .rs = 5, .offset = -2}.encode(), halt()};
        ASSERT_EQ(bench->run_program(program), TANDEM_ERROR_NONE);
        EXPECT_EQ(bench->read(TANDEM_REG_INSTRUCTIONS), 1u + 10 * 3 + 1) << "instructions";
    });
}

TEST_F(ProgramRun, ScalarRegisterZeroStaysZero) {
    make();
    bench->run([&] {
        bench->enable();
        const ProgramWords program = {
            isa::SetScalar{.header = {}, .rd = 0, .imm = 1}.encode(),
            isa::BranchNonzero{.header = {}, .rs = 0, .offset = 100}.encode(), halt()};
        EXPECT_EQ(bench->run_program(program), TANDEM_ERROR_NONE);
    });
}

TEST_F(ProgramRun, BaseIsReadWhenTheInstructionIsDispatched) {
    make();
    bench->run([&] {
        bench->enable();
        bench->device()[ChipBench::kDeviceData] = 11;
        bench->device()[ChipBench::kDeviceData + 100] = 22;
        const ProgramWords program = {
            nop(signal(1)),
            read_memory(wait(1), 0, 0, 1),
            read_memory({}, 1, 0, 1),
            isa::AddScalar{.header = {}, .rd = 1, .rs = 1, .imm = 100}.encode(),
            read_memory({}, 2, 0, 1),
            halt()};
        ASSERT_EQ(bench->run_program(program), TANDEM_ERROR_NONE);
        EXPECT_EQ(int{bench->buffer()[1]}, 11) << "before the change of s1";
        EXPECT_EQ(int{bench->buffer()[2]}, 22) << "after the change of s1";
    });
}

}  // namespace
}  // namespace tandem::sim
