// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/schedule.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "arch/geometry.h"
#include "compiler/passes/access_map.h"

namespace tandem::compiler {

namespace {

constexpr size_t kUnits = AccessMap::kUnits;
static_assert(isa::kUnitNames.size() == kUnits);

size_t index_of(isa::Unit unit) { return static_cast<size_t>(unit); }

/// Per unit, the last step that is known to have finished; -1: none.
using Clock = std::array<int64_t, kUnits>;
constexpr Clock kNothing = {-1, -1, -1, -1, -1, -1};

void join(Clock& clock, const Clock& other) {
    for (size_t u = 0; u < kUnits; ++u) clock[u] = std::max(clock[u], other[u]);
}

/// A step in the result, and what is finished when it starts.
struct Placed {
    Step step;
    Clock at_start = kNothing;
};

class Synchroniser {
  public:
    std::vector<Step> run(std::vector<Step> steps) {
        for (Step& step : steps) add(std::move(step));
        std::vector<Step> result;
        for (Placed& placed : out_) result.push_back(std::move(placed.step));
        return result;
    }

  private:
    void add(Step step) {
        const size_t unit = index_of(step.unit());
        Clock clock = unit_clock_[unit];
        join(clock, sequencer_clock_);
        std::vector<int64_t> waits = needed(conflicts(step), unit, clock);
        while (waits.size() > 2) {
            barrier(waits.back());
            waits.pop_back();
        }
        for (size_t i = 0; i < waits.size(); ++i) {
            const int64_t producer = attach_signal(waits[i], unit);
            const size_t from = index_of(out_[static_cast<size_t>(producer)].step.unit());
            (i == 0 ? step.header().wait_a : step.header().wait_b) = flag(from, unit);
            learn(clock, producer);
        }
        join(clock, sequencer_clock_);  // a barrier may have been set
        append(std::move(step), clock);
    }

    /// Per unit, the last step that has to finish before this one starts.
    Clock conflicts(const Step& step) {
        Clock last = kNothing;
        const auto after = [&](size_t unit, int64_t number) {
            last[unit] = std::max(last[unit], number);
        };
        for (const Access& access : step.reads)
            map(access).for_range(access.begin, access.end, [&](const AccessMap::Segment& s) {
                if (s.writer >= 0) after(s.writer_unit, s.writer);
            });
        for (const Access& access : step.writes)
            map(access).for_range(access.begin, access.end, [&](const AccessMap::Segment& s) {
                if (s.writer >= 0) after(s.writer_unit, s.writer);
                for (size_t u = 0; u < kUnits; ++u) after(u, s.readers[u]);
            });
        return last;
    }

    /// The conflicts that neither the unit's own order nor `clock` nor another wait takes care of.
    std::vector<int64_t> needed(const Clock& last, size_t unit, const Clock& clock) const {
        std::vector<int64_t> waits;
        for (size_t u = 0; u < kUnits; ++u) {
            if (u == unit || last[u] <= clock[u]) continue;
            bool implied = false;
            for (size_t other = 0; other < kUnits; ++other)
                implied |= other != u && other != unit && last[other] > clock[other] &&
                           out_[static_cast<size_t>(last[other])].at_start[u] >= last[u];
            if (!implied) waits.push_back(last[u]);
        }
        return waits;
    }

    /// Has step `number`, or a later one of its unit, signal `consumer`; returns which one.
    int64_t attach_signal(int64_t number, size_t consumer) {
        const isa::Unit unit = out_[static_cast<size_t>(number)].step.unit();
        const uint8_t raised = flag(index_of(unit), consumer);
        for (auto i = static_cast<size_t>(number); i < out_.size(); ++i) {
            Step& step = out_[i].step;
            if (step.unit() != unit || !ends_in_order(step)) continue;
            if (set_signal(step, raised)) return static_cast<int64_t>(i);
        }
        if (unit != isa::Unit::kVector)
            throw std::logic_error("no room for a third signal in unit " +
                                   std::string(isa::kUnitNames[index_of(unit)]));
        Step carrier{.instruction = pool_window_,
                     .reads = {},
                     .writes = {},
                     .source = out_[static_cast<size_t>(number)].step.source};
        carrier.header() = {};
        set_signal(carrier, raised);
        Clock clock = unit_clock_[index_of(unit)];
        join(clock, sequencer_clock_);
        append(std::move(carrier), clock);
        return static_cast<int64_t>(out_.size()) - 1;
    }

    static bool set_signal(Step& step, uint8_t raised) {
        isa::Header& header = step.header();
        if (header.signal_a == 0)
            header.signal_a = raised;
        else if (header.signal_b == 0)
            header.signal_b = raised;
        else
            return false;
        return true;
    }

    /// set_window finishes while matmuls before it still run.
    static bool ends_in_order(const Step& step) {
        return !std::holds_alternative<isa::SetWindow>(step.instruction);
    }

    /// The sequencer itself waits for a step, and with it everything that it dispatches later.
    void barrier(int64_t number) {
        Step nop{.instruction = isa::Nop{}, .reads = {}, .writes = {}, .source = {}};
        const size_t sequencer = index_of(isa::Unit::kSequencer);
        const int64_t producer = attach_signal(number, sequencer);
        const size_t from = index_of(out_[static_cast<size_t>(producer)].step.unit());
        nop.header().wait_a = flag(from, sequencer);
        learn(sequencer_clock_, producer);
        append(std::move(nop), sequencer_clock_);
    }

    void learn(Clock& clock, int64_t producer) const {
        const Placed& placed = out_[static_cast<size_t>(producer)];
        join(clock, placed.at_start);
        const size_t unit = index_of(placed.step.unit());
        clock[unit] = std::max(clock[unit], producer);
    }

    void append(Step step, const Clock& clock) {
        const auto number = static_cast<int64_t>(out_.size());
        const size_t unit = index_of(step.unit());
        unit_clock_[unit] = clock;
        for (const Access& access : step.reads)
            map(access).for_range(access.begin, access.end,
                                  [&](AccessMap::Segment& s) { s.readers[unit] = number; });
        for (const Access& access : step.writes)
            map(access).write(access.begin, access.end, number, unit);
        if (const auto* window = std::get_if<isa::SetPoolWindow>(&step.instruction))
            pool_window_ = *window;
        out_.push_back({std::move(step), clock});
    }

    /// Numbered as the pairs first occur.
    uint8_t flag(size_t from, size_t to) {
        uint8_t& number = flags_[from][to];
        if (number == 0) number = ++flags_used_;
        return number;
    }

    AccessMap& map(const Access& access) { return maps_[static_cast<size_t>(access.space)]; }

    std::vector<Placed> out_;
    std::array<AccessMap, 2> maps_;
    std::array<Clock, kUnits> unit_clock_{kNothing, kNothing, kNothing,
                                          kNothing, kNothing, kNothing};
    Clock sequencer_clock_ = kNothing;
    std::array<std::array<uint8_t, kUnits>, kUnits> flags_{};
    uint8_t flags_used_ = 0;
    /// Repeated to carry a signal; any valid window before the program sets one.
    isa::SetPoolWindow pool_window_{.header = {}, .geometry = isa::kSinglePixel};
};

}  // namespace

std::vector<Step> synchronise(std::vector<Step> steps) {
    return Synchroniser().run(std::move(steps));
}

}  // namespace tandem::compiler
