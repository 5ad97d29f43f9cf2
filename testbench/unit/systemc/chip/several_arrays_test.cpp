// SPDX-License-Identifier: Apache-2.0
// A chip of 2 cores with 3 arrays each: instructions reach the array that they name, values are
// those of plain loops, and cores have buffers of their own. One simulation per process.
#include "testbench/support/seeded.h"
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

constexpr uint32_t kRows = 10, kK = 8, kN = 4, kTileBytes = kK * kN, kArrays = 3;
constexpr uint32_t kActivations = 0, kParams = 1024, kOutput = 2048, kPlace = 256;

/// Small numbers, so that every sum is a byte and requantisation with the factor 1 changes nothing.
struct Numbers {
    Numbers(uint64_t seed, uint32_t tiles) {
        Seeded random(seed);
        for (uint32_t i = 0; i < 64 * kK; ++i)
            activations.push_back(static_cast<int8_t>(random.between(-3, 3)));
        for (uint32_t i = 0; i < tiles * kTileBytes; ++i)
            weights.push_back(static_cast<int8_t>(random.between(-4, 4)));
    }
    int product(uint32_t tile, uint32_t row, uint32_t column) const {
        int sum = 0;
        for (uint32_t k = 0; k < kK; ++k)
            sum += activations[row * kK + k] * weights[tile * kTileBytes + k * kN + column];
        return sum;
    }
    std::vector<int8_t> activations, weights;
};

class SeveralArrays : public CoresTest {
  protected:
    /// Activations and parameters stand in the core's buffer, weights in device memory.
    void stage(size_t core, const Numbers& numbers) {
        std::memcpy(bench->buffer(core).data() + kActivations, numbers.activations.data(),
                    numbers.activations.size());
        const float one = 1.0f;
        for (uint32_t c = 0; c < kN; ++c) {
            uint32_t words[3] = {0, 0, 0};
            std::memcpy(&words[1], &one, 4);
            std::memcpy(bench->buffer(core).data() + kParams + c * 12, words, 12);
        }
        std::memcpy(bench->device().data() + CoresBench::kDeviceData + core * 0x1000,
                    numbers.weights.data(), numbers.weights.size());
    }
    static isa::Words multiply(uint32_t array, isa::Header header, uint16_t acc_addr = 0) {
        return on_array(matmul(header, kActivations, kRows, kK, acc_addr), array);
    }
    static isa::Words drain(uint32_t array, isa::Header header, uint32_t place,
                            uint16_t acc_addr = 0) {
        return on_array(requantise(header, kOutput + place * kPlace, kParams, kRows, kN, acc_addr),
                        array);
    }
    /// Array a uses tile tiles[a]; the result of array a goes to place a.
    static ProgramWords one_product_each(size_t core, const std::array<uint32_t, kArrays>& tiles) {
        ProgramWords program{set_window(matrix_window(64, kK))};
        const auto base = static_cast<uint32_t>(core * 0x1000);
        for (uint32_t a : {2u, 0u, 1u})
            program.push_back(read_weights_of(a, base + tiles[a] * kTileBytes, 1));
        for (uint32_t a : {1u, 2u, 0u}) program.push_back(multiply(a, signal(1 + a)));
        for (uint32_t a : {0u, 2u, 1u}) program.push_back(drain(a, wait(1 + a), a));
        program.push_back(halt());
        return program;
    }
    void expect_product(size_t core, const Numbers& numbers, uint32_t place, uint32_t tile,
                        uint32_t row_step = 1) {
        for (uint32_t row = 0; row < kRows; ++row)
            for (uint32_t column = 0; column < kN; ++column)
                ASSERT_EQ(static_cast<int>(static_cast<int8_t>(
                              bench->buffer(core)[kOutput + place * kPlace + row * kN + column])),
                          numbers.product(tile, row * row_step, column))
                    << "core " << core << ", place " << place << ", row " << row << ", column "
                    << column;
    }
};

TEST_F(SeveralArrays, EachArrayMultipliesWithItsOwnTile) {
    make(many_arrays(), true);
    bench->run([&] {
        for (uint64_t seed = 0; seed < 10; ++seed)
            for (const size_t core : {0, 1}) {
                const Numbers numbers(seed * 2 + core, 3);
                stage(core, numbers);
                ASSERT_FALSE(bench->program(core, one_product_each(core, {0, 1, 2})));
                for (uint32_t a = 0; a < kArrays; ++a) expect_product(core, numbers, a, a);
            }
    });
}

TEST_F(SeveralArrays, AllArraysGiveTheSameProduct) {
    make(many_arrays(), true);
    bench->run([&] {
        const Numbers numbers(0, 3);
        for (const size_t core : {0, 1}) {
            stage(core, numbers);
            ASSERT_FALSE(bench->program(core, one_product_each(core, {1, 1, 1})));
            for (uint32_t a = 0; a < kArrays; ++a) expect_product(core, numbers, a, 1);
        }
    });
}

TEST_F(SeveralArrays, CoresWorkAtTheSameTime) {
    make(many_arrays(), true);
    bench->run([&] {
        const Numbers first(1, 3), second(2, 3);
        stage(0, first);
        stage(1, second);
        bench->programs(one_product_each(0, {0, 1, 2}), one_product_each(1, {2, 0, 1}));
        for (uint32_t a = 0; a < kArrays; ++a) {
            expect_product(0, first, a, a);
            expect_product(1, second, a, (a + 2) % 3);
        }
    });
}

