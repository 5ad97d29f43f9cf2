// SPDX-License-Identifier: Apache-2.0
// A chip with a transaction-level array and a small host memory, and a host that a test writes as a
// plain function. One simulation per process.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "arch/generated/registers.h"
#include "run/system.h"

namespace tandem::testbench {

/// 8 x 4 array, 64 accumulator rows, 4 KiB buffer, 1 MiB memory.
inline arch::ChipConfig small_chip() {
    arch::ChipConfig chip;
    chip.name = "small";
    chip.clock_hz = 500000000;
    chip.mxu = {8, 4, arch::Dtype::kInt8, 1, false, 0, 64, 2};
    chip.unified_buffer_bytes = 4096;
    chip.memory = {1 << 20, 4000000000, 100000};
    chip.memory.efficiency_percent = 100;
    chip.vector = {4, 8};
    chip.host = {4000000000, 500000, 500000000};
    chip.sequencer = {4, 20000};
    return chip;
}

inline constexpr uint64_t kHostBase = 0x80000000;
inline constexpr uint64_t kHostBytes = 1 << 16;
inline constexpr uint64_t kRing = kHostBase;              ///< 8 entries
inline constexpr uint64_t kProgram = kHostBase + 0x1000;  ///< where programs are staged
inline constexpr uint64_t kData = kHostBase + 0x8000;

/// All units of the first array of the first cores, and a host memory that refuses what lies
/// outside of it.
inline run::SystemOptions small_system(bool functional, uint32_t cores = 1,
                                       sim::Level level = sim::Level::kAt) {
    run::SystemOptions options;
    options.functional = functional;
    options.cores = cores;
    options.arrays = 1;
    options.level = level;
    options.quantum_ns = 1000;
    options.host_base = kHostBase;
    options.host_bytes = kHostBytes;
    return options;
}

/// Host memory as tests see it.
class HostMemoryView {
  public:
    explicit HostMemoryView(run::DirectHost& host) : host_(host) {}
    std::span<uint8_t> bytes() { return host_.bytes(); }
    uint8_t* at(uint64_t address) { return host_.bytes().data() + (address - kHostBase); }

  private:
    run::DirectHost& host_;
};

class ChipBench : public sc_core::sc_module {
  public:
    explicit ChipBench(sc_core::sc_module_name name, const arch::ChipConfig& config = small_chip(),
                       bool functional = true, uint32_t cores = 1,
                       sim::Level level = sim::Level::kAt)
        : sc_module(name),
          config(config),
          system(config, small_system(functional, cores, level)),
          chip(system.chip()),
          memory(*system.direct_host()),
          irq(system.irq()) {
        SC_HAS_PROCESS(ChipBench);
        SC_THREAD(host_thread);
    }

    /// Runs `host` in simulated time until it returns. Call once.
    void run(std::function<void()> host) {
        host_ = std::move(host);
        sc_core::sc_start();
        EXPECT_TRUE(host_done_) << "the host did not come to its end";
    }

