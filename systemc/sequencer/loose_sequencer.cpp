// SPDX-License-Identifier: Apache-2.0
#include "systemc/sequencer/loose_sequencer.h"

#include <algorithm>

namespace tandem::sim {

LooseSequencer::LooseSequencer(sc_core::sc_module_name name, ChipServices& services,
                               std::vector<Unit*> units, uint32_t core, SharedPaths& paths)
    : Sequencer(name, services, std::move(units), core), paths_(paths), lanes_(units_.size()) {
    for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i].unit = units_[i];
}

void LooseSequencer::begin() {
    local_ = services_.clock().now();
    keeper_.reset();
    paths_.begin(local_);
    for (Lane& lane : lanes_) {
        Unit* const unit = lane.unit;
        lane = {};
        lane.unit = unit;
        lane.free = lane.done = local_;
        lane.left.assign(services_.config().sequencer.queue_entries, local_);
    }
}

void LooseSequencer::wait_until(Cycle cycle) {
    if (cycle <= local_) return;
    local_ = cycle;
    keeper_.set(services_.clock().time_of(local_) - sc_core::sc_time_stamp());
    if (keeper_.need_sync()) keeper_.sync();
}

void LooseSequencer::synchronise() {
    services_.clock().wait_until(local_);
    local_ = std::max(local_, services_.clock().now());
    keeper_.reset();
}

bool LooseSequencer::wait_loosely(const std::function<bool()>& ready) {
    if (services_.error()) return false;
    if (ready()) return true;
    synchronise();
    const bool good = wait_for(ready, services_.flags().raised());
    synchronise();
    return good;
}

bool LooseSequencer::take(uint32_t flag) {
    std::optional<Cycle> when;
    const auto taken = [&] {
        when = services_.flags().take_ahead(flag);
        if (!when && perform_all()) when = services_.flags().take_ahead(flag);
        return when.has_value();
    };
    if (!wait_loosely(taken)) return false;
    wait_until(*when);
    return true;
}

bool LooseSequencer::enqueue(Unit& unit, const Dispatched& instruction) {
    Lane& lane = *std::ranges::find(lanes_, &unit, &Lane::unit);
    const auto has_room = [&] { return lane.queue.size() < lane.left.size(); };
    if (!wait_loosely([&] { return has_room() || (perform_all() && has_room()); })) return false;
    wait_until(lane.left[lane.sent++ % lane.left.size()]);
    account_.charge(Cause::kWaitSpace, local_);
    lane.queue.push_back({instruction, local_});
    return perform_all();
}

bool LooseSequencer::wait_for_units() {
    const auto all_idle = [&] {
        return perform_all() && std::ranges::all_of(lanes_, [](const Lane& lane) {
                   return lane.queue.empty() && lane.unit->idle();
               });
    };
    if (!wait_loosely(all_idle)) return false;
    for (const Lane& lane : lanes_) wait_until(std::max(lane.free, lane.done));
    wait_until(paths_.least_end());
    return true;
}

bool LooseSequencer::perform_all() {
    try {
        for (bool moved = true; moved;) {
            moved = false;
            for (Lane& lane : lanes_)
                while (perform_next(lane)) moved = true;
        }
    } catch (const InstructionFailed&) {
        return false;
    }
    return true;
}

/// False: there is none, or it waits for flags or for what another unit makes.
bool LooseSequencer::perform_next(Lane& lane) {
    if (lane.queue.empty()) return false;
    const Dispatched& instruction = lane.queue.front().instruction;
    const isa::Header header = isa::header_of(instruction.words);
    for (; lane.flags_taken < 2; ++lane.flags_taken) {
        const auto when =
            services_.flags().take_ahead(lane.flags_taken == 0 ? header.wait_a : header.wait_b);
        if (!when) return false;
        lane.flags = std::max(lane.flags, *when);
    }
    const Cycle left = std::max(lane.queue.front().since, lane.free);
    const Cycle start = std::max(left, lane.flags);
    const bool fence =
        isa::opcode_of(instruction.words) == static_cast<uint32_t>(isa::Opcode::kFence);
    const auto performed =
        fence ? Performed{start, start + 1, start + 1} : lane.unit->perform(instruction, start);
    if (!performed) return false;
    lane.left[lane.begun++ % lane.left.size()] = left;
    lane.free = performed->next;
    lane.done = std::max(lane.done, performed->done);
    services_.raise_signals_ahead(header, lane.done);
    services_.started(lane.unit->unit(), instruction.index, performed->start);
    services_.retired(lane.unit->unit(), instruction.index, performed->start, lane.done);
    lane.queue.pop_front();
    lane.flags_taken = 0;
    lane.flags = 0;
    return true;
}

}  // namespace tandem::sim
