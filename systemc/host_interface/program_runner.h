// SPDX-License-Identifier: Apache-2.0
// Runs a program on each of several cores at the same time: all begin in the same cycle, each in a
// process of its own.
//
// The first error ends the run: the cores that have not failed are stopped at the end of the cycle
// in which the core that failed came to its end. Which process the kernel runs first decides
// nothing.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <systemc>
#include <vector>

#include "systemc/mxu/mxu.h"
#include "systemc/sequencer/sequencer.h"

namespace tandem::sim {

/// A core, as far as it runs programs and counts.
struct CoreUnits {
    ChipServices* services = nullptr;
    Sequencer* sequencer = nullptr;
    std::vector<Mxu*> arrays;
};

struct CoreProgramRequest {
    uint32_t core = 0;
    ProgramRequest program{};
};

struct CoreError {
    uint32_t core = 0;
    ProgramError error{};
};

class ProgramRunner : public sc_core::sc_module {
  public:
    ProgramRunner(sc_core::sc_module_name name, std::vector<CoreUnits> cores);

    /// Blocks the calling process until every core has halted, or was stopped; one run at a time.
    /// Each core at most once. Returns the earliest error, of the first core that has it. Errors
    /// stay in the cores' services until clear_errors().
    std::optional<CoreError> run(std::span<const CoreProgramRequest> programs);
    /// Ends the run that is under way.
    void abort();
    void clear_errors();
    /// One of any core, also between runs.
    std::optional<CoreError> first_error() const;

    const std::vector<CoreUnits>& cores() const { return units_; }
    bool running(size_t core) const { return processes_[core].program != nullptr; }
    /// In which some core ran a program: of every run those of the core that took longest.
    uint64_t program_cycles() const { return program_cycles_; }

  private:
    struct Process {
        const ProgramRequest* program = nullptr;  ///< null: nothing to do
        uint64_t cycles_before = 0;               ///< of its sequencer
        sc_core::sc_event start;
    };

    void core_process(size_t core);
    void stop(size_t core);

    const std::vector<CoreUnits> units_;
    std::deque<Process> processes_;  ///< one for each core
    size_t running_ = 0;
    sc_core::sc_event ended_;  ///< a core's program
    uint64_t program_cycles_ = 0;
};

}  // namespace tandem::sim
