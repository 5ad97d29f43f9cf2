// SPDX-License-Identifier: Apache-2.0
#include "systemc/dma/dma_engine.h"

#include <algorithm>
#include <cstring>

namespace tandem::sim {
namespace {

bool is_host(isa::Opcode opcode) {
    return opcode == isa::Opcode::kReadHost || opcode == isa::Opcode::kWriteHost;
}

bool is_memory(isa::Opcode opcode) {
    return opcode == isa::Opcode::kReadMemory || opcode == isa::Opcode::kWriteMemory;
}

}  // namespace

DmaEngine::DmaEngine(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services,
                     HostLink& host, UnifiedBuffer& ports)
    : PipelinedUnit(name, unit, services),
      buffer("buffer"),
      memory("memory"),
      host_(host),
      ports_(ports) {}

void DmaEngine::execute(const Dispatched& instruction) {
    const Transfer moved = checked(instruction);
    transfer(moved, instruction);
    const uint64_t number = begin(instruction, now());
    // The bytes trickle in or out: they steal single cycles of the port from whoever else uses it.
    const bool write = unit() == isa::Unit::kDmaOut;
    (write ? ports_.read_port : ports_.write_port).take_later(now(), moved.total);
    wait_until(now() + 1);  // by then all that share the path have asked
    done_at(number, services_.clock().at_or_after(booking_.end()));
    wait_until_fewer(services_.config().dma.in_flight);
}

void DmaEngine::transfer(const Transfer& transfer, const Dispatched& instruction) {
    const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(instruction.words));
    const bool write = unit() == isa::Unit::kDmaOut;
    if (!(is_host(opcode) ? with_host(transfer, write) : with_memory(transfer, write)))
        services_.fail(
            is_host(opcode) ? arch::DeviceError::kHostAddress : arch::DeviceError::kMemoryAddress,
            instruction.index);
}

Cycle DmaEngine::latency_of(const Dispatched& instruction) const {
    const auto& config = services_.config();
    const auto op = isa::ReadHost::decode(instruction.words);
    const uint64_t address = instruction.base + op.offset + (uint64_t{op.offset_high} << 32);
    if (is_host(static_cast<isa::Opcode>(isa::opcode_of(instruction.words))))
        return config.cycles_in(config.host.latency_ps);
    return config.cycles_in(address < config.memory.bytes ? config.memory.latency_ps
                                                          : config.cmem.latency_ps);
}

/// The engine begins the next transfer while fewer than `in_flight` are under way.
std::optional<Performed> DmaEngine::perform(const Dispatched& instruction, Cycle start) {
    transfer(checked(instruction), instruction);
    const Cycle done = path_.take(start, cycles_until(booking_.end()), latency_of(instruction));
    account_.charge(done_.empty() || done_.back() <= start ? Cause::kIdle : Cause::kBusy, start);
    account_.charge(Cause::kBusy, done);
    done_.push_back(done_.empty() ? done : std::max(done, done_.back()));
    Cycle next = start + 1;
    while (done_.size() >= services_.config().dma.in_flight) {
        next = std::max(next, done_.front());
        done_.pop_front();
    }
    return Performed{start, next, done};
}

void DmaEngine::begin_program(Cycle cycle) {
    PipelinedUnit::begin_program(cycle);
    done_.clear();
}

DmaEngine::Transfer DmaEngine::checked(const Dispatched& instruction) {
    if (bytes_.empty()) bytes_ = buffer.direct();
    const auto op = isa::ReadHost::decode(instruction.words);  // all four have the same fields
    const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(instruction.words));
    if ((!is_host(opcode) && !is_memory(opcode)) || op.rows == 0 || op.planes == 0)
        services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    Transfer t;
    t.address = instruction.base + op.offset + (uint64_t{op.offset_high} << 32);
    t.run_bytes = op.bytes;
    t.rows = op.rows;
    t.planes = op.planes;
    t.row_stride = op.row_stride;
    t.plane_stride = op.plane_stride;
    // Up to 2^64 bytes: a buffer that holds the runs of a plane may not hold all
    // planes.
    const uint64_t plane = t.run_bytes * t.rows;
    check_range(op.ub_addr, plane, bytes_.size(), arch::DeviceError::kUbAddress, instruction.index);
    t.total = plane * t.planes;
    check_range(op.ub_addr, t.total, bytes_.size(), arch::DeviceError::kUbAddress,
                instruction.index);
    t.extent = (t.planes - 1) * t.plane_stride + (t.rows - 1) * t.row_stride + t.run_bytes;
    if (t.extent > ~uint64_t{0} - t.address)
        services_.fail(
            is_host(opcode) ? arch::DeviceError::kHostAddress : arch::DeviceError::kMemoryAddress,
            instruction.index);
    if (services_.functional()) t.data = bytes_.data() + op.ub_addr;
    return t;
}

bool DmaEngine::with_memory(const Transfer& t, bool write) {
    const bool one_run = t.rows == 1 && t.planes == 1;
    Booked booked;
    booked.turn = services_.turn(unit());
    booked.extent = t.extent;
    // One transfer in time. Of several runs the bytes are copied apart.
    uint8_t* data = one_run ? t.data : nullptr;
    const bool ok = write ? memory.book_write(t.address, data, t.total, booked)
                          : memory.book_read(t.address, data, t.total, booked);
    booking_ = std::move(booked.booking);
    if (!ok || one_run || t.data == nullptr) return ok;
    if (far_.empty()) far_ = memory.direct();
    uint8_t* near = t.data;
    for (uint64_t plane = 0; plane < t.planes; ++plane)
        for (uint64_t row = 0; row < t.rows; ++row, near += t.run_bytes) {
            uint8_t* far = far_.data() + t.address + plane * t.plane_stride + row * t.row_stride;
            std::memcpy(write ? far : near, write ? near : far, t.run_bytes);
        }
    return true;
}

/// The bus refuses what is no memory of the host, run by run.
bool DmaEngine::with_host(const Transfer& t, bool write) {
    const uint32_t turn = services_.turn(unit());
    booking_ = write ? host_.book_to_host(turn, t.total) : host_.book_to_chip(turn, t.total);
    sc_core::sc_time none;
    uint8_t* near = t.data;
    // Without data, or bytes, the first and the last run of a plane are as good
    // as all of them.
    const bool all = near != nullptr && t.run_bytes != 0;
    const uint64_t step = all ? 1 : std::max<uint64_t>(t.rows - 1, 1);
    for (uint64_t plane = 0; plane < t.planes; ++plane)
        for (uint64_t row = 0; row < t.rows; row += step) {
            const uint64_t far = t.address + plane * t.plane_stride + row * t.row_stride;
            const bool ok = write ? host_.host.write(far, near, t.run_bytes, none)
                                  : host_.host.read(far, near, t.run_bytes, none);
            if (!ok) return false;
            if (near != nullptr) near += t.run_bytes;
        }
    return true;
}

}  // namespace tandem::sim
