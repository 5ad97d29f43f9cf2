// SPDX-License-Identifier: Apache-2.0
// Fences: their signals rise in the cycle in which the work before them retires, and that work is
// not slowed down. Signals to other cores. One simulation per process.
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

isa::Words fence(isa::Unit unit, isa::Header header, uint8_t array = 0) {
    return isa::Fence{.header = header, .unit = static_cast<uint8_t>(unit), .mxu = array}.encode();
}

class FenceTest : public CoresTest {
  protected:
    uint64_t cycles_of(const ProgramWords& program) {
        EXPECT_FALSE(bench->program(0, program));
        return bench->cycles();
    }
    /// By instruction, counted from the program's begin.
    std::map<uint32_t, std::pair<Cycle, Cycle>> spans_of(const ProgramWords& program) {
        Spans spans;
        bench->chip.services().set_observer(&spans);
        EXPECT_FALSE(bench->program(0, program));
        bench->chip.services().set_observer(nullptr);
        for (auto& [index, span] : spans.of) {
            span.first -= bench->began();
            span.second -= bench->began();
        }
        return spans.of;
    }
};

// Array 8 x 4: the last of 20 rows enters 19 cycles after the first and is in its accumulator row
// R + C + 1 cycles later (docs/timing.md); one cycle more and the matmul retires.
TEST_F(FenceTest, BehindAMatmulRisesWhenThatOneRetires) {
    make(small_chip(), false);
    bench->run([&] {
        const auto spans = spans_of({read_weights_of(0, 0, 1), set_window(matrix_window(64, 8)),
                                     matmul({}, 0, 20, 8).encode(),
                                     fence(isa::Unit::kMxu, signal(200)), nop(wait(200)), halt()});
        const Cycle first_row = spans.at(2).first;
        EXPECT_EQ(spans.at(2).second, first_row + 19 + (8 + 4 + 1) + 1);
        EXPECT_EQ(spans.at(3).second, spans.at(2).second) << "fence";
        EXPECT_EQ(spans.at(4).second, spans.at(2).second) << "who waits for it";
    });
}

TEST_F(FenceTest, DoesNotHoldUpTheArray) {
    make(small_chip(), false);
    bench->run([&] {
        const auto program = [](const isa::Words& between) {
            return ProgramWords{read_weights_of(0, 0, 1),
                                set_window(matrix_window(64, 8)),
                                matmul({}, 0, 20, 8).encode(),
                                between,
                                [] {
                                    isa::Matmul second = matmul({}, 0, 20, 8, 32);
                                    second.new_weights = 0;
                                    return second.encode();
                                }(),
                                halt()};
        };
        const auto plain = spans_of(program(nop()));
        const auto fenced = spans_of(program(fence(isa::Unit::kMxu, {})));
        EXPECT_EQ(fenced.at(4), plain.at(4)) << "the matmul behind it";
        EXPECT_EQ(fenced.at(4).first, fenced.at(2).first + 20) << "rows back to back";
        EXPECT_EQ(fenced.at(3).second, fenced.at(2).second);
    });
}

TEST_F(FenceTest, WaitsForItsFlagsInTheOrderOfItsUnit) {
    make(small_chip(), false);
    bench->run([&] {
        const auto spans = spans_of({read_weights_of(0, 0, 1), set_window(matrix_window(64, 8)),
                                     read_host(signal(7), 0, 0, 8), fence(isa::Unit::kMxu, wait(7)),
                                     matmul({}, 0, 20, 8).encode(), halt()});
        const Cycle flag = spans.at(2).second;
        EXPECT_EQ(spans.at(3).first, flag);
        EXPECT_EQ(spans.at(3).second, flag + 1) << "one cycle";
        EXPECT_EQ(spans.at(4).first, flag + 1 + 1) << "the row enters one cycle after its issue";
    });
}

