// SPDX-License-Identifier: Apache-2.0
// A timeline for Perfetto and chrome://tracing: cores as processes, units as tracks, instructions
// as slices named after the source node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "run/program_view.h"
#include "run/run_result.h"
#include "systemc/chip/tpu_chip.h"

namespace tandem::run {

class Timeline {
  public:
    /// Does nothing with an empty path.
    Timeline(std::string path, const std::vector<RunNode>& nodes)
        : path_(std::move(path)), nodes_(nodes) {}

    bool open() const { return file_.has_value(); }
    /// Opens the file and names the tracks; call before the run. Throws UserError when the file
    /// cannot be written.
    void begin(sim::TpuChip& chip, uint64_t clock_hz);
    /// The cycle that is 0 in the file.
    void set_origin(sim::Cycle cycle) { origin_ = cycle; }
    /// After the run. Throws UserError when some of it could not be written.
    void finish();
    void add(uint32_t core, isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end,
             const ProgramView& program);

  private:
    size_t track_of(uint32_t core, isa::Unit unit, const isa::Words& words) const;

    const std::string path_;
    const std::vector<RunNode>& nodes_;
    std::optional<base::OutputFile> file_;
    std::vector<std::string> node_names_;  ///< as JSON has them inside a text
    double us_per_cycle_ = 0;
    std::vector<std::vector<isa::Unit>> tracks_;  ///< by core
    sim::Cycle origin_ = 0;
    uint64_t events_ = 0;
};

}  // namespace tandem::run
