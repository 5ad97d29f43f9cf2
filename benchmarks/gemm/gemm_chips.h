// SPDX-License-Identifier: Apache-2.0
// Chips that run a matrix product again and again inside one process: program, weights and
// matrices stand in their memories, and a turn is the simulated run of the program from its first
// instruction to its end.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "jobs/gemm_product.h"

namespace tandem::benchmarks {

class GemmChip;

/// SystemC allows one elaboration per process: add all chips, then run() once.
class GemmChips {
  public:
    GemmChips();
    ~GemmChips();
    /// Returns its number.
    size_t add(const arch::ChipConfig& config, const jobs::GemmProduct& product);
    /// Calls `work` inside the simulation; it may call turn() as often as it likes.
    void run(std::function<void()> work);
    /// Wall seconds of one run of the program.
    double turn(size_t chip);
    std::span<const uint8_t> outputs(size_t chip) const;
    /// Simulated cycles of one run.
    uint64_t cycles(size_t chip) const;

  private:
    std::vector<std::unique_ptr<GemmChip>> chips_;
};

}  // namespace tandem::benchmarks
