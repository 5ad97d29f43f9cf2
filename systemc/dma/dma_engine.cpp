// SPDX-License-Identifier: Apache-2.0
#include "systemc/dma/dma_engine.h"

namespace tandem::sim {

DmaEngine::DmaEngine(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services,
                     HostLink& host, UnifiedBuffer& ports)
    : Unit(name, unit, services), buffer("buffer"), memory("memory"), host_(host), ports_(ports) {}

void DmaEngine::execute(const Dispatched& instruction) {
    if (bytes_.empty()) bytes_ = buffer.direct();
    // The four instructions have the same fields.
    const auto op = isa::ReadHost::decode(instruction.words);
    check_range(op.ub_addr, op.bytes, bytes_.size(), arch::DeviceError::kUbAddress,
                instruction.index);
    uint8_t* data = services_.functional() ? bytes_.data() + op.ub_addr : nullptr;
    const uint64_t address = instruction.base + op.offset;
    sc_core::sc_time delay;
    bool ok = false, host = false;
    switch (static_cast<isa::Opcode>(instruction.words[0] & 0xff)) {
        case isa::Opcode::kReadHost:
            ok = host_.read(address, data, op.bytes, delay);
            host = true;
            break;
        case isa::Opcode::kWriteHost:
            ok = host_.write(address, data, op.bytes, delay);
            host = true;
            break;
        case isa::Opcode::kReadMemory:
            ok = memory.read(address, data, op.bytes, delay);
            break;
        case isa::Opcode::kWriteMemory:
            ok = memory.write(address, data, op.bytes, delay);
            break;
        default:
            services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    }
    if (!ok)
        services_.fail(host ? arch::DeviceError::kHostAddress : arch::DeviceError::kMemoryAddress,
                       instruction.index);
    // The bytes trickle in or out: they steal single cycles of the port from whoever else uses it.
    (unit() == isa::Unit::kDmaIn ? ports_.write_port : ports_.read_port).take(now(), op.bytes);
    wait_until(services_.clock().at_or_after(sc_core::sc_time_stamp() + delay));
    charge(Cause::kBusy);
}

}  // namespace tandem::sim
