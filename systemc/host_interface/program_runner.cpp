// SPDX-License-Identifier: Apache-2.0
#include "systemc/host_interface/program_runner.h"

#include <algorithm>
#include <string>

namespace tandem::sim {

ProgramRunner::ProgramRunner(sc_core::sc_module_name name, std::vector<CoreUnits> cores)
    : sc_module(name), units_(std::move(cores)), processes_(units_.size()) {
    for (size_t core = 0; core < units_.size(); ++core)
        sc_core::sc_spawn([this, core] { core_process(core); },
                          ("core" + std::to_string(core)).c_str());
}

void ProgramRunner::core_process(size_t core) {
    Process& process = processes_[core];
    for (;;) {
        if (process.program == nullptr) sc_core::wait(process.start);
        units_[core].sequencer->run(*process.program);
        process.program = nullptr;
        --running_;
        ended_.notify(sc_core::SC_ZERO_TIME);
    }
}

std::optional<CoreError> ProgramRunner::run(std::span<const CoreProgramRequest> programs) {
    for (size_t core = 0; core < units_.size(); ++core)
        processes_[core].cycles_before = units_[core].sequencer->program_cycles();
    running_ = programs.size();
    for (const CoreProgramRequest& request : programs) {
        processes_[request.core].program = &request.program;
        processes_[request.core].start.notify(sc_core::SC_ZERO_TIME);
    }
    bool stopped = false;
    while (running_ != 0) {
        sc_core::wait(ended_);
        if (running_ == 0 || stopped || !first_error()) continue;
        const Clock& clock = units_.front().services->clock();
        clock.wait_until(clock.now() + 1);
        for (size_t core = 0; core < units_.size(); ++core) stop(core);
        stopped = true;
    }
    uint64_t longest = 0;
    for (size_t core = 0; core < units_.size(); ++core)
        longest = std::max(
            longest, units_[core].sequencer->program_cycles() - processes_[core].cycles_before);
    program_cycles_ += longest;
    return first_error();
}

void ProgramRunner::stop(size_t core) {
    if (running(core)) units_[core].services->abort(units_[core].sequencer->program_counter());
}

void ProgramRunner::abort() {
    for (size_t core = 0; core < units_.size(); ++core) stop(core);
}

void ProgramRunner::clear_errors() {
    for (const CoreUnits& core : units_) core.services->clear_error();
}

std::optional<CoreError> ProgramRunner::first_error() const {
    std::optional<CoreError> first;
    for (uint32_t core = 0; core < units_.size(); ++core) {
        const auto& error = units_[core].services->error();
        if (error && (!first || error->when < first->error.when)) first = CoreError{core, *error};
    }
    return first;
}

}  // namespace tandem::sim
