// SPDX-License-Identifier: Apache-2.0
#include "systemc/weights/weight_fetcher.h"

namespace tandem::sim {

WeightFetcher::WeightFetcher(sc_core::sc_module_name name, ChipServices& services, Mxu& mxu)
    : Unit(name, isa::Unit::kWeights, services), memory("memory"), mxu_(mxu) {
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
    uint64_t address = instruction.base + fetch.offset;
    for (uint32_t i = 0; i < fetch.tiles; ++i, address += tile_bytes) {
        while (fifo_.size() >= services_.config().mxu.weight_fifo_tiles) sc_core::wait(changed_);
        charge(Cause::kWaitSpace);
        // In the FIFO from the beginning: what stands on the stack of a thread is lost when the
        // simulation ends before it.
        Tile& tile = fifo_.emplace_back();
        if (services_.functional()) tile.data.resize(tile_bytes);
        sc_core::sc_time delay;
        if (!memory.read(address, reinterpret_cast<uint8_t*>(tile.data.data()), tile_bytes,
                         delay)) {
            fifo_.pop_back();
            services_.fail(arch::DeviceError::kMemoryAddress, instruction.index);
        }
        tile.arrives = services_.clock().at_or_after(sc_core::sc_time_stamp() + delay);
        tile.last = i + 1 == fetch.tiles;
        tile.instruction = instruction;
        tile.started = started;
        ++tiles_fetched_;
        changed_.notify(sc_core::SC_ZERO_TIME);
        account_.charge(Cause::kBusy, tile.arrives);
        wait_until(now() + 1);
    }
}

// Brings tiles from the FIFO to the weight port in order; the array tells when a tile is loaded.
void WeightFetcher::load_thread() {
    load_process_ = sc_core::sc_get_current_process_handle();
    for (;;) {
        while (fifo_.empty()) sc_core::wait(changed_);
        const Tile& tile = fifo_.front();
        wait_until(tile.arrives);
        if (tile.last) retire(tile.instruction, tile.started);
        const uint64_t id = mxu_.push_tile(tile.data);
        mxu_.wait_tile_loaded(id);
        fifo_.pop_front();
        services_.note_progress();
        changed_.notify(sc_core::SC_ZERO_TIME);
    }
}

}  // namespace tandem::sim
