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

void VectorUnit::requantise(const Dispatched& instruction) {
    const auto op = isa::Requantise::decode(instruction.words);
    const uint32_t index = instruction.index;
    if (op.rows == 0 || op.cols == 0 || op.cols > services_.config().mxu.cols)
        services_.fail(arch::DeviceError::kBadInstruction, index);
    check_buffer(op.params_addr, op.cols * sizeof(numerics::ChannelParams), index);
    check_buffer(op.ub_addr, uint64_t{op.rows - 1u} * op.row_stride + op.cols, index);
    issue({op.mxu, op.acc_addr, op.rows, op.cols, 1, 1}, instruction);
}

void VectorUnit::convert(const Dispatched& instruction) {
    const auto op = isa::Convert::decode(instruction.words);
    const uint32_t index = instruction.index;
    const uint32_t element_bytes = op.wide != 0 ? 4 : 2;
    if (op.rows == 0 || op.cols == 0 || op.cols > services_.config().mxu.cols || op.function > 2 ||
        (!has_chain(op) && services_.config().mxu.dtype != arch::Dtype::kBf16))
        services_.fail(arch::DeviceError::kBadInstruction, index);
    if (op.bias != 0) check_buffer(op.params_addr, op.cols * sizeof(float), index);
    check_buffer(op.ub_addr,
                 uint64_t{op.rows - 1u} * op.row_stride + uint64_t{op.cols} * element_bytes, index);
    issue({op.mxu, op.acc_addr, op.rows, op.cols, element_bytes,
           has_chain(op) ? arch::chain_cycles(state_, timing_.unit) : 1},
          instruction);
}

void VectorUnit::issue(const DrainShape& shape, const Dispatched& instruction) {
    if (shape.array >= mxus_.size())
        services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
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
    const uint32_t interval = std::max(timing_.drain_interval(shape.cols) * shape.chain_cycles,
                                       port.beat_cycles(row_bytes));
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
    const uint32_t cols = services_.config().mxu.cols;
    if (services_.functional()) {
        if (isa::opcode_of(drain.words) == static_cast<uint32_t>(isa::Opcode::kRequantise))
            engine::requantise_rows(isa::Requantise::decode(drain.words), drain.sums, cols, bytes_);
        else
            engine::convert_rows(isa::Convert::decode(drain.words), drain.state, drain.sums, cols,
                                 bytes_);
    }
    used_sums_ = std::move(drain.sums);
    drains_.pop_front();
}

}  // namespace tandem::sim
