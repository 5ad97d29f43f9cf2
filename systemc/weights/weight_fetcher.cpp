// SPDX-License-Identifier: Apache-2.0
#include "systemc/weights/weight_fetcher.h"

#include <algorithm>

namespace tandem::sim {

WeightFetcher::WeightFetcher(sc_core::sc_module_name name, ChipServices& services, Mxu& mxu,
                             uint32_t array)
    : Unit(name, isa::Unit::kWeights, services),
      memory("memory"),
      mxu_(mxu),
      turn_(services.turn(isa::Unit::kWeights, array)) {
    SC_HAS_PROCESS(WeightFetcher);
    SC_THREAD(load_thread);
    set_stack_size(0x20000);
}

void WeightFetcher::reset() {
    Unit::reset();
    fifo_.clear();
    load_process_.reset();
}

void WeightFetcher::execute(const Dispatched& instruction) {
    const auto fetch = isa::ReadWeights::decode(instruction.words);
    const uint64_t tile_bytes = services_.config().tile_bytes();
    const Cycle started = now();
    if (fetch.tiles == 0) services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    uint64_t address = instruction.base + fetch.offset + (uint64_t{fetch.offset_high} << 32);
    uint32_t most = services_.config().mxu.weight_fifo_tiles;
    if (fetch.ahead != 0) most = std::min<uint32_t>(most, fetch.ahead);
    for (uint32_t i = 0; i < fetch.tiles; ++i, address += tile_bytes) {
        while (fifo_.size() >= most) sc_core::wait(changed_);
        charge(Cause::kWaitSpace);
        // In the FIFO from the beginning: what stands on the stack of a thread is lost when the
        // simulation ends before it.
        Tile& tile = fifo_.emplace_back();
        if (services_.functional()) tile.data.resize(tile_bytes);
        if (!book(tile, address)) {
            fifo_.pop_back();
            services_.fail(arch::DeviceError::kMemoryAddress, instruction.index);
        }
        tile.last = i + 1 == fetch.tiles;
        tile.instruction = instruction;
        tile.started = started;
        tile.number = tiles_fetched_++;
        wait_until(now() + 1);  // by then all that share the memory have asked
        tile.arrives = services_.clock().at_or_after(tile.booking.end());
        tile.timed = true;
        changed_.notify(sc_core::SC_ZERO_TIME);
        account_.charge(Cause::kBusy, tile.arrives);
    }
}

bool WeightFetcher::book(Tile& tile, uint64_t address) {
    const uint64_t bytes = services_.config().tile_bytes();
    Booked booked;
    booked.turn = turn_;
    booked.extent = bytes;
    const bool ok =
        memory.book_read(address, reinterpret_cast<uint8_t*>(tile.data.data()), bytes, booked);
    tile.booking = std::move(booked.booking);
    return ok;
}

// Brings tiles from the FIFO to the weight port in order; the array tells when a tile is loaded.
void WeightFetcher::load_thread() {
    load_process_ = sc_core::sc_get_current_process_handle();
    for (;;) {
        while (fifo_.empty() || !fifo_.front().timed) sc_core::wait(changed_);
        Tile& tile = fifo_.front();
        wait_until(tile.arrives);
        tile.stands = true;
        if (tile.last) retire(tile.instruction, tile.started);
        retire_fences(tile.number);
        const uint64_t id = mxu_.push_tile(tile.data);
        mxu_.wait_tile_loaded(id);
        fifo_.pop_front();
        services_.note_progress();
        changed_.notify(sc_core::SC_ZERO_TIME);
    }
}

}  // namespace tandem::sim