    // For the host function.
    tlm::tlm_response_status access(tlm::tlm_command command, uint64_t address, void* data,
                                    unsigned bytes) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        sc_core::sc_time delay;
        system.direct_host()->registers->b_transport(payload, delay);
        return payload.get_response_status();
    }
    uint32_t read(uint32_t offset) {
        uint32_t value = 0;
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, offset, &value, 4), tlm::TLM_OK_RESPONSE)
            << "register 0x" << std::hex << offset;
        return value;
    }
    void write(uint32_t offset, uint32_t value) {
        EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, offset, &value, 4), tlm::TLM_OK_RESPONSE)
            << "register 0x" << std::hex << offset;
    }
    void enable() {
        write(TANDEM_REG_RING_BASE_LO, static_cast<uint32_t>(kRing));
        write(TANDEM_REG_RING_BASE_HI, static_cast<uint32_t>(kRing >> 32));
        write(TANDEM_REG_RING_ENTRIES, 8);
        write(TANDEM_REG_CONTROL, TANDEM_CONTROL_ENABLE);
        sent_ = 0;
    }
    void put_command(uint32_t opcode, uint64_t source, uint64_t destination, uint64_t bytes,
                     std::array<uint64_t, 3> args = {}) {
        uint64_t words[8] = {opcode, source, destination, bytes, args[0], args[1], args[2], 0};
        std::memcpy(memory.at(kRing + sent_++ % 8 * TANDEM_COMMAND_BYTES), words, sizeof words);
    }
    void ring() { write(TANDEM_REG_DOORBELL, sent_); }
    /// Waits until the chip is idle; false after `limit`.
    bool wait_idle(sc_core::sc_time limit = sc_core::sc_time(1, sc_core::SC_MS)) {
        const sc_core::sc_time end = sc_core::sc_time_stamp() + limit;
        do {
            sc_core::wait(1, sc_core::SC_US);
            const bool failed = read(TANDEM_REG_ERROR_CODE) != 0;
            if ((read(TANDEM_REG_STATUS) & TANDEM_STATUS_BUSY) == 0 &&
                (failed || read(TANDEM_REG_RING_HEAD) == sent_))
                return true;
        } while (sc_core::sc_time_stamp() < end);
        return false;
    }
    /// Status word of the last command.
    uint32_t status() {
        uint32_t value;
        std::memcpy(&value,
                    memory.at(kRing + (sent_ - 1) % 8 * TANDEM_COMMAND_BYTES +
                              TANDEM_COMMAND_STATUS_OFFSET),
                    4);
        return value;
    }
    void load_program(const std::vector<isa::Words>& program, uint64_t destination = 0) {
        std::memcpy(chip.device_memory().store().bytes().data() + destination, program.data(),
                    program.size() * 32);
    }
    /// Puts a core table into device memory, and a RUN for it into the ring. The first program
    /// stands at device address 0, further ones kCodeBytes apart.
    void put_run(const std::vector<uint64_t>& instructions, std::array<uint64_t, 3> args = {}) {
        std::vector<uint64_t> table;
        for (size_t core = 0; core < instructions.size(); ++core)
            table.insert(table.end(), {core * kCodeBytes, instructions[core]});
        std::memcpy(device().data() + kTable, table.data(), table.size() * 8);
        put_command(TANDEM_COMMAND_RUN, 0, kTable, table.size() * 8, args);
    }
    void put_run(uint64_t instructions, std::array<uint64_t, 3> args = {}) {
        put_run(std::vector{instructions}, args);
    }
    /// Puts a program for each of the first cores into device memory, runs them, and returns the
    /// error code.
    uint32_t run_programs(const std::vector<std::vector<isa::Words>>& programs,
                          std::array<uint64_t, 3> args = {kDeviceData, kData, kData + 0x4000}) {
        std::vector<uint64_t> instructions;
        for (size_t core = 0; core < programs.size(); ++core) {
            load_program(programs[core], core * kCodeBytes);
            instructions.push_back(programs[core].size());
        }
        put_run(instructions, args);
        ring();
        EXPECT_TRUE(wait_idle()) << "the programs did not end";
        return read(TANDEM_REG_ERROR_CODE);
    }
    /// Puts the program into device memory, runs it, and returns the error code.
    uint32_t run_program(const std::vector<isa::Words>& program,
                         std::array<uint64_t, 3> args = {kDeviceData, kData, kData + 0x4000}) {
        return run_programs({program}, args);
    }
    void reset() {
        write(TANDEM_REG_CONTROL, TANDEM_CONTROL_RESET);
        EXPECT_TRUE(wait_reset()) << "CONTROL.RESET had no end";
        enable();
    }
    bool wait_reset() {
        for (int i = 0; i < 100; ++i) {
            if ((read(TANDEM_REG_STATUS) & TANDEM_STATUS_BUSY) == 0) return true;
            sc_core::wait(1, sc_core::SC_US);
        }
        return false;
    }
    std::span<uint8_t> buffer() { return chip.unified_buffer().store().bytes(); }
    std::span<uint8_t> device() { return chip.device_memory().store().bytes(); }

    static constexpr uint64_t kDeviceData = 0x10000;
    static constexpr uint64_t kCodeBytes = 0x4000;  ///< of device memory for each core's program
    static constexpr uint64_t kTable = 0xf000;
    const arch::ChipConfig config;
    run::System system;
    sim::TpuChip& chip;
    HostMemoryView memory;
    const sc_core::sc_signal<bool>& irq;

  private:
    void host_thread() {
        if (!host_) return;  // a second chip that another host drives
        host_();
        host_done_ = true;
        sc_core::sc_stop();
    }
    std::function<void()> host_;
    bool host_done_ = false;
    uint32_t sent_ = 0;
};

/// Base of chip tests: the resolution has to be set before anything of SystemC exists.
class ChipTest : public testing::Test {
  protected:
    void make(const arch::ChipConfig& config = small_chip(), bool functional = true,
              uint32_t cores = 1, sim::Level level = sim::Level::kAt) {
        run::prepare_simulation();
        bench = std::make_unique<ChipBench>("bench", config, functional, cores, level);
    }
    std::unique_ptr<ChipBench> bench;
};

}  // namespace tandem::testbench
