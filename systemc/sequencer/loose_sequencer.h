// SPDX-License-Identifier: Apache-2.0
// A loosely timed sequencer: it runs ahead of simulated time by up to the global quantum and has
// units perform their instructions at once, each with local times: that of its queue, of its flags,
// of what the unit did before. Nothing but flags and queues orders units, and shared paths are not
// contended. The values are those of every order that the flags allow; cycles are an estimate.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "systemc/sequencer/sequencer.h"
#include "systemc/sequencer/shared_paths.h"

#include <tlm_utils/tlm_quantumkeeper.h>  // behind <systemc>, which it does not include

namespace tandem::sim {

class LooseSequencer final : public Sequencer {
  public:
    /// `paths` must outlive it.
    LooseSequencer(sc_core::sc_module_name name, ChipServices& services, std::vector<Unit*> units,
                   uint32_t core, SharedPaths& paths);

  private:
    struct Waiting {
        Dispatched instruction;
        Cycle since;
    };
    /// A unit, its queue and its local time.
    struct Lane {
        Unit* unit = nullptr;
        std::deque<Waiting> queue;
        uint32_t flags_taken = 0;      ///< of the first one
        Cycle flags = 0;               ///< since when it has them
        Cycle free = 0, done = 0;      ///< may begin; all before is visible
        std::vector<Cycle> left;       ///< when the last instructions left the queue
        uint64_t sent = 0, begun = 0;  ///< instructions
    };

    Cycle now() const override { return local_; }
    void wait_until(Cycle cycle) override;
    void begin() override;
    bool take(uint32_t flag) override;
    void raise_signals(const isa::Header& header) override {
        services_.raise_signals_ahead(header, local_);
    }
    bool enqueue(Unit& unit, const Dispatched& instruction) override;
    bool wait_for_units() override;
    void synchronise() override;

    /// At once if it can be, else while other cores go on.
    bool wait_loosely(const std::function<bool()>& ready);
    /// All that has its flags, in all queues; false: an instruction has failed.
    bool perform_all();
    bool perform_next(Lane& lane);

    SharedPaths& paths_;
    std::vector<Lane> lanes_;
    Cycle local_ = 0;
    tlm_utils::tlm_quantumkeeper keeper_;
};

}  // namespace tandem::sim
