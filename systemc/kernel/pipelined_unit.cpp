// SPDX-License-Identifier: Apache-2.0
#include "systemc/kernel/pipelined_unit.h"

namespace tandem::sim {

PipelinedUnit::PipelinedUnit(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services)
    : Unit(name, unit, services) {
    SC_HAS_PROCESS(PipelinedUnit);
    SC_METHOD(retire_due);
    sensitive << due_;
    dont_initialize();
}

void PipelinedUnit::reset() {
    Unit::reset();
    under_way_.clear();
}

uint64_t PipelinedUnit::begin(const Dispatched& instruction, Cycle start) {
    under_way_.push_back({instruction, start, std::nullopt});
    return next_number_++;
}

void PipelinedUnit::done_at(uint64_t number, Cycle when) {
    under_way_[number - (next_number_ - under_way_.size())].done = when;
    retire_due();
}

void PipelinedUnit::wait_until_fewer(size_t limit) {
    while (under_way_.size() >= limit) sc_core::wait(retired_);
}

/// An event of an earlier program finds nothing to do.
void PipelinedUnit::retire_due() {
    while (!under_way_.empty() && under_way_.front().done) {
        if (const Cycle done = *under_way_.front().done; done > now())
            return due_.notify(services_.clock().time_of(done) - sc_core::sc_time_stamp());
        const uint64_t number = next_number_ - under_way_.size();
        make_visible(number);
        const UnderWay retiring = under_way_.front();
        under_way_.pop_front();
        charge(Cause::kBusy);
        retire(retiring.instruction, retiring.start);
        retire_fences(number);
        retired_.notify(sc_core::SC_ZERO_TIME);
    }
}

}  // namespace tandem::sim
