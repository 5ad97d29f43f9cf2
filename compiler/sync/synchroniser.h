// SPDX-License-Identifier: Apache-2.0
// Makes steps safe to run on units that only meet through flags: finds every pair of steps of
// different units that touch the same bytes or accumulator rows, one of them writing, and has the
// later one wait for the earlier one, unless other waits already order the two. All cores at once:
// their steps come in one order, in which every wait points back, so that none can deadlock.
//
// One flag serves one ordered pair of units: units finish in order, so the n-th raise is for the
// n-th take. A step is handed out when kWindow others have come behind it; until then signals can
// be put on it. Later ones, and third waits and signals, are carried by fences.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory_resource>
#include <vector>

#include "compiler/emit/step.h"
#include "compiler/sync/access_map.h"

namespace tandem::compiler {

class Synchroniser {
  public:
    /// Finished instructions of a core, in order.
    using Sink = std::function<void(uint32_t core, const isa::Words&, const Step&)>;

    Synchroniser(uint32_t cores, uint32_t arrays, Sink sink);

    /// Throws std::out_of_range when more pairs of units meet than there are flags.
    void add(const Step& step);
    /// Hands out what is left.
    void finish();

    static constexpr int64_t kWindow = 8192;

  private:
    struct Placed {
        Step step;
        isa::Header header;
        uint32_t unit = 0;
    };

    uint32_t units() const { return cores_ * units_of_core_; }
    uint32_t number_of(const UnitPlace& place) const;
    UnitPlace place_of(uint32_t unit) const;
    size_t space_of(const Space& space) const;

    void find_conflicts(const Step& step, uint32_t unit);
    void note(const LastSteps& steps, uint32_t own);
    void choose_waits(uint32_t unit, const std::vector<int64_t>& clock);
    void wait(isa::Header& header, uint32_t unit, const LastSteps::Entry& producer);
    int64_t attach_signal(const LastSteps::Entry& producer, uint32_t consumer);
    bool set_signal(Placed& placed, uint8_t flag, uint32_t consumer);
    uint8_t flag(uint32_t from, uint32_t to);
    void learn(std::vector<int64_t>& clock, uint32_t unit, int64_t step);
    void append(const Step& step, const isa::Header& header, uint32_t unit);
    void append_fence(const isa::Header& header, uint32_t unit);
    void record(const Step& step, uint32_t unit, int64_t number);
    void hand_out();
    void hand_out_first();
    void coarsen();

    Placed& placed(int64_t number) { return window_[static_cast<size_t>(number - first_)]; }
    bool in_window(int64_t number) const { return number >= first_; }
    int64_t* start_clock(int64_t number) {
        return start_clocks_.data() + static_cast<size_t>(number % kClocks) * units();
    }

    static constexpr int64_t kClocks = kWindow + 64;  ///< with what one add() may append

    const uint32_t cores_, arrays_, units_of_core_;
    const Sink sink_;
    std::pmr::unsynchronized_pool_resource memory_;
    std::vector<AccessMap> maps_;
    std::deque<Placed> window_;
    int64_t first_ = 0, next_ = 0;  ///< numbers of the steps in the window
    std::vector<int64_t> start_clocks_;
    /// Per unit: the last step of every unit that is known to be finished when its next step
    /// starts.
    std::vector<std::vector<int64_t>> clocks_;
    std::vector<std::deque<int64_t>> steps_of_unit_;  ///< in the window
    std::vector<uint8_t> flags_;                      ///< of each ordered pair
    std::vector<uint8_t> flags_used_;                 ///< per core
    // For the step that is being added: last conflicting step per unit, and the units.
    std::vector<int64_t> last_;
    std::vector<uint32_t> touched_;
    std::vector<LastSteps::Entry> waits_;
    int64_t coarsened_ = 0;
};

}  // namespace tandem::compiler
