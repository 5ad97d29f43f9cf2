// SPDX-License-Identifier: Apache-2.0
#include "systemc/host_interface/host_interface.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "arch/generated/registers.h"
#include "systemc/host_interface/core_table.h"
#include "systemc/kernel/plain_access.h"

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

HostInterface::HostInterface(sc_core::sc_module_name name, const arch::ChipConfig& config,
                             HostLink& link, ProgramRunner& runner)
    : sc_module(name),
      registers_in("registers_in"),
      irq_out("irq_out"),
      memory("memory"),
      config_(config),
      link_(link),
      runner_(runner),
      readings_(config, runner) {
    SC_HAS_PROCESS(HostInterface);
    registers_in.register_b_transport(this, &HostInterface::b_transport);
    registers_in.register_transport_dbg(this, &HostInterface::transport_dbg);
    for (const auto& info : arch::kRegisters) registers_[word(info.offset)] = info.reset;
    SC_THREAD(command_thread);
    SC_METHOD(irq_method);
    sensitive << irq_changed_;
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
    if (!is_plain_word(transaction)) return false;
    const auto offset =
        static_cast<uint32_t>(std::min<uint64_t>(transaction.get_address(), 0xffffffffu));
    if (info_of(offset) == nullptr) {
        transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return false;
    }
    uint32_t value = 0;
    if (transaction.is_write()) {
        std::memcpy(&value, transaction.get_data_ptr(), 4);
        write_register(offset, value);
    } else if (transaction.is_read()) {
        value = read_register(offset);
        std::memcpy(transaction.get_data_ptr(), &value, 4);
    }
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

uint32_t HostInterface::read_register(uint32_t offset) const {
    const uint32_t selected = registers_[word(TANDEM_REG_CORE_SELECT)];
    if (const auto value = readings_.read(offset, selected)) return *value;
    if (offset == TANDEM_REG_RING_HEAD) return head_;
    if (offset == TANDEM_REG_STATUS)
        return (busy_ ? TANDEM_STATUS_BUSY : 0) |
               (registers_[word(TANDEM_REG_ERROR_CODE)] != 0 ? TANDEM_STATUS_ERROR : 0);
    return registers_[word(offset)];
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
        runner_.abort();
    } else {
        reset_device();
    }
}

void HostInterface::reset_device() {
    const uint32_t control = registers_[word(TANDEM_REG_CONTROL)];
    for (const auto& info : arch::kRegisters) registers_[word(info.offset)] = info.reset;
    registers_[word(TANDEM_REG_CONTROL)] = control;
    head_ = 0;
    abort_ = false;
    readings_.reset();
    runner_.clear_errors();
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
    const uint64_t cycles_before = runner_.program_cycles();
    std::optional<CoreError> error;
    if (abort_) error = failed(arch::DeviceError::kAborted, head_);
    if (!fetched) error = failed(arch::DeviceError::kHostAddress, slot);
    if (!error) error = execute(command);
    finish(entry, error, runner_.program_cycles() - cycles_before);
}

std::optional<CoreError> HostInterface::execute(const Command& command) {
    switch (command.field<uint32_t>(TANDEM_COMMAND_OPCODE_OFFSET)) {
        case TANDEM_COMMAND_LOAD:
            return load(command);
        case TANDEM_COMMAND_RUN:
            return run(command);
        default:
            return failed(arch::DeviceError::kBadCommand, head_);
    }
}

std::optional<CoreError> HostInterface::run(const Command& command) {
    const CoreTable table{.address = command.field<uint64_t>(TANDEM_COMMAND_DESTINATION_OFFSET),
                          .bytes = command.field<uint64_t>(TANDEM_COMMAND_BYTES_OFFSET),
                          .code = command.field<uint64_t>(TANDEM_COMMAND_SOURCE_OFFSET)};
    programs_.clear();
    const auto refused =
        read_core_table(memory, config_.memory.bytes + config_.cmem.bytes,
                        static_cast<uint32_t>(runner_.cores().size()), table, programs_);
    if (refused) return CoreError{0, *refused};
    if (abort_) return failed(arch::DeviceError::kAborted, head_);
    for (auto& program : programs_)
        program.program.args = {command.field<uint64_t>(TANDEM_COMMAND_ARG0_OFFSET),
                                command.field<uint64_t>(TANDEM_COMMAND_ARG1_OFFSET),
                                command.field<uint64_t>(TANDEM_COMMAND_ARG2_OFFSET)};
    return runner_.run(programs_);
}

std::optional<CoreError> HostInterface::load(const Command& command) {
    constexpr uint64_t kChunk = 64 * 1024;
    uint64_t source = command.field<uint64_t>(TANDEM_COMMAND_SOURCE_OFFSET);
    uint64_t destination = command.field<uint64_t>(TANDEM_COMMAND_DESTINATION_OFFSET);
    std::vector<uint8_t> buffer(kChunk);
    for (uint64_t left = command.field<uint64_t>(TANDEM_COMMAND_BYTES_OFFSET); left != 0;) {
        const uint64_t bytes = std::min(left, kChunk);
        sc_core::sc_time delay;
        if (!link_.read(source, buffer.data(), bytes, delay))
            return failed(arch::DeviceError::kHostAddress, head_);
        if (!memory.write(destination, buffer.data(), bytes, delay))
            return failed(arch::DeviceError::kMemoryAddress, head_);
        sc_core::wait(delay);
        if (abort_) return failed(arch::DeviceError::kAborted, head_);
        source += bytes;
        destination += bytes;
        left -= bytes;
    }
    return std::nullopt;
}

void HostInterface::finish(uint64_t entry, const std::optional<CoreError>& error, uint64_t cycles) {
    const uint32_t code = error ? static_cast<uint32_t>(error->error.code) : 0;
    std::array<uint32_t, 2> status = {1 + code, static_cast<uint32_t>(std::min<uint64_t>(
                                                    cycles, std::numeric_limits<uint32_t>::max()))};
    sc_core::sc_time delay;
    link_.write(entry + TANDEM_COMMAND_STATUS_OFFSET, reinterpret_cast<uint8_t*>(status.data()),
                sizeof status, delay);
    sc_core::wait(delay);
    ++head_;
    if (error) {
        registers_[word(TANDEM_REG_ERROR_CODE)] = code;
        registers_[word(TANDEM_REG_ERROR_INFO)] = error->error.instruction;
        registers_[word(TANDEM_REG_ERROR_CORE)] = error->core;
    }
    registers_[kIrqStatus] |= error ? TANDEM_IRQ_STATUS_ERROR : TANDEM_IRQ_STATUS_DONE;
    update_irq();
}

}  // namespace tandem::sim
