// SPDX-License-Identifier: Apache-2.0
// The bus between chip and host (PCIe-like): one path each way with bandwidth
// and latency, shared by all users of the chip; requests of the same instant
// are served in a fixed order. Packet overhead and reordering are not modelled.
#pragma once

#include "arch/chip_config.h"
#include "systemc/kernel/resolution.h"
#include "systemc/memory/bandwidth.h"
#include "systemc/memory/booking.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {

class HostLink : public sc_core::sc_module {
  public:
    MemoryInitiator host;  ///< to host memory, absolute host addresses

    HostLink(sc_core::sc_module_name name, const arch::ChipConfig::Host& config,
             Level level = Level::kAt)
        : sc_module(name),
          host("host"),
          to_chip_(config.bytes_per_second, level),
          to_host_(config.bytes_per_second, level),
          latency_(from_picoseconds(config.latency_ps)),
          to_chip_desk_(
              [this](const PathRequest& request, sc_core::sc_time asked) {
                  return to_chip_.reserve_at(asked, request.bytes) + latency_;
              },
              level),
          to_host_desk_(
              [this](const PathRequest& request, sc_core::sc_time asked) {
                  return to_host_.reserve_at(asked, request.bytes) + latency_;
              },
              level) {}

    /// Host memory to `data`. Adds the time it takes to `delay`; false when the host refused.
    bool read(uint64_t address, uint8_t* data, uint64_t bytes, sc_core::sc_time& delay) {
        delay += to_chip_desk_.serve_now({address, bytes}) - sc_core::sc_time_stamp();
        return host.read(address, data, bytes, delay);
    }
    bool write(uint64_t address, uint8_t* data, uint64_t bytes, sc_core::sc_time& delay) {
        delay += to_host_desk_.serve_now({address, bytes}) - sc_core::sc_time_stamp();
        return host.write(address, data, bytes, delay);
    }
    /// Books the path for `bytes`, whatever they are; the bytes themselves go
    /// through `host`.
    Booking book_to_chip(uint32_t turn, uint64_t bytes) {
        return to_chip_desk_.book(turn, {0, bytes});
    }
    Booking book_to_host(uint32_t turn, uint64_t bytes) {
        return to_host_desk_.book(turn, {0, bytes});
    }
    const sc_core::sc_time& latency() const { return latency_; }
    uint64_t bytes_from_host() const { return to_chip_.total_bytes(); }
    uint64_t bytes_to_host() const { return to_host_.total_bytes(); }

  private:
    Bandwidth to_chip_;
    Bandwidth to_host_;
    sc_core::sc_time latency_;
    BookingDesk to_chip_desk_;
    BookingDesk to_host_desk_;
};

}  // namespace tandem::sim
