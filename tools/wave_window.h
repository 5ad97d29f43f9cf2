// SPDX-License-Identifier: Apache-2.0
// What part of a run goes into a waveform: all of it, some cycles, or the time of one source node
// or one instruction, which is known only when it comes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/program.h"
#include "cosim/rtl_mxu_engine.h"

namespace tandem::tools {

/// --wave, --wave-from, --wave-to, --wave-at, --wave-limit.
struct WaveOptions {
    std::string path;                  ///< FST; empty: none
    std::optional<uint64_t> from, to;  ///< cycles of the array since reset, both included
    std::string at;  ///< source node (its number or its operator) or "instruction N"
    uint64_t limit_mb = 512;

    bool whole_run() const { return !path.empty() && !from && !to && at.empty(); }
};

class WaveWindow {
  public:
    /// Throws UserError when the program has no such node or instruction.
    WaveWindow(const WaveOptions& options, const arch::Program& program);

    /// Begins to record at once if the window is one of cycles; call before the run.
    void begin(cosim::RtlMxuEngine& engine, const cosim::WaveRequest& request);
    void on_start(uint32_t instruction, uint64_t cycle);
    void on_retire(uint32_t instruction, uint64_t cycle);

  private:
    bool inside(uint32_t instruction) const {
        return instruction < inside_.size() && inside_[instruction];
    }

    const WaveOptions options_;
    std::vector<bool> inside_;  ///< by instruction; empty: a window of cycles
    uint32_t last_ = 0;         ///< instruction that ends the window
    bool started_ = false, ended_ = false;
    cosim::RtlMxuEngine* engine_ = nullptr;
    cosim::WaveRequest request_;
};

}  // namespace tandem::tools
