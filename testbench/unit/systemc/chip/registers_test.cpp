// SPDX-License-Identifier: Apache-2.0
// The registers as arch/registers.yaml defines them: values, access rights, refused accesses.
// One simulation per process.
#include <gtest/gtest.h>

#include <set>

#include "testbench/support/chip_bench.h"
#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using testbench::ChipBench;

class Registers : public testbench::ChipTest {
  protected:
    Registers() { make(); }
};

TEST_F(Registers, ShowTheChipsFigures) {
    bench->run([&] {
        const uint64_t hash = bench->config.hash();
        EXPECT_EQ(bench->read(TANDEM_REG_ID), 0x4d444e54u);
        EXPECT_EQ(bench->read(TANDEM_REG_VERSION), 0x00030004u);
        EXPECT_EQ(bench->read(TANDEM_REG_HASH_LO), static_cast<uint32_t>(hash));
        EXPECT_EQ(bench->read(TANDEM_REG_HASH_HI), static_cast<uint32_t>(hash >> 32));
        EXPECT_EQ(bench->read(TANDEM_REG_ISA_HASH_LO), static_cast<uint32_t>(isa::kHash));
        EXPECT_EQ(bench->read(TANDEM_REG_ISA_HASH_HI), static_cast<uint32_t>(isa::kHash >> 32));
        EXPECT_EQ(bench->read(TANDEM_REG_MXU_SHAPE), 4u << 16 | 8u);
        EXPECT_EQ(bench->read(TANDEM_REG_UB_BYTES), 4096u);
        EXPECT_EQ(bench->read(TANDEM_REG_MEMORY_MIB), 1u);
        EXPECT_EQ(bench->read(TANDEM_REG_CLOCK_KHZ), 500000u);
    });
}

TEST_F(Registers, HaveTheirResetValues) {
    bench->run([&] {
        for (const auto& info : arch::kRegisters)
            if (info.offset >= TANDEM_REG_CONTROL && info.offset < TANDEM_REG_ISA_HASH_LO) {
                EXPECT_EQ(bench->read(info.offset), info.reset) << info.name;
            }
    });
}

TEST_F(Registers, ThatAreReadOnlyKeepTheirValue) {
    bench->run([&] {
        for (const auto& info : arch::kRegisters) {
            if (info.access != arch::Access::kReadOnly) continue;
            const uint32_t before = bench->read(info.offset);
            bench->write(info.offset, ~before);
            EXPECT_EQ(bench->read(info.offset), before) << info.name;
        }
    });
}

TEST_F(Registers, ThatAreReadWriteGiveBackWhatWasWritten) {
    bench->run([&] {
        for (const uint32_t offset :
             {TANDEM_REG_RING_BASE_LO, TANDEM_REG_RING_BASE_HI, TANDEM_REG_RING_ENTRIES,
              TANDEM_REG_DOORBELL, TANDEM_REG_IRQ_ENABLE, TANDEM_REG_SCRATCH,
              TANDEM_REG_CORE_SELECT}) {
            bench->write(offset, 0x5a5a0001);
            EXPECT_EQ(bench->read(offset), 0x5a5a0001u) << "register 0x" << std::hex << offset;
        }
    });
}

TEST_F(Registers, ControlResetReadsAsZero) {
    bench->run([&] {
        bench->write(TANDEM_REG_CONTROL, TANDEM_CONTROL_ENABLE | TANDEM_CONTROL_RESET);
        EXPECT_EQ(bench->read(TANDEM_REG_CONTROL) & TANDEM_CONTROL_RESET, 0u);
    });
}

TEST_F(Registers, IrqStatusClearsOnlyTheBitsThatAreWritten) {
    bench->run([&] {
        bench->enable();
        bench->run_program({isa::Halt{}.encode()});
        ASSERT_EQ(bench->read(TANDEM_REG_IRQ_STATUS), TANDEM_IRQ_STATUS_DONE);
        bench->write(TANDEM_REG_IRQ_STATUS, TANDEM_IRQ_STATUS_ERROR);
        EXPECT_EQ(bench->read(TANDEM_REG_IRQ_STATUS), TANDEM_IRQ_STATUS_DONE)
            << "after writing the other bit";
        bench->write(TANDEM_REG_IRQ_STATUS, TANDEM_IRQ_STATUS_DONE);
        EXPECT_EQ(bench->read(TANDEM_REG_IRQ_STATUS), 0u) << "after writing the bit";
    });
}

TEST_F(Registers, InterruptLineFollowsStatusAndEnable) {
    bench->run([&] {
        bench->enable();
        bench->run_program({isa::Halt{}.encode()});
        EXPECT_FALSE(bench->irq.read()) << "not enabled";
        bench->write(TANDEM_REG_IRQ_ENABLE, TANDEM_IRQ_ENABLE_DONE);
        sc_core::wait(1, sc_core::SC_NS);
        EXPECT_TRUE(bench->irq.read()) << "enabled";
        bench->write(TANDEM_REG_IRQ_STATUS, TANDEM_IRQ_STATUS_DONE);
        sc_core::wait(1, sc_core::SC_NS);
        EXPECT_FALSE(bench->irq.read()) << "cleared";
    });
}

