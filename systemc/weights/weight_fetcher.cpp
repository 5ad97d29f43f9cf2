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
    tiles_done_ = 0;
    load_process_.reset();
}

isa::ReadWeights WeightFetcher::decode(const Dispatched& instruction) {
    const auto fetch = isa::ReadWeights::decode(instruction.words);
    if (fetch.tiles == 0) services_.fail(arch::DeviceError::kBadInstruction, instruction.index);
    return fetch;
}

uint32_t WeightFetcher::most_tiles(const isa::ReadWeights& fetch) const {
    const uint32_t fifo = services_.config().mxu.weight_fifo_tiles;
    return fetch.ahead == 0 ? fifo : std::min<uint32_t>(fifo, fetch.ahead);
}

void WeightFetcher::execute(const Dispatched& instruction) {
    const auto fetch = decode(instruction);
    const uint64_t tile_bytes = services_.config().tile_bytes();
    const Cycle started = now();
    uint64_t address = address_of(fetch, instruction);
    const uint32_t most = most_tiles(fetch);
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

/// Tile by tile, each when the FIFO has room: what an array has not taken yet waits for it.
std::optional<Performed> WeightFetcher::perform(const Dispatched& instruction, Cycle start) {
    const auto fetch = decode(instruction);
    const uint64_t tile_bytes = services_.config().tile_bytes();
    const uint32_t most = most_tiles(fetch);
    const auto& config = services_.config();
    const Cycle latency = config.cycles_in(address_of(fetch, instruction) < config.memory.bytes
                                               ? config.memory.latency_ps
                                               : config.cmem.latency_ps);
    if (tiles_done_ == 0) asked_ = arrived_ = start;
    tile_.data.resize(tile_bytes);
    for (; tiles_done_ < fetch.tiles; ++tiles_done_) {
        const auto room = mxu_.fifo_room_from(most);
        if (!room) return std::nullopt;
        asked_ = std::max(tiles_done_ == 0 ? start : asked_ + 1, *room);
        if (!book(tile_, address_of(fetch, instruction) + tiles_done_ * tile_bytes))
            services_.fail(arch::DeviceError::kMemoryAddress, instruction.index);
        arrived_ = path_.take(asked_, cycles_until(tile_.booking.end()), latency);
        ++tiles_fetched_;
        account_.charge(Cause::kIdle, asked_);
        account_.charge(Cause::kBusy, arrived_);
        mxu_.push_tile_ahead(tile_.data, arrived_ + 1);
    }
    tiles_done_ = 0;
    return Performed{start, asked_ + 1, arrived_};
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
