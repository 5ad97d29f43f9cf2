// SPDX-License-Identifier: Apache-2.0
// The vector unit: drains accumulators; maps, reduces, looks up and moves elements. Begins one
// instruction per cycle, in order. Drains run on their own, one at a time per array, as many as the
// lanes allow; everything else that works begins when what is before it has retired. Times in
// vector_timing.h, values in vector_drain.h and vector_elements.h.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "arch/vector_state.h"
#include "engine/requantise_engine.h"
#include "engine/vector_timing.h"
#include "systemc/kernel/pipelined_unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/mxu/mxu.h"

namespace tandem::sim {

class VectorUnit final : public PipelinedUnit, private AccumulatorTaker {
  public:
    MemoryInitiator buffer;  ///< to the unified buffer

    /// One for each array.
    using Requantisers = std::vector<std::unique_ptr<engine::RequantiseEngine>>;

    /// Serves all arrays of a core; streams through the ports of `ports`.
    VectorUnit(sc_core::sc_module_name name, ChipServices& services, UnifiedBuffer& ports,
               std::vector<Mxu*> mxus, Requantisers requantisers);

    void reset() override;
    void begin_program(Cycle cycle) override;
    std::optional<Performed> perform(const Dispatched& instruction, Cycle start) override;

  private:
    /// A drain, from its issue until it retires.
    struct Drain {
        uint64_t number;  ///< among all instructions
        uint32_t index;   ///< of the instruction in the program
        isa::Words words;
        arch::VectorState state;    ///< at its issue; of a convert with a chain
        std::vector<int32_t> sums;  ///< when they are read
    };
    /// What of a drain decides its time.
    struct DrainShape {
        uint32_t array, acc_addr, rows, cols;
        uint32_t element_bytes;
        uint32_t chain_cycles;  ///< per vector of lanes
    };

    /// What of an instruction that runs through elements decides its time.
    struct Streaming {
        uint64_t cycles = 0;
        engine::BufferBytes bytes{};
    };

    void execute(const Dispatched& instruction) override;
    // vector_elements.cpp: set_shape to move.
    void execute_elements(const Dispatched& instruction);
    Performed perform_elements(const Dispatched& instruction, Cycle start);
    /// Ends the program for what is no instruction, or meets no buffer.
    void check_elements(const Dispatched& instruction);
    Streaming streaming_of(const Dispatched& instruction);
    /// Values, if they are wanted.
    void compute_elements(const Dispatched& instruction);
    /// Waits for the ports and takes them; `cycles`, or longer where a port is narrower.
    void stream(uint64_t read_bytes, uint64_t written_bytes, uint64_t cycles);

    // vector_drains.cpp
    bool drains(const Dispatched& instruction) const;
    /// Of a drain, checked.
    DrainShape shape_of(const Dispatched& instruction);
    DrainShape requantise_shape(const Dispatched& instruction);
    DrainShape convert_shape(const Dispatched& instruction);
    uint32_t interval_of(const DrainShape& shape) const;
    Performed perform_drain(const Dispatched& instruction, Cycle start);
    /// Waits for lanes, the array's port and the buffer's; then the rows come by themselves.
    void issue(const DrainShape& shape, const Dispatched& instruction);
    void keep(uint64_t number, const Dispatched& instruction);
    void take_rows(uint64_t number, std::span<const int32_t> rows) override;
    void make_visible(uint64_t number) override;
    /// Values, if they are wanted.
    void write_drained(const isa::Words& words, uint32_t index, const arch::VectorState& state,
                       std::span<const int32_t> sums);

    void check_buffer(uint64_t address, uint64_t bytes, uint32_t index) {
        check_range(address, bytes, bytes_.size(), arch::DeviceError::kUbAddress, index);
    }
    void busy_for(uint64_t cycles) {
        wait_until(now() + cycles);
        charge(Cause::kBusy);
    }
    void let_arrays_begin();

    UnifiedBuffer& ports_;
    std::vector<Mxu*> mxus_;
    Requantisers requantisers_;
    engine::VectorTiming timing_;
    std::span<uint8_t> bytes_;
    arch::VectorState state_;
    std::deque<Drain> drains_;        ///< in the order of issue
    std::vector<int32_t> used_sums_;  ///< of a drain that has retired, for the next one
    std::vector<Cycle> lanes_free_;   ///< for each drain that has lanes at the same time
    std::vector<Cycle> array_free_;   ///< its read port
    Cycle done_ = 0;                  ///< loosely timed: of all that has been performed
};

}  // namespace tandem::sim
