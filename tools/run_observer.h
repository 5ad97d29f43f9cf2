// SPDX-License-Identifier: Apache-2.0
// Listens to a chip during a session: layer outputs, layer times, timeline, progress.
#pragma once

#include <chrono>
#include <fstream>
#include <vector>

#include "arch/program.h"
#include "systemc/kernel/chip_services.h"
#include "systemc/memory/unified_buffer.h"
#include "tools/session.h"

namespace tandem::tools {

class RunObserver final : public sim::ChipObserver {
  public:
    RunObserver(const arch::ChipConfig& chip, const arch::Program& program, uint32_t runs,
                const SessionOptions& options, sim::UnifiedBuffer& buffer, WaveWindow& wave);
    ~RunObserver() override;

    void on_start(isa::Unit unit, uint32_t index, sim::Cycle start) override;
    void on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) override;
    void collect(SessionResult& result) const;

  private:
    struct Span {
        sim::Cycle first = ~sim::Cycle{0};
        sim::Cycle last = 0;
    };
    void compare_layers(uint32_t index);
    void finish_run();
    void trace(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end);

    const arch::ChipConfig& chip_;
    const arch::Program& program_;
    const SessionOptions& options_;
    sim::UnifiedBuffer& buffer_;
    WaveWindow& wave_;
    const uint64_t total_;
    uint64_t retired_ = 0;
    uint64_t run_ = 0;
    std::vector<Span> spans_;
    std::vector<LayerStatistics> layers_;
    std::vector<std::vector<uint32_t>>
        nodes_done_at_;  ///< by instruction: nodes whose output is complete
    uint64_t bytes_compared_ = 0;
    std::optional<LayerMismatch> mismatch_;
    std::ofstream trace_;
    uint64_t trace_events_ = 0;
};

}  // namespace tandem::tools
