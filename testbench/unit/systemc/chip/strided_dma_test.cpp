// SPDX-License-Identifier: Apache-2.0
// Transfers with two strides against byte-by-byte loops, their time against one transfer of as many
// bytes, and every way to leave a memory. One simulation per process.
#include "testbench/support/seeded.h"
#include "testbench/unit/systemc/chip/cores_bench.h"

namespace tandem::sim {
namespace {

using namespace testbench;

constexpr uint64_t kUb = 4096, kMemory = 1 << 20;

/// All four instructions have these fields.
isa::ReadMemory runs(uint32_t ub_addr, uint32_t offset, uint32_t bytes, uint16_t rows,
                     uint16_t planes, uint32_t row_stride, uint32_t plane_stride) {
    isa::ReadMemory op;
    op.ub_addr = ub_addr;
    op.offset = offset;
    op.bytes = bytes;
    op.base = 1;
    op.rows = rows;
    op.planes = planes;
    op.row_stride = row_stride;
    op.plane_stride = plane_stride;
    return op;
}

isa::Words as(isa::Opcode opcode, isa::ReadMemory op) {
    const bool host = opcode == isa::Opcode::kReadHost || opcode == isa::Opcode::kWriteHost;
    op.base = host ? 2 : 1;
    isa::Words words = op.encode();
    words[0] = (words[0] & ~0xffu) | static_cast<uint32_t>(opcode);
    return words;
}

class StridedDma : public CoresTest, public testing::WithParamInterface<isa::Opcode> {
  protected:
    bool to_buffer() const {
        return GetParam() == isa::Opcode::kReadHost || GetParam() == isa::Opcode::kReadMemory;
    }
    bool host() const {
        return GetParam() == isa::Opcode::kReadHost || GetParam() == isa::Opcode::kWriteHost;
    }
    std::span<uint8_t> far() {
        return host() ? std::span(bench->memory.at(kData), 0x4000)
                      : bench->device().subspan(CoresBench::kDeviceData, 0x4000);
    }
    uint64_t cycles_of(const isa::ReadMemory& op) {
        EXPECT_FALSE(bench->program(0, {as(GetParam(), op), halt()}));
        return bench->cycles();
    }
};

TEST_P(StridedDma, MovesTheBytesOfPlainLoops) {
    make(many_arrays(), true);
    bench->run([&] {
        for (uint64_t seed = 0; seed < 60; ++seed) {
            Seeded random(seed);
            for (uint8_t& byte : far()) byte = static_cast<uint8_t>(random.bits());
            for (uint8_t& byte : bench->buffer(0)) byte = static_cast<uint8_t>(random.bits());
            const auto op = runs(
                static_cast<uint32_t>(random.below(1000)), static_cast<uint32_t>(random.below(500)),
                static_cast<uint32_t>(random.below(40)), static_cast<uint16_t>(1 + random.below(8)),
                static_cast<uint16_t>(1 + random.below(8)),
                static_cast<uint32_t>(random.below(100)), static_cast<uint32_t>(random.below(900)));
            std::vector<uint8_t> near(bench->buffer(0).begin(), bench->buffer(0).end());
            std::vector<uint8_t> outside(far().begin(), far().end());
            size_t at = op.ub_addr;
            for (size_t p = 0; p < op.planes; ++p)
                for (size_t r = 0; r < op.rows; ++r)
                    for (size_t i = 0; i < op.bytes; ++i, ++at) {
                        uint8_t& there =
                            outside[op.offset + p * op.plane_stride + r * op.row_stride + i];
                        (to_buffer() ? near[at] : there) = to_buffer() ? there : near[at];
                    }
            cycles_of(op);
            ASSERT_TRUE(std::equal(near.begin(), near.end(), bench->buffer(0).begin()))
                << "buffer, seed " << seed;
            ASSERT_TRUE(std::equal(outside.begin(), outside.end(), far().begin()))
                << "far side, seed " << seed;
        }
    });
}

TEST_P(StridedDma, TakesTheTimeOfOneTransferOfAllBytes) {
    for (const bool functional : {true, false}) {
        if (!functional) break;
        make(many_arrays(), true);
        CoresBench timing("timing", many_arrays(), false);
        bench->run([&] {
            const uint64_t whole = cycles_of(runs(0, 64, 900, 1, 1, 0, 0));
            const auto split = runs(0, 64, 9, 10, 10, 77, 1001);
            EXPECT_EQ(cycles_of(split), whole);
            ASSERT_FALSE(timing.program(0, {as(GetParam(), split), halt()}));
            EXPECT_EQ(timing.cycles(), whole) << "without data";
        });
    }
}

INSTANTIATE_TEST_SUITE_P(Instructions, StridedDma,
                         testing::Values(isa::Opcode::kReadHost, isa::Opcode::kReadMemory,
                                         isa::Opcode::kWriteHost, isa::Opcode::kWriteMemory),
                         [](const auto& info) {
                             return "Opcode" + std::to_string(static_cast<int>(info.param));
                         });

class StridedDmaErrors : public CoresTest {
  protected:
    void expect(arch::DeviceError code, ProgramWords program, const char* what) {
        program.push_back(halt());
        const auto error = bench->program(0, program);
        ASSERT_TRUE(error) << what;
        EXPECT_EQ(error->code, code) << what;
    }
};

TEST_F(StridedDmaErrors, EveryRunLiesInDeviceMemory) {
    make(many_arrays(), true);
    bench->run([&] {
        const auto room = static_cast<uint32_t>(kMemory - CoresBench::kDeviceData);
        // The last of 4 x 3 runs of 8 bytes ends 3 * 100 + 2 * 1000 + 8 behind the first byte.
        const uint32_t last = room - 2308;
        EXPECT_FALSE(bench->program(0, {runs(0, last, 8, 4, 3, 100, 1000).encode(), halt()}))
            << "just fits";
        expect(arch::DeviceError::kMemoryAddress, {runs(0, last + 1, 8, 4, 3, 100, 1000).encode()},
               "one byte too far");
        auto high = runs(0, 0, 8, 1, 1, 0, 0);
        high.offset_high = 1;
        expect(arch::DeviceError::kMemoryAddress, {high.encode()}, "bit 32 of the offset");
        auto wrap = runs(0, 0, 8, 2, 1, 4, 0);
        wrap.base = 5;
        expect(arch::DeviceError::kMemoryAddress,
               {isa::AddScalar{.header = {}, .rd = 5, .rs = 0, .imm = -9}.encode(), wrap.encode()},
               "an extent beyond 2^64");
    });
}

TEST_F(StridedDmaErrors, AllRunsFitIntoTheBuffer) {
    make(many_arrays(), true);
    bench->run([&] {
        EXPECT_FALSE(bench->program(0, {runs(0, 0, kUb / 16, 4, 4, 1, 1).encode(), halt()}));
        expect(arch::DeviceError::kUbAddress, {runs(1, 0, kUb / 16, 4, 4, 1, 1).encode()},
               "one byte too far");
        expect(arch::DeviceError::kUbAddress, {runs(0, 0, 1u << 31, 0x8000, 0x8000, 0, 0).encode()},
               "2^61 bytes");
        expect(arch::DeviceError::kUbAddress, {runs(0, 0, ~0u, 0xffff, 0xffff, 0, 0).encode()},
               "nearly 2^64 bytes");
    });
}

TEST_F(StridedDmaErrors, NoRunsAreNoTransfer) {
    make(many_arrays(), true);
    bench->run([&] {
        expect(arch::DeviceError::kBadInstruction, {runs(0, 0, 8, 0, 1, 0, 0).encode()}, "rows");
        expect(arch::DeviceError::kBadInstruction, {runs(0, 0, 8, 1, 0, 0, 0).encode()}, "planes");
    });
}

TEST_F(StridedDmaErrors, EveryRunLiesInHostMemory) {
    make(many_arrays(), true);
    CoresBench timing("timing", many_arrays(), false);
    bench->run([&] {
        const auto room = static_cast<uint32_t>(kHostBytes - (kData - kHostBase));
        for (const auto opcode : {isa::Opcode::kReadHost, isa::Opcode::kWriteHost}) {
            EXPECT_FALSE(
                bench->program(0, {as(opcode, runs(0, room - 308, 8, 4, 1, 100, 0)), halt()}));
            const auto far = as(opcode, runs(0, room - 307, 8, 4, 1, 100, 0));
            expect(arch::DeviceError::kHostAddress, {far}, "one byte too far");
            const auto error = timing.program(0, {far, halt()});
            ASSERT_TRUE(error) << "without data";
            EXPECT_EQ(error->code, arch::DeviceError::kHostAddress);
        }
    });
}

TEST_F(StridedDmaErrors, OffsetsReachBeyondFourGibibytes) {
    arch::ChipConfig chip = many_arrays();
    chip.memory.bytes = uint64_t{9} << 30;
    make(chip, true);
    bench->run([&] {
        auto op = runs(0, 100, 4, 2, 1, 50, 0);
        op.offset_high = 2;
        const uint64_t at = (uint64_t{2} << 32) + CoresBench::kDeviceData + 100;
        for (uint64_t i = 0; i < 4; ++i) {
            bench->device()[at + i] = static_cast<uint8_t>(10 + i);
            bench->device()[at + 50 + i] = static_cast<uint8_t>(20 + i);
        }
        ASSERT_FALSE(bench->program(0, {op.encode(), halt()}));
        for (uint32_t i = 0; i < 8; ++i)
            EXPECT_EQ(bench->buffer(0)[i], (i < 4 ? 10 : 16) + i) << "byte " << i;
    });
}

}  // namespace
}  // namespace tandem::sim
