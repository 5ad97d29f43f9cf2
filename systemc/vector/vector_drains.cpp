// SPDX-License-Identifier: Apache-2.0
// The part of VectorUnit that drains accumulators.
#include <algorithm>
#include <utility>

#include "arch/numerics.h"
#include "arch/vector_rules.h"
#include "engine/vector_drain.h"
#include "systemc/vector/vector_unit.h"

namespace tandem::sim {
namespace {

bool has_chain(const isa::Convert& op) { return op.function == 2; }

}  // namespace

bool VectorUnit::drains(const Dispatched& instruction) const {
    const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(instruction.words));
    return opcode == isa::Opcode::kRequantise || opcode == isa::Opcode::kConvert;
}

VectorUnit::DrainShape VectorUnit::shape_of(const Dispatched& instruction) {
    const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(instruction.words));
    const DrainShape shape = opcode == isa::Opcode::kRequantise ? requantise_shape(instruction)
                                                                : convert_shape(instruction);
    if (shape.array >= mxus_.size())
        services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    return shape;
}

VectorUnit::DrainShape VectorUnit::requantise_shape(const Dispatched& instruction) {
    const auto op = isa::Requantise::decode(instruction.words);
    const uint32_t index = instruction.index;
    if (op.rows == 0 || op.cols == 0 || op.cols > services_.config().mxu.cols)
        services_.fail(arch::DeviceError::kBadInstruction, index);
    check_buffer(op.params_addr, op.cols * sizeof(numerics::ChannelParams), index);
    check_buffer(op.ub_addr, uint64_t{op.rows - 1u} * op.row_stride + op.cols, index);
    return {op.mxu, op.acc_addr, op.rows, op.cols, 1, 1};
}

VectorUnit::DrainShape VectorUnit::convert_shape(const Dispatched& instruction) {
    const auto op = isa::Convert::decode(instruction.words);
    const uint32_t index = instruction.index;
    const uint32_t element_bytes = op.wide != 0 ? 4 : 2;
    if (op.rows == 0 || op.cols == 0 || op.cols > services_.config().mxu.cols || op.function > 2 ||
        (!has_chain(op) && services_.config().mxu.dtype != arch::Dtype::kBf16))
        services_.fail(arch::DeviceError::kBadInstruction, index);
    if (op.bias != 0) check_buffer(op.params_addr, op.cols * sizeof(float), index);
    check_buffer(op.ub_addr,
                 uint64_t{op.rows - 1u} * op.row_stride + uint64_t{op.cols} * element_bytes, index);
    return {op.mxu,  op.acc_addr,   op.rows,
            op.cols, element_bytes, has_chain(op) ? arch::chain_cycles(state_, timing_.unit) : 1};
}

uint32_t VectorUnit::interval_of(const DrainShape& shape) const {
    const uint64_t row_bytes = uint64_t{shape.cols} * shape.element_bytes;
    return std::max(timing_.drain_interval(shape.cols) * shape.chain_cycles,
                    ports_.write_port.beat_cycles(row_bytes));
}

Performed VectorUnit::perform_drain(const Dispatched& instruction, Cycle start) {
    const DrainShape shape = shape_of(instruction);
    const uint32_t interval = interval_of(shape);
    Cycle& lanes_free = *std::ranges::min_element(lanes_free_);
    Cycle& array_free = array_free_[shape.array];
    start = std::max({start, lanes_free, array_free});
    const auto read = mxus_[shape.array]->read_accumulators_ahead(
        shape.acc_addr, shape.rows, interval, instruction.index, start + 1);
    write_drained(instruction.words, instruction.index, state_, read.rows);
    lanes_free = array_free = start + uint64_t{shape.rows} * interval;
    return {start, start + 1, read.done + 1 + timing_.unit.latency_cycles};
}

void VectorUnit::issue(const DrainShape& shape, const Dispatched& instruction) {
    Cycle& lanes_free = *std::ranges::min_element(lanes_free_);
    Cycle& array_free = array_free_[shape.array];
    wait_until(std::max(lanes_free, array_free));
    charge(Cause::kBusy);
    const Cycle start = now();
    const uint64_t row_bytes = uint64_t{shape.cols} * shape.element_bytes;
    PortSchedule& port = ports_.write_port;
    let_arrays_begin();
    wait_until(port.free_from(now(), now()));
    charge(cause_of_wait(Cause::kWaitPort));
    port.take_later(now(), port.beat_bytes(shape.rows, row_bytes));
    const uint32_t interval = interval_of(shape);
    mxus_[shape.array]->read_accumulators(shape.acc_addr, shape.rows, interval, instruction.index,
                                          *this, next_number());
    keep(begin(instruction, start), instruction);
    // The row behind the last one could be read one interval after that.
    lanes_free = array_free = now() + uint64_t{shape.rows} * interval;
    busy_for(1);
}

/// Apart from issue(), so that nothing on the stack of its process owns memory while it waits.
void VectorUnit::keep(uint64_t number, const Dispatched& instruction) {
    Drain& drain = drains_.emplace_back();
    drain.number = number;
    drain.index = instruction.index;
    drain.words = instruction.words;
    drain.state = state_;
    drain.sums = std::exchange(used_sums_, {});
}

void VectorUnit::take_rows(uint64_t number, std::span<const int32_t> rows) {
    if (services_.functional())
        std::ranges::find(drains_, number, &Drain::number)->sums.assign(rows.begin(), rows.end());
    done_at(number, now() + timing_.unit.latency_cycles);
}

void VectorUnit::make_visible(uint64_t number) {
    if (drains_.empty() || drains_.front().number != number) return;
    Drain& drain = drains_.front();
    write_drained(drain.words, drain.index, drain.state, drain.sums);
    used_sums_ = std::move(drain.sums);
    drains_.pop_front();
}

void VectorUnit::write_drained(const isa::Words& words, uint32_t index,
                               const arch::VectorState& state, std::span<const int32_t> sums) {
    if (!services_.functional()) return;
    const uint32_t cols = services_.config().mxu.cols;
    if (isa::opcode_of(words) == static_cast<uint32_t>(isa::Opcode::kRequantise)) {
        const auto op = isa::Requantise::decode(words);
        const uint32_t interval = interval_of({op.mxu, op.acc_addr, op.rows, op.cols, 1, 1});
        requantisers_[op.mxu]->requantise({op, sums, cols, interval, index, bytes_});
    } else {
        engine::convert_rows(isa::Convert::decode(words), state, sums, cols, bytes_);
    }
}

}  // namespace tandem::sim
