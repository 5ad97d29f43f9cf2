// SPDX-License-Identifier: Apache-2.0
// Moves bytes between the unified buffer and host or device memory. A core has one engine for each
// direction; it begins one transfer per cycle, in order, as long as fewer than `dma.in_flight` are
// under way, and they retire in that order. Time: bandwidth and latency of the far side, for all
// the bytes of an instruction as one transfer, however many runs they stand in. The bytes
// themselves move when a transfer begins; who must not see them yet waits for its flags.
#pragma once

#include <deque>
#include <optional>
#include <span>

#include "systemc/host_interface/host_link.h"
#include "systemc/kernel/pipelined_unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/memory/own_path.h"
#include "systemc/memory/unified_buffer.h"

namespace tandem::sim {

class DmaEngine final : public PipelinedUnit {
  public:
    MemoryInitiator buffer;  ///< to the unified buffer
    MemoryInitiator memory;  ///< to device memory

    /// `unit` is isa::Unit::kDmaIn or kDmaOut.
    DmaEngine(sc_core::sc_module_name name, isa::Unit unit, ChipServices& services, HostLink& host,
              UnifiedBuffer& ports);

    std::optional<Performed> perform(const Dispatched& instruction, Cycle start) override;
    void begin_program(Cycle cycle) override;

  private:
    /// An instruction with its addresses checked for overflow and its extent on
    /// the far side.
    struct Transfer {
        uint64_t address = 0;  ///< of the first run
        uint64_t run_bytes = 0;
        uint64_t rows = 0, planes = 0;
        uint64_t row_stride = 0, plane_stride = 0;
        uint64_t total = 0;       ///< bytes of all runs
        uint64_t extent = 0;      ///< from the first far byte to the last
        uint8_t* data = nullptr;  ///< in the unified buffer; null: time only
    };

    void execute(const Dispatched& instruction) override;
    /// Moves the bytes and books the path.
    void transfer(const Transfer& transfer, const Dispatched& instruction);
    Transfer checked(const Dispatched& instruction);
    Cycle latency_of(const Dispatched& instruction) const;
    bool with_memory(const Transfer& transfer, bool write);
    bool with_host(const Transfer& transfer, bool write);

    HostLink& host_;
    UnifiedBuffer& ports_;
    std::span<uint8_t> bytes_;
    std::span<uint8_t> far_;  ///< device memory
    Booking booking_;         ///< of the transfer that has begun last
    OwnPath path_;            ///< loosely timed
    std::deque<Cycle> done_;  ///< loosely timed: of the transfers under way, the oldest first
};

}  // namespace tandem::sim
