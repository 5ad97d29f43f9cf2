// SPDX-License-Identifier: Apache-2.0
// Memory behind the units of a chip: DDR or HBM from address 0, and behind its
// end the chip's CMEM where it has one. Each has its bandwidth, shared by all
// that ask, plus a fixed latency that overlaps with other transfers. Requests
// of the same instant are served in a fixed order.
#pragma once

#include "arch/chip_config.h"
#include "systemc/kernel/resolution.h"
#include "systemc/memory/bandwidth.h"
#include "systemc/memory/booking.h"
#include "systemc/memory/memory_channels.h"
#include "systemc/memory/memory_target.h"

namespace tandem::sim {

class DeviceMemory final : public MemoryTarget {
  public:
    DeviceMemory(sc_core::sc_module_name name, const arch::ChipConfig& config,
                 Level level = Level::kAt)
        : MemoryTarget(name, config.memory.bytes + config.cmem.bytes),
          dram_bytes_(config.memory.bytes),
          dram_latency_(from_picoseconds(config.memory.latency_ps)),
          cmem_latency_(from_picoseconds(config.cmem.latency_ps)),
          dram_(config.memory, level),
          cmem_(config.cmem.bytes_per_second, level),
          desk_([this](const PathRequest& request,
                       sc_core::sc_time asked) { return serve(request, asked); },
                level) {}

    uint64_t cmem_traffic_bytes() const { return cmem_.total_bytes(); }

  private:
    sc_core::sc_time access_time(const PathRequest& request) override {
        return desk_.serve_now(request) - sc_core::sc_time_stamp();
    }
    Booking book(const PathRequest& request, uint32_t turn) override {
        return desk_.book(turn, request);
    }
    sc_core::sc_time serve(const PathRequest& request, sc_core::sc_time asked) {
        if (request.address >= dram_bytes_)
            return cmem_.reserve_at(asked, request.bytes) + cmem_latency_;
        return dram_.reserve_at(asked, request.address, request.bytes, request.urgent) +
               dram_latency_;
    }

    uint64_t dram_bytes_;  ///< where the CMEM begins
    sc_core::sc_time dram_latency_, cmem_latency_;
    MemoryChannels dram_;
    Bandwidth cmem_;
    BookingDesk desk_;
};

}  // namespace tandem::sim
