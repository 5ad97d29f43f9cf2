// SPDX-License-Identifier: Apache-2.0
#include "systemc/vector/vector_unit.h"

#include <algorithm>

namespace tandem::sim {

VectorUnit::VectorUnit(sc_core::sc_module_name name, ChipServices& services, UnifiedBuffer& ports,
                       std::vector<Mxu*> mxus, Requantisers requantisers)
    : PipelinedUnit(name, isa::Unit::kVector, services),
      buffer("buffer"),
      ports_(ports),
      mxus_(std::move(mxus)),
      requantisers_(std::move(requantisers)),
      timing_{services.config().vector, services.config().drain_lanes()},
      lanes_free_(services.config().drains_at_a_time()),
      array_free_(mxus_.size()) {}

void VectorUnit::reset() {
    PipelinedUnit::reset();
    drains_.clear();
}

void VectorUnit::begin_program(Cycle cycle) {
    PipelinedUnit::begin_program(cycle);
    state_ = {};
    std::ranges::fill(lanes_free_, cycle);
    std::ranges::fill(array_free_, cycle);
    done_ = cycle;
}

void VectorUnit::execute(const Dispatched& instruction) {
    if (bytes_.empty()) bytes_ = buffer.direct();
    if (drains(instruction)) return issue(shape_of(instruction), instruction);
    execute_elements(instruction);
}

std::optional<Performed> VectorUnit::perform(const Dispatched& instruction, Cycle start) {
    if (bytes_.empty()) bytes_ = buffer.direct();
    const Performed performed = drains(instruction) ? perform_drain(instruction, start)
                                                    : perform_elements(instruction, start);
    account_.charge(Cause::kIdle, performed.start);
    account_.charge(Cause::kBusy, performed.done);
    done_ = std::max(done_, performed.done);
    return performed;
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
