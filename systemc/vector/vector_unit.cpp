// SPDX-License-Identifier: Apache-2.0
#include "systemc/vector/vector_unit.h"

#include "arch/numerics.h"
#include "arch/vector_rules.h"
#include "engine/activation_reader.h"
#include "engine/vector_drain.h"

namespace tandem::sim {

VectorUnit::VectorUnit(sc_core::sc_module_name name, ChipServices& services, UnifiedBuffer& ports,
                       std::vector<Mxu*> mxus)
    : Unit(name, isa::Unit::kVector, services),
      buffer("buffer"),
      ports_(ports),
      mxus_(std::move(mxus)),
      timing_{services.config().vector} {}

void VectorUnit::execute(const Dispatched& instruction) {
    if (bytes_.empty()) bytes_ = buffer.direct();
    const isa::Words& words = instruction.words;
    const uint32_t index = instruction.index;
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kRequantise:
            return requantise(isa::Requantise::decode(words), index);
        case isa::Opcode::kConvert:
            return convert(isa::Convert::decode(words), index);
        case isa::Opcode::kSetShape:
        case isa::Opcode::kSetView:
        case isa::Opcode::kSetTaps:
        case isa::Opcode::kSetChain:
        case isa::Opcode::kSetConstants:
        case isa::Opcode::kMap:
        case isa::Opcode::kReduce:
        case isa::Opcode::kLookup:
        case isa::Opcode::kMove:
            return execute_elements(words, index);
        default:
            services_.fail(arch::DeviceError::kBadInstruction, index);
    }
}

void VectorUnit::requantise(const isa::Requantise& op, uint32_t index) {
    if (op.rows == 0 || op.cols == 0 || op.cols > services_.config().mxu.cols)
        services_.fail(arch::DeviceError::kBadInstruction, index);
    check_buffer(op.params_addr, op.cols * sizeof(numerics::ChannelParams), index);
    check_buffer(op.ub_addr, uint64_t{op.rows - 1u} * op.row_stride + op.cols, index);
    const auto sums = drain(op.mxu, op.acc_addr, op.rows, op.cols, 1, 1, index);
    if (services_.functional())
        engine::requantise_rows(op, sums, services_.config().mxu.cols, bytes_);
    busy_for(timing_.unit.latency_cycles);
}

void VectorUnit::convert(const isa::Convert& op, uint32_t index) {
    const uint32_t element_bytes = op.wide != 0 ? 4 : 2;
    const bool chain = op.function == 2;
    if (op.rows == 0 || op.cols == 0 || op.cols > services_.config().mxu.cols || op.function > 2 ||
        (!chain && services_.config().mxu.dtype != arch::Dtype::kBf16))
        services_.fail(arch::DeviceError::kBadInstruction, index);
    if (op.bias != 0) check_buffer(op.params_addr, op.cols * sizeof(float), index);
    check_buffer(op.ub_addr,
                 uint64_t{op.rows - 1u} * op.row_stride + uint64_t{op.cols} * element_bytes, index);
    const auto sums = drain(op.mxu, op.acc_addr, op.rows, op.cols, element_bytes,
                            chain ? arch::chain_cycles(state_, timing_.unit) : 1, index);
    if (services_.functional())
        engine::convert_rows(op, state_, sums, services_.config().mxu.cols, bytes_);
    busy_for(timing_.unit.latency_cycles);
}

std::span<const int32_t> VectorUnit::drain(uint32_t array, uint32_t acc_addr, uint32_t rows,
                                           uint32_t cols, uint32_t element_bytes,
                                           uint32_t chain_cycles, uint32_t index) {
    if (array >= mxus_.size()) services_.fail(arch::DeviceError::kBadInstruction, index);
    const uint64_t row_bytes = uint64_t{cols} * element_bytes;
    PortSchedule& port = ports_.write_port;
    let_arrays_begin();
    wait_until(port.free_from(now(), now()));
    charge(Cause::kWaitPort);
    port.take_later(now(), port.beat_bytes(rows, row_bytes));
    const uint32_t interval =
        std::max(timing_.drain_interval(cols) * chain_cycles, port.beat_cycles(row_bytes));
    return mxus_[array]->read_accumulators(acc_addr, rows, interval, index);
}

/// Behind the arrays whose first row enters in this cycle.
void VectorUnit::let_arrays_begin() {
    if (ports_.read_port.limited() || ports_.write_port.limited())
        sc_core::wait(sc_core::SC_ZERO_TIME);
}

void VectorUnit::stream(uint64_t read_bytes, uint64_t written_bytes, uint64_t cycles) {
    let_arrays_begin();
    const Cycle start = std::max(ports_.read_port.free_from(now(), now()),
                                 ports_.write_port.free_from(now(), now()));
    wait_until(start);
    charge(Cause::kWaitPort);
    ports_.read_port.take_later(start, read_bytes);
    ports_.write_port.take_later(start, written_bytes);
    busy_for(cycles);
    wait_until(std::max(ports_.read_port.done(start, read_bytes),
                        ports_.write_port.done(start, written_bytes)));
    charge(Cause::kWaitPort);
}

}  // namespace tandem::sim
