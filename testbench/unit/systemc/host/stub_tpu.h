// SPDX-License-Identifier: Apache-2.0
// A TPU as the host sees it: registers, command ring, interrupt. LOAD copies; RUN takes the first
// word of the code as a number of bytes and writes input[i] + data[i % 16] to the output.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <systemc>
#include <vector>

#include "arch/generated/registers.h"

namespace tandem::testbench {

class StubTpu : public sc_core::sc_module {
  public:
    static constexpr uint64_t kIsaHash = 0x0badcafe87654321;
    static constexpr uint64_t kHash = 0xfeedface12345678;
    static constexpr uint32_t kCommandCycles = 500;

    tlm_utils::simple_target_socket<StubTpu> registers_in;
    tlm_utils::simple_initiator_socket<StubTpu> dma_out;
    sc_core::sc_out<bool> irq_out;

    uint32_t fail_with = TANDEM_ERROR_NONE;  ///< RUN ends with this error
    bool hang = false;                       ///< RUN never ends

    explicit StubTpu(sc_core::sc_module_name name)
        : sc_module(name),
          registers_in("registers_in"),
          dma_out("dma_out"),
          irq_out("irq_out"),
          memory_(1 << 20),
          registers_(48) {
        registers_in.register_b_transport(this, &StubTpu::b_transport);
        reg(TANDEM_REG_ID) = 0x4d444e54;
        reg(TANDEM_REG_VERSION) = TANDEM_REGISTERS_VERSION << 16 | 1;
        reg(TANDEM_REG_ISA_HASH_LO) = static_cast<uint32_t>(kIsaHash);
        reg(TANDEM_REG_ISA_HASH_HI) = static_cast<uint32_t>(kIsaHash >> 32);
        reg(TANDEM_REG_HASH_LO) = static_cast<uint32_t>(kHash);
        reg(TANDEM_REG_HASH_HI) = static_cast<uint32_t>(kHash >> 32);
        reg(TANDEM_REG_MXU_SHAPE) = 8 << 16 | 8;
        reg(TANDEM_REG_MEMORY_MIB) = 1;
        reg(TANDEM_REG_CLOCK_KHZ) = 500000;
        reg(TANDEM_REG_CORES) = 1 | 1 << 16;
        SC_HAS_PROCESS(StubTpu);
        SC_THREAD(command_thread);
        SC_METHOD(irq_method);
        sensitive << irq_event_;
    }

  private:
    uint32_t& reg(uint32_t offset) { return registers_[offset / 4]; }

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const auto offset = static_cast<uint32_t>(payload.get_address());
        if (payload.get_data_length() != 4 || offset % 4 != 0 || offset / 4 >= registers_.size()) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        wait(10, sc_core::SC_NS);  // a target that suspends its caller
        delay += sc_core::sc_time(20, sc_core::SC_NS);
        uint32_t value = 0;
        std::memcpy(&value, payload.get_data_ptr(), 4);
        if (payload.is_write()) write(offset, value);
        if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &reg(offset), 4);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    void write(uint32_t offset, uint32_t value) {
        if (offset == TANDEM_REG_CONTROL && (value & TANDEM_CONTROL_RESET) != 0) {
            for (const uint32_t clear :
                 {TANDEM_REG_CONTROL, TANDEM_REG_STATUS, TANDEM_REG_ERROR_CODE,
                  TANDEM_REG_RING_HEAD, TANDEM_REG_DOORBELL, TANDEM_REG_CYCLES_LO})
                reg(clear) = 0;
        } else if (offset == TANDEM_REG_IRQ_STATUS) {
            reg(offset) &= ~value;
        } else {
            reg(offset) = value;
        }
        irq_event_.notify(sc_core::SC_ZERO_TIME);
        if (offset == TANDEM_REG_DOORBELL) work_event_.notify(sc_core::SC_ZERO_TIME);
    }

    void irq_method() {
        irq_out.write((reg(TANDEM_REG_IRQ_STATUS) & reg(TANDEM_REG_IRQ_ENABLE)) != 0);
    }

    void dma(tlm::tlm_command command, uint64_t address, void* data, unsigned bytes) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        dma_out->b_transport(payload, delay);
        if (!payload.is_response_ok()) SC_REPORT_ERROR("stub", "host memory refused an access");
    }

    void command_thread() {
        for (;;) {
            while (reg(TANDEM_REG_RING_HEAD) == reg(TANDEM_REG_DOORBELL) ||
                   reg(TANDEM_REG_STATUS) != 0)
                wait(work_event_);
            const uint64_t base =
                uint64_t{reg(TANDEM_REG_RING_BASE_HI)} << 32 | reg(TANDEM_REG_RING_BASE_LO);
            const uint64_t entry =
                base + reg(TANDEM_REG_RING_HEAD) % reg(TANDEM_REG_RING_ENTRIES) * 64;
            uint64_t words[8];
            dma(tlm::TLM_READ_COMMAND, entry, words, sizeof words);
            wait(1, sc_core::SC_US);
            const uint32_t error = execute(words);
            uint32_t result[2] = {1 + error, kCommandCycles};
            dma(tlm::TLM_WRITE_COMMAND, entry + TANDEM_COMMAND_STATUS_OFFSET, result,
                sizeof result);
            ++reg(TANDEM_REG_RING_HEAD);
            reg(TANDEM_REG_ERROR_CODE) = error;
            reg(TANDEM_REG_STATUS) = error != 0 ? TANDEM_STATUS_ERROR : 0;
            reg(TANDEM_REG_IRQ_STATUS) |=
                error != 0 ? TANDEM_IRQ_STATUS_ERROR : TANDEM_IRQ_STATUS_DONE;
            irq_event_.notify(sc_core::SC_ZERO_TIME);
        }
    }

    uint32_t execute(const uint64_t* words) {
        const auto opcode = static_cast<uint32_t>(words[0]);
        const uint64_t source = words[1], destination = words[2], bytes = words[3];
        if (opcode == TANDEM_COMMAND_LOAD) {
            dma(tlm::TLM_READ_COMMAND, source, memory_.data() + destination,
                static_cast<unsigned>(bytes));
            return TANDEM_ERROR_NONE;
        }
        if (hang) wait(never_);
        if (fail_with != TANDEM_ERROR_NONE) {
            reg(TANDEM_REG_ERROR_INFO) = 42;
            return fail_with;
        }
        uint32_t count = 0;
        std::memcpy(&count, memory_.data() + source, sizeof count);
        count &= 0xff;
        std::vector<uint8_t> buffer(count);
        dma(tlm::TLM_READ_COMMAND, words[5], buffer.data(), count);
        for (uint32_t i = 0; i < count; ++i)
            buffer[i] = static_cast<uint8_t>(buffer[i] + memory_[words[4] + i % 16]);
        dma(tlm::TLM_WRITE_COMMAND, words[6], buffer.data(), count);
        reg(TANDEM_REG_CYCLES_LO) += kCommandCycles;
        return TANDEM_ERROR_NONE;
    }

    std::vector<uint8_t> memory_;
    std::vector<uint32_t> registers_;
    sc_core::sc_event irq_event_;
    sc_core::sc_event work_event_;
    sc_core::sc_event never_;
};

}  // namespace tandem::testbench