TEST_F(SeveralArrays, TakesTheSameCyclesWithoutData) {
    make(many_arrays(), true);
    CoresBench timing("timing", many_arrays(), false);
    bench->run([&] {
        for (const size_t core : {0, 1}) {
            ASSERT_FALSE(bench->program(core, one_product_each(core, {0, 1, 2})));
            ASSERT_FALSE(timing.program(core, one_product_each(core, {0, 1, 2})));
            EXPECT_EQ(timing.cycles(core), bench->cycles(core)) << "cycles of core " << core;
        }
    });
}

TEST_F(SeveralArrays, EveryCycleOfEveryUnitHasACause) {
    make(many_arrays(), false);
    bench->run([&] {
        bench->programs(one_product_each(0, {0, 1, 2}), one_product_each(1, {2, 0, 1}));
        for (const size_t core : {0, 1}) {
            Core& unit_of = bench->chip.core(core);
            ASSERT_EQ(unit_of.units().size(), 3 + 2 * kArrays);
            for (const Unit* unit : unit_of.units()) {
                uint64_t sum = 0;
                for (const uint64_t cycles : unit->account().cycles()) sum += cycles;
                EXPECT_EQ(sum, bench->cycles(core)) << unit->name();
            }
        }
    });
}

TEST_F(SeveralArrays, AFullFifoHoldsUpItsOwnArrayOnly) {
    make(many_arrays(), true);
    bench->run([&] {
        const Numbers numbers(3, 6);
        stage(0, numbers);
        // 5 tiles for array 1, whose FIFO has 2 entries; its products come last.
        ProgramWords program{set_window(matrix_window(64, kK)),     read_weights_of(1, 0, 5),
                             read_weights_of(0, 5 * kTileBytes, 1), multiply(0, signal(1)),
                             drain(0, wait_signal(1, 2), 0),        nop(wait(2))};
        for (uint32_t i = 0; i < 5; ++i) program.push_back(multiply(1, signal(3)));
        program.push_back(nop(wait(3, 3)));
        program.push_back(nop(wait(3, 3)));
        program.push_back(drain(1, wait(3), 1));
        program.push_back(halt());
        ASSERT_FALSE(bench->program(0, program));
        expect_product(0, numbers, 0, 5);
        expect_product(0, numbers, 1, 4);
        EXPECT_EQ(bench->chip.core(0).weights(0).tiles_fetched(), 1u);
        EXPECT_EQ(bench->chip.core(0).weights(1).tiles_fetched(), 5u);
        EXPECT_EQ(bench->chip.core(0).weights(2).tiles_fetched(), 0u);
        EXPECT_GT(CoresBench::cause(bench->chip.core(0).weights(1).account(), Cause::kWaitSpace),
                  0u);
        EXPECT_EQ(bench->chip.core(1).weights(1).tiles_fetched(), 0u) << "of the other core";
    });
}

TEST_F(SeveralArrays, AWindowReachesAllArrays) {
    make(many_arrays(), true);
    bench->run([&] {
        const Numbers numbers(4, 3);
        stage(0, numbers);
        isa::Geometry every_second = matrix_window(64, kK);
        every_second.stride_w = 2;
        every_second.out_width = 32;
        ProgramWords program{set_window(matrix_window(64, kK))};
        for (uint32_t a = 0; a < kArrays; ++a) {
            program.push_back(read_weights_of(a, a * kTileBytes, 1));
            program.push_back(multiply(a, signal(1)));
            program.push_back(drain(a, wait(1), a));
        }
        program.push_back(set_window(every_second));
        for (uint32_t a = 0; a < kArrays; ++a) {
            isa::Matmul again = matmul(signal(1), kActivations, kRows, kK, 32);
            again.new_weights = 0;
            program.push_back(on_array(again, a));
            program.push_back(drain(a, wait(1), 3 + a, 32));
        }
        program.push_back(halt());
        ASSERT_FALSE(bench->program(0, program));
        for (uint32_t a = 0; a < kArrays; ++a) {
            expect_product(0, numbers, a, a);
            expect_product(0, numbers, 3 + a, a, 2);
        }
    });
}

TEST_F(SeveralArrays, AnArrayThatIsNotThereIsABadInstruction) {
    make(many_arrays(), true);
    bench->run([&] {
        const Numbers numbers(5, 3);
        for (const uint32_t array : {3u, 7u, 15u})
            for (const isa::Words& bad :
                 {multiply(array, {}), read_weights_of(array, 0, 1), drain(array, {}, 0)}) {
                const auto error = bench->program(
                    1, {set_window(matrix_window(64, kK)), read_weights_of(2, 0, 1), bad, halt()});
                ASSERT_TRUE(error) << "array " << array << ", opcode " << isa::opcode_of(bad);
                EXPECT_EQ(error->code, arch::DeviceError::kBadInstruction);
                EXPECT_EQ(error->instruction, 2u);
                // All of the core is as good as new afterwards.
                stage(1, numbers);
                ASSERT_FALSE(bench->program(1, one_product_each(1, {2, 0, 1})));
                for (uint32_t a = 0; a < kArrays; ++a) expect_product(1, numbers, a, (a + 2) % 3);
            }
    });
}

TEST_F(SeveralArrays, ScalarRegisterFourHoldsTheCore) {
    make(many_arrays(), true);
    bench->run([&] {
        const uint32_t place = CoresBench::kDeviceData;
        bench->device()[place] = 70;
        bench->device()[place + 1] = 71;
        for (int again = 0; again < 2; ++again)
            for (const size_t core : {0, 1}) {
                ASSERT_FALSE(bench->program(
                    core, {read_memory({}, 5, place, 1, 4),
                           isa::SetScalar{.header = {}, .rd = 4, .imm = 9}.encode(), halt()}));
                EXPECT_EQ(bench->buffer(core)[5], 70 + core) << "core " << core;
            }
    });
}

}  // namespace
}  // namespace tandem::sim
