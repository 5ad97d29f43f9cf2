// SPDX-License-Identifier: Apache-2.0
// A shared path of limited bandwidth: transfers are served one after the other, first come first
// served. Latency is added by the owner and overlaps with later transfers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>

#include "systemc/kernel/level.h"
#include "systemc/kernel/resolution.h"

namespace tandem::sim {

class Bandwidth {
  public:
    /// `level` kLt: every transfer has the path for itself.
    explicit Bandwidth(uint64_t bytes_per_second, Level level = Level::kAt)
        : bytes_per_second_(bytes_per_second), shared_(level == Level::kAt) {
        require_femtoseconds();
    }

    /// Takes the path for `bytes` from now on; returns the time from now until the last byte
    /// passed.
    sc_core::sc_time reserve(uint64_t bytes) {
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        return reserve_at(now, bytes) - now;
    }
    /// The same for a request that was made at `asked`; returns when the last
    /// byte passed.
    sc_core::sc_time reserve_at(sc_core::sc_time asked, uint64_t bytes) {
        const auto femtoseconds = static_cast<uint64_t>(
            (static_cast<unsigned __int128>(bytes) * 1000000000000000ull + bytes_per_second_ - 1) /
            bytes_per_second_);
        const sc_core::sc_time start = shared_ ? std::max(busy_until_, asked) : asked;
        busy_until_ = start + sc_core::sc_time::from_value(femtoseconds);
        total_bytes_ += bytes;
        return busy_until_;
    }
    uint64_t total_bytes() const { return total_bytes_; }

  private:
    uint64_t bytes_per_second_;
    bool shared_;
    sc_core::sc_time busy_until_;
    uint64_t total_bytes_ = 0;
};

}  // namespace tandem::sim
