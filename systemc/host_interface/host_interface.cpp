// SPDX-License-Identifier: Apache-2.0
#include "systemc/host_interface/host_interface.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "arch/generated/registers.h"

namespace tandem::sim {
namespace {

constexpr uint32_t word(uint32_t offset) { return offset / 4; }

const arch::RegisterInfo* info_of(uint32_t offset) {
    const auto found = std::find_if(arch::kRegisters.begin(), arch::kRegisters.end(),
                                    [&](const auto& info) { return info.offset == offset; });
    return found == arch::kRegisters.end() ? nullptr : &*found;
}

}  // namespace

struct HostInterface::Command {
    std::array<uint8_t, TANDEM_COMMAND_BYTES> bytes{};
    template <class T>
    T field(uint32_t offset) const {
        T value;
        std::memcpy(&value, bytes.data() + offset, sizeof value);
        return value;
    }
};

HostInterface::HostInterface(sc_core::sc_module_name name, ChipServices& services, HostLink& link,
                             Sequencer& sequencer, Mxu& mxu)
    : sc_module(name),
      registers_in("registers_in"),
      irq_out("irq_out"),
      memory("memory"),
      services_(services),
      link_(link),
      sequencer_(sequencer),
      mxu_(mxu) {
    SC_HAS_PROCESS(HostInterface);
    registers_in.register_b_transport(this, &HostInterface::b_transport);
    registers_in.register_transport_dbg(this, &HostInterface::transport_dbg);
    for (const auto& info : arch::kRegisters) registers_[word(info.offset)] = info.reset;
    SC_THREAD(command_thread);
    SC_METHOD(irq_method);
    sensitive << irq_;
}

void HostInterface::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    // The access happens when it arrives at the chip, not when it was sent.
    sc_core::wait(delay + link_.latency());
    delay = sc_core::SC_ZERO_TIME;
    access(transaction);
}

unsigned HostInterface::transport_dbg(tlm::tlm_generic_payload& transaction) {
    return transaction.is_read() && access(transaction) ? 4 : 0;
}

