// SPDX-License-Identifier: Apache-2.0
// Listens to the core that runs an image: what all cores' observers do, progress, the ends of runs,
// and the outputs of layers.
#pragma once

#include <optional>
#include <vector>

#include "run/core_observer.h"
#include "run/run.h"
#include "systemc/memory/unified_buffer.h"

namespace tandem::run {

class ImageObserver final : public CoreObserver {
  public:
    ImageObserver(const ImageJob& job, const RunOptions& options, sim::UnifiedBuffer& buffer,
                  const Watchers& watchers);

    void on_retire(isa::Unit unit, uint32_t index, sim::Cycle start, sim::Cycle end) override;
    const ProgramView& view() const { return view_; }
    uint64_t bytes_compared() const { return bytes_compared_; }
    const std::optional<LayerMismatch>& mismatch() const { return mismatch_; }

  private:
    void compare_layers(uint32_t index);
    void compare_layer(uint32_t node);

    const ImageJob& job_;
    const RunOptions& options_;
    const ImageView view_;
    sim::UnifiedBuffer& buffer_;
    LayerTimes& layers_;
    const uint64_t total_;
    uint64_t retired_ = 0;
    uint64_t run_ = 0;
    std::vector<std::vector<uint32_t>> nodes_done_at_;  ///< by instruction; --layers only
    uint64_t bytes_compared_ = 0;
    std::optional<LayerMismatch> mismatch_;
};

}  // namespace tandem::run