TEST_F(Registers, AccessTakesTheBusLatency) {
    bench->run([&] {
        const sc_core::sc_time start = sc_core::sc_time_stamp();
        bench->read(TANDEM_REG_ID);
        EXPECT_EQ(sc_core::sc_time_stamp() - start, sc_core::sc_time(500, sc_core::SC_NS));
    });
}

TEST_F(Registers, RejectMisalignedAccess) {
    bench->run([&] {
        uint32_t value = 0;
        for (uint64_t offset = 0; offset < 0x6c; ++offset) {
            if (offset % 4 == 0) continue;
            EXPECT_NE(bench->access(tlm::TLM_READ_COMMAND, offset, &value, 4), tlm::TLM_OK_RESPONSE)
                << "offset " << offset;
        }
    });
}

TEST_F(Registers, RejectOtherSizesThanFourBytes) {
    bench->run([&] {
        uint8_t data[16] = {};
        for (const unsigned bytes : {1u, 2u, 3u, 5u, 8u, 16u}) {
            EXPECT_NE(bench->access(tlm::TLM_READ_COMMAND, TANDEM_REG_SCRATCH, data, bytes),
                      tlm::TLM_OK_RESPONSE)
                << bytes << " bytes read";
            EXPECT_NE(bench->access(tlm::TLM_WRITE_COMMAND, TANDEM_REG_SCRATCH, data, bytes),
                      tlm::TLM_OK_RESPONSE)
                << bytes << " bytes written";
        }
    });
}

TEST_F(Registers, RejectOffsetsWithoutARegister) {
    bench->run([&] {
        uint32_t value = 0;
        for (const uint64_t offset :
             {0xb0ull, 0x100ull, 0xfffffffcull, 0x100000000ull, 0x10000004cull, ~3ull})
            EXPECT_NE(bench->access(tlm::TLM_READ_COMMAND, offset, &value, 4), tlm::TLM_OK_RESPONSE)
                << "offset 0x" << std::hex << offset;
    });
}

TEST_F(Registers, RefusedWriteChangesNothing) {
    bench->run([&] {
        bench->write(TANDEM_REG_SCRATCH, 1234);
        uint64_t value = ~0ull;
        bench->access(tlm::TLM_WRITE_COMMAND, TANDEM_REG_SCRATCH, &value, 8);
        bench->access(tlm::TLM_WRITE_COMMAND, TANDEM_REG_SCRATCH + 2, &value, 4);
        EXPECT_EQ(bench->read(TANDEM_REG_SCRATCH), 1234u);
    });
}

TEST_F(Registers, SurviveGarbageAndAReset) {
    testbench::Seeded random(0);
    bench->run([&] {
        for (int round = 0; round < 300; ++round) {
            const auto& info = arch::kRegisters[random.below(arch::kRegisters.size())];
            bench->write(info.offset, static_cast<uint32_t>(random.bits()));
        }
        bench->write(TANDEM_REG_CONTROL, 0);
        bench->reset();
        EXPECT_EQ(bench->run_program({isa::Halt{}.encode()}), TANDEM_ERROR_NONE) << "seed 0";
    });
}

TEST_F(Registers, CountCyclesMacsAndInstructions) {
    bench->run([&] {
        bench->enable();
        bench->run_program({isa::Nop{}.encode(), isa::Nop{}.encode(), isa::Halt{}.encode()});
        EXPECT_EQ(bench->read(TANDEM_REG_INSTRUCTIONS), 3u) << "instructions";
        EXPECT_EQ(bench->read(TANDEM_REG_MACS_LO), 0u) << "MACs";
        EXPECT_GE(bench->read(TANDEM_REG_CYCLES_LO), 3u) << "cycles";
    });
}

TEST_F(Registers, CountersAreZeroAfterReset) {
    bench->run([&] {
        bench->enable();
        bench->run_program({isa::Nop{}.encode(), isa::Halt{}.encode()});
        bench->reset();
        for (const uint32_t offset :
             {TANDEM_REG_CYCLES_LO, TANDEM_REG_CYCLES_HI, TANDEM_REG_MACS_LO, TANDEM_REG_MACS_HI,
              TANDEM_REG_INSTRUCTIONS, TANDEM_REG_MXU_BUSY_LO, TANDEM_REG_MXU_BUSY_HI})
            EXPECT_EQ(bench->read(offset), 0u)
                << "counter 0x" << std::hex << offset << ", counts since reset";
    });
}

}  // namespace
}  // namespace tandem::sim
