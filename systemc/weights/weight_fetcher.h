// SPDX-License-Identifier: Apache-2.0
// Fetches weight tiles from device memory into the weight FIFO, as far ahead as the FIFO has room
// and the instruction wants, and hands them to the array's weight port one at a time.
//
// Timing: a request for the next tile is issued as soon as a FIFO entry is reserved for it;
// requests overlap their latency. A tile that stands in the FIFO at cycle t is at the weight port
// at t + 1 when the one before it has been loaded.
#pragma once

#include <deque>
#include <vector>

#include "systemc/kernel/unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/memory/own_path.h"
#include "systemc/mxu/mxu.h"

namespace tandem::sim {

class WeightFetcher final : public Unit {
  public:
    MemoryInitiator memory;

    WeightFetcher(sc_core::sc_module_name name, ChipServices& services, Mxu& mxu,
                  uint32_t array = 0);

    bool idle() const override {
        return Unit::idle() && fifo_.empty() && mxu_.tiles_waiting() == 0;
    }
    void reset() override;
    std::optional<Performed> perform(const Dispatched& instruction, Cycle start) override;
    uint64_t tiles_fetched() const { return tiles_fetched_; }
    uint32_t fifo_tiles() const { return static_cast<uint32_t>(fifo_.size()); }

  private:
    struct Tile {
        uint64_t number = 0;
        Booking booking;
        bool timed = false;  ///< `arrives` is known
        Cycle arrives = 0;
        std::vector<int8_t> data;
        bool last = false;
        Dispatched instruction;
        Cycle started = 0;
        bool stands = false;  ///< at the front of the FIFO, its instruction retired
    };

    void execute(const Dispatched& instruction) override;
    bool retires_later(isa::Opcode) const override { return true; }
    std::optional<uint64_t> outstanding() const override {
        return fifo_.empty() || fifo_.back().stands ? std::nullopt
                                                    : std::optional(fifo_.back().number);
    }
    /// A fetch, checked.
    isa::ReadWeights decode(const Dispatched& instruction);
    static uint64_t address_of(const isa::ReadWeights& fetch, const Dispatched& instruction) {
        return instruction.base + fetch.offset + (uint64_t{fetch.offset_high} << 32);
    }
    /// Of the FIFO, that the instruction may use.
    uint32_t most_tiles(const isa::ReadWeights& fetch) const;
    bool book(Tile& tile, uint64_t address);
    void load_thread();

    Mxu& mxu_;
    const uint32_t turn_;
    std::deque<Tile> fifo_;  ///< reserved entries, in order; the front is loaded first
    sc_core::sc_event changed_;
    sc_core::sc_process_handle load_process_;
    uint64_t tiles_fetched_ = 0;

    // Loosely timed, of the instruction that is being performed.
    Tile tile_{};
    OwnPath path_;
    uint32_t tiles_done_ = 0;
    Cycle asked_ = 0, arrived_ = 0;  ///< the tile before
};

}  // namespace tandem::sim
