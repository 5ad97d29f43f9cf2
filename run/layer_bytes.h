// SPDX-License-Identifier: Apache-2.0
// What the transfers of layers move between the chip and its memories or the host.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/generated/isa.h"

namespace tandem::run {

class LayerBytes {
  public:
    LayerBytes(size_t nodes, uint64_t tile_bytes) : tile_bytes_(tile_bytes), moved_(nodes) {}

    static bool moves(isa::Unit unit) {
        return unit == isa::Unit::kDmaIn || unit == isa::Unit::kDmaOut ||
               unit == isa::Unit::kWeights;
    }
    /// An instruction of one of these units is done. What belongs to no node comes before the
    /// first one's work and counts to it.
    void retired(int32_t node, const isa::Words& words);
    /// By node, all cores and runs.
    const std::vector<uint64_t>& moved() const { return moved_; }

  private:
    const uint64_t tile_bytes_;
    std::vector<uint64_t> moved_;
};

}  // namespace tandem::run
