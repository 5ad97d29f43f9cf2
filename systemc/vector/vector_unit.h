// SPDX-License-Identifier: Apache-2.0
// The vector unit: drains accumulators; maps, reduces, looks up and moves elements. One
// instruction at a time; times in vector_timing.h, values in vector_drain.h and vector_elements.h.
#pragma once

#include <span>
#include <vector>

#include "arch/vector_state.h"
#include "engine/vector_timing.h"
#include "systemc/kernel/unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/mxu/mxu.h"

namespace tandem::sim {

class VectorUnit final : public Unit {
  public:
    MemoryInitiator buffer;  ///< to the unified buffer

    /// Serves all arrays of a core; streams through the ports of `ports`.
    VectorUnit(sc_core::sc_module_name name, ChipServices& services, UnifiedBuffer& ports,
               std::vector<Mxu*> mxus);

    void begin_program(Cycle cycle) override {
        Unit::begin_program(cycle);
        state_ = {};
    }

  private:
    void execute(const Dispatched& instruction) override;
    /// set_shape to move; in vector_elements.cpp.
    void execute_elements(const isa::Words& words, uint32_t index);
    /// Values if they are wanted, then ports and time; compute() is false where it meets an index
    /// outside of the rows.
    template <class Op>
    void stream_elements(const Op& op, uint64_t cycles, uint32_t index, const auto& compute);
    void requantise(const isa::Requantise& op, uint32_t index);
    void convert(const isa::Convert& op, uint32_t index);
    /// Rows of accumulators through the write port; returns what they hold. `chain_cycles`: cycles
    /// per vector of lanes.
    std::span<const int32_t> drain(uint32_t array, uint32_t acc_addr, uint32_t rows, uint32_t cols,
                                   uint32_t element_bytes, uint32_t chain_cycles, uint32_t index);

    void check_buffer(uint64_t address, uint64_t bytes, uint32_t index) {
        check_range(address, bytes, bytes_.size(), arch::DeviceError::kUbAddress, index);
    }
    void busy_for(uint64_t cycles) {
        wait_until(now() + cycles);
        charge(Cause::kBusy);
    }
    void let_arrays_begin();
    /// Waits for the ports and takes them; `cycles`, or longer where a port is narrower.
    void stream(uint64_t read_bytes, uint64_t written_bytes, uint64_t cycles);

    UnifiedBuffer& ports_;
    std::vector<Mxu*> mxus_;
    engine::VectorTiming timing_;
    std::span<uint8_t> bytes_;
    arch::VectorState state_;
};

}  // namespace tandem::sim
