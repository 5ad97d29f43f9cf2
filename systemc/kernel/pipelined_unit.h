// SPDX-License-Identifier: Apache-2.0
// A unit that has several instructions under way. They begin in order, may be done in any order,
// and retire in the order in which they began: an instruction that is done waits for those before
// it. What it has under way lies here and not on the stack of a process, so that a program or a
// simulation may end in the middle of it.
#pragma once

#include <deque>
#include <optional>

#include "systemc/kernel/unit.h"

namespace tandem::sim {

class PipelinedUnit : public Unit {
  public:
    bool idle() const override { return Unit::idle() && under_way_.empty(); }
    void reset() override;

  protected:
    PipelinedUnit(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services);

    /// It is under way from now on; returns its number, which grows by one each time.
    uint64_t begin(const Dispatched& instruction, Cycle start);
    /// Its results are there at cycle `when`, now or later.
    void done_at(uint64_t number, Cycle when);
    /// The number that begin() gives next.
    uint64_t next_number() const { return next_number_; }
    /// Blocks the unit's process until fewer than `limit` instructions are under way.
    void wait_until_fewer(size_t limit);
    /// Busy while anything is under way.
    Cause cause_of_wait(Cause cause) const override {
        return under_way_.empty() ? cause : Cause::kBusy;
    }
    /// In the cycle in which the instruction retires, before its flags rise.
    virtual void make_visible(uint64_t /*number*/) {}

  private:
    struct UnderWay {
        Dispatched instruction;
        Cycle start;
        std::optional<Cycle> done;
    };

    bool retires_later(isa::Opcode) const override { return true; }
    std::optional<uint64_t> outstanding() const override {
        return under_way_.empty() ? std::nullopt : std::optional(next_number_ - 1);
    }
    void retire_due();

    std::deque<UnderWay> under_way_;  ///< the last one has number next_number_ - 1
    uint64_t next_number_ = 0;
    sc_core::sc_event due_;      ///< the first one may retire
    sc_core::sc_event retired_;  ///< one has
};

}  // namespace tandem::sim
