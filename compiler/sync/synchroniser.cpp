// SPDX-License-Identifier: Apache-2.0
#include "compiler/sync/synchroniser.h"

#include <algorithm>
#include <stdexcept>

namespace tandem::compiler {

namespace {

// Units of a core: these, then weights and mxu of each array.
constexpr uint32_t kSequencer = 0, kDmaIn = 1, kDmaOut = 2, kVector = 3, kFirstArray = 4;

constexpr size_t kCoarse = 4096;          ///< pieces of a map from which on it is made coarser
constexpr int64_t kCoarsenEvery = 16384;  ///< steps

}  // namespace

Synchroniser::Synchroniser(uint32_t cores, uint32_t arrays, Sink sink)
    : cores_(cores),
      arrays_(arrays),
      units_of_core_(kFirstArray + 2 * arrays),
      sink_(std::move(sink)),
      start_clocks_(static_cast<size_t>(kClocks) * units()),
      clocks_(units(), std::vector<int64_t>(units(), -1)),
      steps_of_unit_(units()),
      flags_(size_t{units()} * units()),
      flags_used_(cores),
      last_(units(), -1) {
    for (size_t i = 0; i < cores + size_t{cores} * arrays + 1; ++i) maps_.emplace_back(&memory_);
}

uint32_t Synchroniser::number_of(const UnitPlace& place) const {
    const uint32_t base = place.core * units_of_core_;
    switch (place.unit) {
        case isa::Unit::kSequencer:
            return base + kSequencer;
        case isa::Unit::kDmaIn:
            return base + kDmaIn;
        case isa::Unit::kDmaOut:
            return base + kDmaOut;
        case isa::Unit::kVector:
            return base + kVector;
        case isa::Unit::kWeights:
            return base + kFirstArray + 2 * place.array;
        case isa::Unit::kMxu:
            return base + kFirstArray + 2 * place.array + 1;
    }
    throw std::logic_error("a unit that nobody knows");
}

UnitPlace Synchroniser::place_of(uint32_t unit) const {
    const uint32_t core = unit / units_of_core_, local = unit % units_of_core_;
    switch (local) {
        case kSequencer:
            return {core, isa::Unit::kSequencer, 0};
        case kDmaIn:
            return {core, isa::Unit::kDmaIn, 0};
        case kDmaOut:
            return {core, isa::Unit::kDmaOut, 0};
        case kVector:
            return {core, isa::Unit::kVector, 0};
        default:
            return {core, (local - kFirstArray) % 2 == 0 ? isa::Unit::kWeights : isa::Unit::kMxu,
                    (local - kFirstArray) / 2};
    }
}

size_t Synchroniser::space_of(const Space& space) const {
    switch (space.kind) {
        case Space::Kind::kBuffer:
            return space.core;
        case Space::Kind::kAccumulators:
            return cores_ + size_t{space.core} * arrays_ + space.array;
        case Space::Kind::kMemory:
            break;
    }
    return cores_ + size_t{cores_} * arrays_;
}

void Synchroniser::add(const Step& step) {
    const uint32_t unit = number_of(step.place);
    find_conflicts(step, unit);
    const uint32_t sequencer = step.place.core * units_of_core_ + kSequencer;
    std::vector<int64_t>& own = clocks_[unit];
    if (unit != sequencer)
        for (size_t u = 0; u < own.size(); ++u) own[u] = std::max(own[u], clocks_[sequencer][u]);
    choose_waits(unit, own);
    isa::Header header;
    for (const LastSteps::Entry& producer : waits_) {
        if (header.wait_b != 0) {
            append_fence(header, unit);
            header = {};
        }
        wait(header, unit, producer);
    }
    append(step, header, unit);
    hand_out();
    if (next_ - coarsened_ > kCoarsenEvery) coarsen();
}

/// The sequencer of its core has finished all steps before it when it is dispatched.
void Synchroniser::note(const LastSteps& steps, uint32_t own) {
    const uint32_t sequencer = own / units_of_core_ * units_of_core_ + kSequencer;
    for (const LastSteps::Entry& entry : steps) {
        if (entry.unit == own || entry.unit == sequencer) continue;
        if (last_[entry.unit] < 0) touched_.push_back(entry.unit);
        last_[entry.unit] = std::max(last_[entry.unit], entry.step);
    }
}

/// Per unit, the last step that has to finish before this one starts.
void Synchroniser::find_conflicts(const Step& step, uint32_t unit) {
    for (const uint32_t u : touched_) last_[u] = -1;
    touched_.clear();
    for (const Access& access : step.touched())
        maps_[space_of(access.space)].look(access.begin, access.end,
                                           [&](const AccessMap::Segment& segment) {
                                               if (!(access.writes && access.shared))
                                                   note(segment.writers, unit);
                                               if (access.writes) note(segment.readers, unit);
                                           });
}

/// The conflicts that neither the unit's own order nor its clock nor another wait takes care of, in
/// program order.
void Synchroniser::choose_waits(uint32_t unit, const std::vector<int64_t>& clock) {
    waits_.clear();
    for (const uint32_t u : touched_) {
        if (u == unit || last_[u] <= clock[u]) continue;
        bool implied = false;
        for (const uint32_t other : touched_)
            implied |= other != u && other != unit && last_[other] > clock[other] &&
                       in_window(last_[other]) && start_clock(last_[other])[u] >= last_[u];
        if (!implied) waits_.push_back({u, last_[u]});
    }
    std::sort(waits_.begin(), waits_.end(),
              [](const auto& a, const auto& b) { return a.step < b.step; });
}

void Synchroniser::wait(isa::Header& header, uint32_t unit, const LastSteps::Entry& producer) {
    if (producer.step <= clocks_[unit][producer.unit]) return;  // learnt from a wait before it
    const int64_t signaller = attach_signal(producer, unit);
    (header.wait_a == 0 ? header.wait_a : header.wait_b) = flag(producer.unit, unit);
    learn(clocks_[unit], producer.unit, signaller);
}

/// Has the step, or a later one of its unit, signal `consumer`; returns which one.
int64_t Synchroniser::attach_signal(const LastSteps::Entry& producer, uint32_t consumer) {
    const uint8_t raised = flag(producer.unit, consumer);
    const std::deque<int64_t>& steps = steps_of_unit_[producer.unit];
    for (auto it = std::lower_bound(steps.begin(), steps.end(), producer.step); it != steps.end();
         ++it)
        if (set_signal(placed(*it), raised, consumer)) return *it;
    append_fence({}, producer.unit);
    set_signal(window_.back(), raised, consumer);
    return next_ - 1;
}

bool Synchroniser::set_signal(Placed& placed, uint8_t raised, uint32_t consumer) {
    // set_window finishes while matmuls before it still run.
    if ((placed.step.words[0] & 0xff) == static_cast<uint32_t>(isa::Opcode::kSetWindow))
        return false;
    isa::Header& header = placed.header;
    const uint32_t to = consumer / units_of_core_;
    const bool other_core = to != placed.step.place.core;
    if (!other_core && header.signal_a == 0) {
        header.signal_a = raised;
        return true;
    }
    if (header.signal_b != 0) return false;
    header.signal_b = raised;
    header.core = static_cast<uint8_t>(other_core ? to + 1 : 0);
    return true;
}

/// Numbered, among those that a core takes, as the pairs first occur.
uint8_t Synchroniser::flag(uint32_t from, uint32_t to) {
    uint8_t& number = flags_[size_t{from} * units() + to];
    if (number != 0) return number;
    uint8_t& used = flags_used_[to / units_of_core_];
    if (used + 1u >= isa::kFlagCount)
        throw std::out_of_range("at most " + std::to_string(isa::kFlagCount - 1) +
                                " pairs of units that wait for each other");
    return number = ++used;
}

/// Whoever has waited for step `step` of `unit` knows what that step knew.
void Synchroniser::learn(std::vector<int64_t>& clock, uint32_t unit, int64_t step) {
    clock[unit] = std::max(clock[unit], step);
    if (!in_window(step)) return;
    const int64_t* const known = start_clock(step);
    for (size_t u = 0; u < clock.size(); ++u) clock[u] = std::max(clock[u], known[u]);
}

void Synchroniser::append(const Step& step, const isa::Header& header, uint32_t unit) {
    const int64_t number = next_++;
    std::copy(clocks_[unit].begin(), clocks_[unit].end(), start_clock(number));
    record(step, unit, number);
    window_.push_back({step, header, unit});
    steps_of_unit_[unit].push_back(number);
}

void Synchroniser::append_fence(const isa::Header& header, uint32_t unit) {
    Step step;
    step.place = place_of(unit);
    isa::Fence fence;
    fence.unit = static_cast<uint8_t>(step.place.unit);
    fence.mxu = static_cast<uint8_t>(step.place.array);
    step.words = fence.encode();
    append(step, header, unit);
}

void Synchroniser::record(const Step& step, uint32_t unit, int64_t number) {
    for (const Access& access : step.touched()) {
        if (access.fleeting) continue;
        AccessMap& map = maps_[space_of(access.space)];
        if (access.writes && !access.shared)
            map.write(access.begin, access.end, unit, number);
        else
            map.for_range(access.begin, access.end, [&](AccessMap::Segment& segment) {
                (access.writes ? segment.writers : segment.readers).set(unit, number);
            });
    }
}

/// Steps that nobody can put a signal on any more.
void Synchroniser::hand_out() {
    while (next_ - first_ > kWindow) hand_out_first();
}

void Synchroniser::hand_out_first() {
    const Placed& first = window_.front();
    isa::Nop flags;
    flags.header = first.header;
    const isa::Words bits = flags.encode();
    isa::Words words = first.step.words;
    for (size_t i = 0; i < words.size(); ++i) words[i] |= bits[i];
    sink_(first.step.place.core, words, first.step);
    steps_of_unit_[first.unit].pop_front();
    window_.pop_front();
    ++first_;
}

void Synchroniser::finish() {
    while (!window_.empty()) hand_out_first();
}

/// Keeps the maps small, however long the program is.
void Synchroniser::coarsen() {
    coarsened_ = next_;
    for (AccessMap& map : maps_)
        if (map.size() > kCoarse) map.coarsen(first_);
}

}  // namespace tandem::compiler
