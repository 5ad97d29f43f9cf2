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
#include "run/run_result.h"

namespace tandem::run {

/// --wave, --wave-from, --wave-to, --wave-at, --wave-limit.
struct WaveOptions {
    std::string path;                  ///< FST; empty: none
    std::optional<uint64_t> from, to;  ///< from the start of the program, both included
    std::string at;  ///< source node (its number or its operator) or "instruction N"
    uint64_t limit_mb = 512;

    bool whole_run() const { return !path.empty() && !from && !to && at.empty(); }
};

class WaveWindow {
  public:
    /// Throws UserError when there is no such node, or nothing that can be.
    WaveWindow(const WaveOptions& options, const std::vector<RunNode>& nodes);

    /// Checks against an image, which is known before it runs. Throws UserError when it has no such
    /// instruction, or the node none of its own.
    void check(const arch::Program& image, uint32_t core);

    /// Begins to record at once if the window is one of cycles; call before the run.
    void begin(cosim::RtlMxuEngine& engine, const cosim::WaveRequest& request);
    /// Something is recorded whose beginning or end has to be waited for.
    bool active() const { return engine_ != nullptr && !ended_; }
    void on_start(uint32_t instruction, int32_t node, uint64_t cycle);
    void on_retire(uint32_t instruction, int32_t node, uint64_t cycle);

  private:
    bool of_cycles() const { return !node_ && !instruction_; }

    const WaveOptions options_;
    // One of them, or a window of cycles.
    std::optional<int32_t> node_;
    std::optional<uint32_t> instruction_;
    /// The node's last instruction, for an image. A stream's node ends when a later one does.
    std::optional<uint32_t> last_;
    bool started_ = false, ended_ = false;
    cosim::RtlMxuEngine* engine_ = nullptr;
    cosim::WaveRequest request_;
};

}  // namespace tandem::run
