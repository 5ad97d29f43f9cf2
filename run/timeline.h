// SPDX-License-Identifier: Apache-2.0
// A timeline for Perfetto and chrome://tracing: cores as processes, units as tracks, instructions
// as slices named after the source node.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "run/program_view.h"
#include "run/run_result.h"
#include "systemc/chip/tpu_chip.h"

namespace tandem::run {

class Timeline {
  public:
    /// Does nothing with an empty path.
    Timeline(std::string path, const std::vector<RunNode>& nodes)
        : path_(std::move(path)), nodes_(nodes) {}
    ~Timeline();
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    bool open() const { return file_.is_open(); }
    /// Opens the file and names the tracks; call before the run. Throws UserError when the file
    /// cannot be written.
    void begin(sim::TpuChip& chip, uint64_t clock_hz);
    void add(uint32_t core, isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end,
             const ProgramView& program);

  private:
    size_t track_of(uint32_t core, isa::Unit unit, const isa::Words& words) const;

    const std::string path_;
    const std::vector<RunNode>& nodes_;
    std::ofstream file_;
    double us_per_cycle_ = 0;
    std::vector<std::vector<isa::Unit>> tracks_;  ///< by core
    uint64_t events_ = 0;
};

}  // namespace tandem::run