TEST_F(FenceTest, BehindWeightsRisesWhenTheLastTileStands) {
    make(small_chip(), false);
    bench->run([&] {
        const auto program = [](isa::Header fetch, const isa::Words& between) {
            ProgramWords words{read_weights(fetch, 0, 2), between, nop(wait(9)),
                               set_window(matrix_window(64, 8))};
            for (uint16_t i = 0; i < 2; ++i)
                words.push_back(matmul({}, 0, 4, 8, static_cast<uint16_t>(8 * i)).encode());
            words.push_back(halt());
            return words;
        };
        const auto own = spans_of(program(signal(9), nop()));
        const auto fenced = spans_of(program({}, fence(isa::Unit::kWeights, signal(9))));
        EXPECT_EQ(fenced.at(1).second, fenced.at(0).second);
        EXPECT_EQ(fenced.at(0), own.at(0));
        EXPECT_EQ(fenced.at(2), own.at(2));
    });
}

TEST_F(FenceTest, WithNothingBeforeItTakesOneCycle) {
    make(many_arrays(), false);
    bench->run([&] {
        for (const auto unit : {isa::Unit::kDmaIn, isa::Unit::kDmaOut, isa::Unit::kWeights,
                                isa::Unit::kMxu, isa::Unit::kVector}) {
            const auto spans = spans_of({fence(unit, signal(255), 2), nop(wait(255)), halt()});
            EXPECT_EQ(spans.at(0).second, spans.at(0).first + 1) << static_cast<int>(unit);
            EXPECT_EQ(spans.at(1).second, spans.at(0).second) << static_cast<int>(unit);
        }
    });
}

TEST_F(FenceTest, BehindATransferTakesOneCycleMore) {
    make(small_chip(), false);
    bench->run([&] {
        const auto spans = spans_of({read_memory({}, 0, 0, 100),
                                     fence(isa::Unit::kDmaIn, signal(1)), nop(wait(1)), halt()});
        EXPECT_EQ(spans.at(1).first, spans.at(0).second);
        EXPECT_EQ(spans.at(1).second, spans.at(0).second + 1);
    });
}

TEST_F(FenceTest, InTheSequencerIsANop) {
    make(small_chip(), false);
    bench->run([&] {
        const ProgramWords nops{nop(signal(3)), nop(wait(3)), halt()};
        const ProgramWords fences{fence(isa::Unit::kSequencer, signal(3)),
                                  fence(isa::Unit::kSequencer, wait(3)), halt()};
        EXPECT_EQ(cycles_of(fences), cycles_of(nops));
    });
}

TEST_F(FenceTest, OfAUnitThatIsNotThereIsRefused) {
    make(many_arrays(), false);
    bench->run([&] {
        for (const isa::Words& bad : {fence(isa::Unit{6}, {}), fence(isa::Unit::kMxu, {}, 3),
                                      fence(isa::Unit::kWeights, {}, 3), nop({.core = 3}),
                                      read_memory({.signal_b = 1, .core = 31}, 0, 0, 8)}) {
            const auto error = bench->program(0, {nop(), bad, halt()});
            ASSERT_TRUE(error);
            EXPECT_EQ(error->code, arch::DeviceError::kBadInstruction);
            EXPECT_EQ(error->instruction, 1u);
        }
    });
}

// Both cores begin in the same cycle; core 1 goes on in the cycle in which core 0 raises its flag.
TEST_F(FenceTest, ASignalReachesAnotherCoreInTheSameCycle) {
    make(many_arrays(), false);
    bench->run([&] {
        const isa::Header to_core_1{.signal_a = 4, .signal_b = 250, .core = 2};
        bench->programs({read_host(to_core_1, 0, 0, 8), nop(wait(4)), halt()},
                        {nop(wait(250)), nop(), halt()});
        EXPECT_EQ(bench->cycles(1), bench->cycles(0) + 1) << "one nop more";
        EXPECT_EQ(bench->chip.core(0).services().flags().counts()[250], 0u) << "not the own flag";
    });
}

TEST_F(FenceTest, AnArrayWaitsForAnotherCore) {
    make(many_arrays(), false);
    bench->run([&] {
        bench->programs(
            {nop(wait(8)), halt()},
            {read_host(signal(1), 0, 0, 8),
             fence(isa::Unit::kVector, {.wait_a = 1, .signal_b = 8, .core = 1}), halt()});
        EXPECT_EQ(bench->cycles(0), bench->cycles(1) + 1)
            << "core 1 halts when the fence has retired, core 0 behind the nop of that cycle";
    });
}

}  // namespace
}  // namespace tandem::sim
