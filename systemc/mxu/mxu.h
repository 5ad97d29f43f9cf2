// SPDX-License-Identifier: Apache-2.0
// The matrix unit: reads activation rows through a window of the unified buffer, streams them
// through a MAC array behind the MxuEngine seam, and owns the accumulators' scoreboard.
//
// Timing: a matmul whose flags are taken at cycle t stands at the array from edge t + 1; the next
// one may follow when its first row has entered, so that blocks run back to back. It retires one
// cycle after the edge that writes its last accumulator row.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "engine/activation_reader.h"
#include "engine/mxu_engine.h"
#include "systemc/kernel/unit.h"
#include "systemc/memory/initiator.h"
#include "systemc/memory/unified_buffer.h"

namespace tandem::sim {

/// Whoever reads accumulators.
class AccumulatorTaker {
  public:
    virtual ~AccumulatorTaker() = default;
    /// All rows of the read with this number are there from this cycle on; valid during the call,
    /// empty in timing mode.
    virtual void take_rows(uint64_t number, std::span<const int32_t> rows) = 0;
};

class Mxu final : public Unit {
  public:
    MemoryInitiator buffer;  ///< to the unified buffer

    /// Reads rows through the read port of `rows_from`, as wide or narrow as it is.
    Mxu(sc_core::sc_module_name name, ChipServices& services, UnifiedBuffer& rows_from,
        std::unique_ptr<engine::MxuEngine> engine);

    engine::MxuEngine& engine() { return *engine_; }
    bool idle() const override { return Unit::idle() && blocks_.empty(); }
    void reset() override;

    /// Weight port, one caller: puts a tile (row 0 first) at the port from the next edge on.
    uint64_t push_tile(std::span<const int8_t> data);
    /// Blocks until the tile has entered the array.
    void wait_tile_loaded(uint64_t id);

    /// Accumulator port, one caller: reads `rows` rows, one every `interval` cycles, behind the
    /// reads before it. Does not wait: `taker` is told when they are read. Rows that are being
    /// written end the program, as does a matmul to rows that are being read.
    void read_accumulators(uint32_t acc_addr, uint32_t rows, uint32_t interval,
                           uint32_t instruction, AccumulatorTaker& taker, uint64_t number);

    /// At the weight port, not loaded yet.
    uint64_t tiles_waiting() const { return tiles_pushed_ - tiles_loaded_; }

    // Loosely timed: work stands at the array from the cycle that it carries.
    std::optional<Performed> perform(const Dispatched& instruction, Cycle start) override;
    void push_tile_ahead(std::span<const int8_t> data, Cycle from);
    /// Since when fewer than `tiles` tiles wait to be loaded; nothing: more do.
    std::optional<Cycle> fifo_room_from(uint32_t tiles) const;
    struct ReadRows {
        Cycle done;                     ///< edge of the last one
        std::span<const int32_t> rows;  ///< until the next call of this unit
    };
    ReadRows read_accumulators_ahead(uint32_t acc_addr, uint32_t rows, uint32_t interval,
                                     uint32_t instruction, Cycle from);

    uint64_t macs() const { return macs_; }
    /// Rows of activations that entered the array.
    uint64_t rows_streamed() const { return rows_streamed_; }
    /// The instruction whose block has this id, of the last 4096; ids count matmuls, no gaps.
    uint32_t instruction_of_block(uint64_t id) const {
        return instruction_of_block_[id % instruction_of_block_.size()];
    }

  private:
    struct Block {
        uint64_t id;
        uint32_t acc_addr;
        uint32_t rows;
        Dispatched instruction;
        Cycle from;  ///< stands at the array from then on
        bool swap;
        Cycle first_row = 0;
        bool started = false;
    };

    /// A read of accumulators that waits for its rows.
    struct Read {
        uint32_t acc_addr;
        uint32_t rows;
        AccumulatorTaker* taker;
        uint64_t number;
    };

    void execute(const Dispatched& instruction) override;
    bool retires_later(isa::Opcode opcode) const override { return opcode == isa::Opcode::kMatmul; }
    std::optional<uint64_t> outstanding() const override {
        return blocks_.empty() ? std::nullopt : std::optional(blocks_.back().id);
    }
    void matmul(const Dispatched& instruction);
    void set_window(const Dispatched& instruction);
    void prepare_reader();
    std::optional<Performed> matmul_ahead(const Dispatched& instruction, Cycle start);
    /// Of a matmul's rows, where the port is narrower than one.
    void set_gaps(uint32_t rows);
    void count(const isa::Matmul& matmul);
    void note_loaded(const engine::MxuEvent& event);
    void check(const isa::Matmul& matmul, uint32_t index);
    void push_rows(const isa::Matmul& matmul, uint64_t id, Cycle from);
    void engine_thread();
    void sleep_until_event(Cycle next);
    void deliver(const engine::MxuEvent& event);
    void start_block(Block& block, Cycle first_row);

    UnifiedBuffer& rows_from_;
    std::unique_ptr<engine::MxuEngine> engine_;
    std::unique_ptr<engine::ActivationReader> reader_;
    std::deque<Block> blocks_;  ///< given to the engine, not committed yet
    std::deque<Read> reads_;    ///< given to the engine, not done yet
    std::array<uint32_t, 4096> instruction_of_block_{};
    uint64_t blocks_pushed_ = 0;
    std::vector<uint32_t> gaps_;  ///< before each row, where the port is narrower than a row
    uint64_t tiles_pushed_ = 0;
    uint64_t tiles_loaded_ = 0;
    uint64_t reads_pushed_ = 0;
    Cycle tile_loaded_ = 0;  ///< edge of the last beat of the last tile
    uint64_t tiles_swapped_ = 0;
    std::vector<Cycle> loaded_;  ///< likewise of the last tiles, as many as the FIFO holds
    uint64_t macs_ = 0;
    uint64_t rows_streamed_ = 0;
    sc_core::sc_event input_;     ///< something was pushed into the engine
    sc_core::sc_event happened_;  ///< the engine told an event
    sc_core::sc_process_handle engine_process_;
};

}  // namespace tandem::sim
