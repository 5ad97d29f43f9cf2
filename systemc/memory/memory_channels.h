// SPDX-License-Identifier: Apache-2.0
// The channels of a DRAM as one resource in time: bandwidth, interleaving, refresh. Per channel,
// transfers are served in the order of asking; an urgent one goes first.
//
// Approximate: banks and row misses are part of `efficiency`; all channels refresh together.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "arch/chip_config.h"
#include "systemc/kernel/level.h"

namespace tandem::sim {

class MemoryChannels {
  public:
    /// `level` kLt: every transfer has the channels for itself.
    explicit MemoryChannels(const arch::ChipConfig::Memory& config, Level level = Level::kAt);

    /// Takes the channels for bytes address to address + bytes - 1 from now on; returns the time
    /// from now until the last byte passed. An urgent transfer does not wait for those taken
    /// before, but delays them.
    sc_core::sc_time reserve(uint64_t address, uint64_t bytes, bool urgent) {
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        return reserve_at(now, address, bytes, urgent) - now;
    }
    /// The same for a request that was made at `asked`; returns when the last
    /// byte passed.
    sc_core::sc_time reserve_at(sc_core::sc_time asked, uint64_t address, uint64_t bytes,
                                bool urgent);
    /// Time for which at least one channel was taken, all channels' times added up.
    const sc_core::sc_time& busy() const { return busy_; }

  private:
    uint64_t channel_bytes(uint64_t channel, uint64_t first_stripe, uint64_t address,
                           uint64_t bytes) const;
    /// When work of `duration` that begins at `start` is done, refreshes in between.
    sc_core::sc_time end_of(sc_core::sc_time start, uint64_t duration) const;

    bool shared_;
    uint64_t bytes_per_second_;  ///< of all channels together, as sustained
    uint64_t interleave_;
    uint64_t refresh_interval_, refresh_duration_;  ///< fs; 0: none
    std::vector<sc_core::sc_time> busy_until_;
    sc_core::sc_time busy_;
};

}  // namespace tandem::sim
