// SPDX-License-Identifier: Apache-2.0
// Runs a program by the text of arch/README.md: units with queues that meet only through flags, no
// time, plain loops, arithmetic of the oracle. Which unit moves next is up to an adversary, so that
// a program with a missing flag gives wrong results for some order, or deadlocks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"

namespace tandem::testing {

/// Who moves first: a fixed order of precedence of the six units, or any, at random.
struct UnitOrder {
    std::array<int, 6> precedence{0, 1, 2, 3, 4, 5};
    bool random = false;
    uint32_t seed = 0;
};

class IsaInterpreter {
  public:
    IsaInterpreter(const arch::ChipConfig& chip, const arch::Program& program,
                   const UnitOrder& order);

    /// Called with the instruction's index when it has retired.
    std::function<void(uint32_t)> on_retire;

    /// Outputs for `inputs`, both as Program::inputs and outputs lie side by side. Throws
    /// std::runtime_error for a deadlock and whatever else the machine would end the program for.
    std::vector<int8_t> run(const std::vector<int8_t>& inputs);

    const std::vector<uint8_t>& unified_buffer() const { return buffer_; }
    uint64_t macs() const { return macs_; }
    /// Flags that nobody took; empty at the end of a proper program.
    bool flags_left() const;
    size_t tiles_left() const { return fifo_.size(); }

  private:
    struct Unit {
        std::deque<uint32_t> queue;  ///< indices of instructions
        uint32_t progress = 0;       ///< tiles that the instruction in front has fetched
    };

    bool step(int unit);
    bool step_sequencer();
    bool ready(const isa::Header& header) const;
    void finish(uint32_t index, const isa::Header& header);
    bool execute(int unit, uint32_t index);
    bool read_weights(uint32_t index);
    bool matmul(uint32_t index);
    void transfer(uint32_t index);
    void activate(uint32_t index);
    void add(uint32_t index);
    void pool(uint32_t index);
    void softmax(uint32_t index);
    int8_t element(const isa::Matmul& m, uint64_t position, uint32_t k) const;

    int32_t word(uint32_t address) const;
    int8_t& at(uint64_t address);
    int8_t value(uint64_t address) const;

    const arch::ChipConfig& chip_;
    const arch::Program& program_;
    UnitOrder order_;
    std::mt19937 random_;
    std::vector<uint8_t> buffer_;
    std::vector<int8_t> host_in_, host_out_;
    std::vector<int32_t> accumulators_;
    std::deque<std::vector<int8_t>> fifo_;
    std::vector<int8_t> tile_;
    std::array<Unit, 6> units_;
    std::array<int, isa::kFlagCount> flags_{};
    isa::Geometry window_, pool_window_;
    uint32_t pc_ = 0;
    bool halted_ = false;
    uint64_t macs_ = 0;
};

}  // namespace tandem::testing