bool HostInterface::access(tlm::tlm_generic_payload& transaction) {
    const auto offset =
        static_cast<uint32_t>(std::min<uint64_t>(transaction.get_address(), 0xffffffffu));
    if (transaction.get_data_length() != 4 || offset % 4 != 0 ||
        transaction.get_byte_enable_ptr() != nullptr) {
        transaction.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return false;
    }
    if (info_of(offset) == nullptr) {
        transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return false;
    }
    uint32_t value = 0;
    if (transaction.is_write()) {
        std::memcpy(&value, transaction.get_data_ptr(), 4);
        write_register(offset, value);
    } else {
        value = read_register(offset);
        std::memcpy(transaction.get_data_ptr(), &value, 4);
    }
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

uint32_t HostInterface::read_register(uint32_t offset) const {
    const auto& config = services_.config();
    const auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
    const auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
    switch (offset) {
        case TANDEM_REG_VERSION:
            return isa::kVersion | TANDEM_REGISTERS_VERSION << 16;
        case TANDEM_REG_HASH_LO:
            return low(config.hash());
        case TANDEM_REG_HASH_HI:
            return high(config.hash());
        case TANDEM_REG_ISA_HASH_LO:
            return low(isa::kHash);
        case TANDEM_REG_ISA_HASH_HI:
            return high(isa::kHash);
        case TANDEM_REG_MXU_SHAPE:
            return config.mxu.rows | config.mxu.cols << 16;
        case TANDEM_REG_UB_BYTES:
            return low(config.unified_buffer_bytes);
        case TANDEM_REG_MEMORY_MIB:
            return low(config.memory.bytes >> 20);
        case TANDEM_REG_CLOCK_KHZ:
            return low(config.clock_hz / 1000);
        case TANDEM_REG_STATUS:
            return (busy_ ? TANDEM_STATUS_BUSY : 0) |
                   (registers_[word(TANDEM_REG_ERROR_CODE)] != 0 ? TANDEM_STATUS_ERROR : 0);
        case TANDEM_REG_RING_HEAD:
            return head_;
        case TANDEM_REG_CYCLES_LO:
            return low(counters().cycles - at_reset_.cycles);
        case TANDEM_REG_CYCLES_HI:
            return high(counters().cycles - at_reset_.cycles);
        case TANDEM_REG_MACS_LO:
            return low(counters().macs - at_reset_.macs);
        case TANDEM_REG_MACS_HI:
            return high(counters().macs - at_reset_.macs);
        case TANDEM_REG_INSTRUCTIONS:
            return low(counters().instructions - at_reset_.instructions);
        case TANDEM_REG_MXU_BUSY_LO:
            return low(counters().mxu_busy - at_reset_.mxu_busy);
        case TANDEM_REG_MXU_BUSY_HI:
            return high(counters().mxu_busy - at_reset_.mxu_busy);
        default:
            return registers_[word(offset)];
    }
}

void HostInterface::write_register(uint32_t offset, uint32_t value) {
    switch (info_of(offset)->access) {
        case arch::Access::kReadOnly:
            return;
        case arch::Access::kWriteOneToClear:
            registers_[word(offset)] &= ~value;
            break;
        default:
            registers_[word(offset)] = value;
    }
    if (offset == TANDEM_REG_CONTROL) write_control(value);
    if (offset == TANDEM_REG_DOORBELL || offset == TANDEM_REG_CONTROL)
        doorbell_.notify(sc_core::SC_ZERO_TIME);
    update_irq();
}

void HostInterface::write_control(uint32_t value) {
    registers_[word(TANDEM_REG_CONTROL)] = value & TANDEM_CONTROL_ENABLE;
    if ((value & TANDEM_CONTROL_RESET) == 0) return;
    if (busy_) {
        // The command thread finishes the abort and then resets the device.
        abort_ = true;
        services_.raise_error(arch::DeviceError::kAborted, sequencer_.program_counter());
    } else {
        reset_device();
    }
}

HostInterface::Counters HostInterface::counters() const {
    return {sequencer_.program_cycles(), mxu_.macs(), services_.instructions_retired(),
            mxu_.account().busy()};
}

void HostInterface::reset_device() {
    const uint32_t control = registers_[word(TANDEM_REG_CONTROL)];
    for (const auto& info : arch::kRegisters) registers_[word(info.offset)] = info.reset;
    registers_[word(TANDEM_REG_CONTROL)] = control;
    head_ = 0;
    abort_ = false;
    at_reset_ = counters();
    services_.clear_error();
    update_irq();
}

void HostInterface::command_thread() {
    for (;;) {
        const bool enabled = (registers_[word(TANDEM_REG_CONTROL)] & TANDEM_CONTROL_ENABLE) != 0;
        const bool failed = registers_[word(TANDEM_REG_ERROR_CODE)] != 0;
        if (!enabled || failed || head_ == registers_[word(TANDEM_REG_DOORBELL)]) {
            sc_core::wait(doorbell_);
            continue;
        }
        busy_ = true;
        run_next_command();
        busy_ = false;
        if (abort_) reset_device();
    }
}

bool HostInterface::ring_valid() const {
    const uint32_t entries = registers_[word(TANDEM_REG_RING_ENTRIES)];
    const uint32_t pending = registers_[word(TANDEM_REG_DOORBELL)] - head_;
    return registers_[word(TANDEM_REG_RING_BASE_LO)] % TANDEM_COMMAND_BYTES == 0 &&
           std::has_single_bit(entries) && entries >= 2 && entries <= 1024 && pending <= entries;
}

void HostInterface::run_next_command() {
    if (!ring_valid()) {
        registers_[word(TANDEM_REG_ERROR_CODE)] = TANDEM_ERROR_BAD_RING;
        registers_[word(TANDEM_REG_ERROR_INFO)] = head_;
        registers_[kIrqStatus] |= TANDEM_IRQ_STATUS_ERROR;
        update_irq();
        return;
    }
    const uint64_t base = uint64_t{registers_[word(TANDEM_REG_RING_BASE_HI)]} << 32 |
                          registers_[word(TANDEM_REG_RING_BASE_LO)];
    const uint32_t slot = head_ & (registers_[word(TANDEM_REG_RING_ENTRIES)] - 1);
    const uint64_t entry = base + uint64_t{slot} * TANDEM_COMMAND_BYTES;
    Command command;
    sc_core::sc_time delay;
    const bool fetched = link_.read(entry, command.bytes.data(), command.bytes.size(), delay);
    sc_core::wait(delay);
    const uint64_t cycles_before = sequencer_.program_cycles();
    std::optional<ProgramError> error =
        services_.error();  // aborted while the command was on its way
    if (!fetched) error = ProgramError{arch::DeviceError::kHostAddress, slot};
    if (!error) error = execute(command);
    finish(entry, error, sequencer_.program_cycles() - cycles_before);
}

std::optional<ProgramError> HostInterface::execute(const Command& command) {
    switch (command.field<uint32_t>(TANDEM_COMMAND_OPCODE_OFFSET)) {
        case TANDEM_COMMAND_LOAD:
            return load(command);
        case TANDEM_COMMAND_RUN:
            return sequencer_.run(
                {command.field<uint64_t>(TANDEM_COMMAND_SOURCE_OFFSET),
                 command.field<uint64_t>(TANDEM_COMMAND_BYTES_OFFSET) / isa::kInstructionBytes,
                 {command.field<uint64_t>(TANDEM_COMMAND_ARG0_OFFSET),
                  command.field<uint64_t>(TANDEM_COMMAND_ARG1_OFFSET),
                  command.field<uint64_t>(TANDEM_COMMAND_ARG2_OFFSET)}});
        default:
            return ProgramError{arch::DeviceError::kBadCommand, head_};
    }
}

std::optional<ProgramError> HostInterface::load(const Command& command) {
    constexpr uint64_t kChunk = 64 * 1024;
    uint64_t source = command.field<uint64_t>(TANDEM_COMMAND_SOURCE_OFFSET);
    uint64_t destination = command.field<uint64_t>(TANDEM_COMMAND_DESTINATION_OFFSET);
    std::vector<uint8_t> buffer(kChunk);
    for (uint64_t left = command.field<uint64_t>(TANDEM_COMMAND_BYTES_OFFSET); left != 0;) {
        const uint64_t bytes = std::min(left, kChunk);
        sc_core::sc_time delay;
        if (!link_.read(source, buffer.data(), bytes, delay))
            return ProgramError{arch::DeviceError::kHostAddress, head_};
        if (!memory.write(destination, buffer.data(), bytes, delay))
            return ProgramError{arch::DeviceError::kMemoryAddress, head_};
        sc_core::wait(delay);
        if (services_.error()) return services_.error();
        source += bytes;
        destination += bytes;
        left -= bytes;
    }
    return std::nullopt;
}

void HostInterface::finish(uint64_t entry, const std::optional<ProgramError>& error,
                           uint64_t cycles) {
    const uint32_t code = error ? static_cast<uint32_t>(error->code) : 0;
    std::array<uint32_t, 2> status = {1 + code, static_cast<uint32_t>(std::min<uint64_t>(
                                                    cycles, std::numeric_limits<uint32_t>::max()))};
    sc_core::sc_time delay;
    link_.write(entry + TANDEM_COMMAND_STATUS_OFFSET, reinterpret_cast<uint8_t*>(status.data()),
                sizeof status, delay);
    sc_core::wait(delay);
    ++head_;
    if (error) {
        registers_[word(TANDEM_REG_ERROR_CODE)] = code;
        registers_[word(TANDEM_REG_ERROR_INFO)] = error->instruction;
    }
    registers_[kIrqStatus] |= error ? TANDEM_IRQ_STATUS_ERROR : TANDEM_IRQ_STATUS_DONE;
    update_irq();
}

}  // namespace tandem::sim
