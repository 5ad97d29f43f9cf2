// SPDX-License-Identifier: Apache-2.0
// The vector unit: drains accumulators and requantises; elementwise sum, pooling, softmax. One
// instruction at a time; times in vector_timing.h, values in vector_ops.h.
#pragma once

#include <span>

#include "systemc/kernel/unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/mxu/mxu.h"
#include "systemc/vector/vector_timing.h"

namespace tandem::sim {

class VectorUnit final : public Unit {
  public:
    MemoryInitiator buffer;  ///< to the unified buffer

    VectorUnit(sc_core::sc_module_name name, ChipServices& services, Mxu& mxu);

  private:
    void execute(const Dispatched& instruction) override;
    void activate(const isa::Activate& op, uint32_t index);
    void add(const isa::Add& op, uint32_t index);
    void pool(const isa::Pool& op, uint32_t index);
    void softmax(const isa::Softmax& op, uint32_t index);
    void set_pool_window(const isa::SetPoolWindow& op, uint32_t index);

    void check_buffer(uint64_t address, uint64_t bytes, uint32_t index) {
        check_range(address, bytes, bytes_.size(), arch::DeviceError::kUbAddress, index);
    }
    void busy_for(uint64_t cycles) {
        wait_until(now() + cycles);
        charge(Cause::kBusy);
    }

    Mxu& mxu_;
    VectorTiming timing_;
    std::span<uint8_t> bytes_;
    isa::Geometry window_{};
};

}  // namespace tandem::sim
