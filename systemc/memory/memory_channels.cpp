// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/memory_channels.h"

#include <algorithm>

#include "systemc/kernel/resolution.h"

namespace tandem::sim {
namespace {

constexpr uint64_t kFemtosecondsPerPicosecond = 1000;

uint64_t transfer_femtoseconds(uint64_t bytes, uint64_t channels_times_bytes,
                               uint64_t bytes_per_second) {
    const auto work = static_cast<unsigned __int128>(bytes) * channels_times_bytes;
    return static_cast<uint64_t>((work + bytes_per_second - 1) / bytes_per_second);
}

}  // namespace

MemoryChannels::MemoryChannels(const arch::ChipConfig::Memory& config, Level level)
    : shared_(level == Level::kAt),
      bytes_per_second_(config.usable_bytes_per_second()),
      interleave_(config.channel_interleave),
      refresh_interval_(config.refresh_interval_ps * kFemtosecondsPerPicosecond),
      refresh_duration_(config.refresh_duration_ps * kFemtosecondsPerPicosecond),
      busy_until_(config.channels) {
    require_femtoseconds();
}

sc_core::sc_time MemoryChannels::reserve_at(sc_core::sc_time now, uint64_t address, uint64_t bytes,
                                            bool urgent) {
    const uint64_t channels = busy_until_.size();
    // The channels share the bandwidth evenly: one needs `channels` times as long for a byte.
    const uint64_t unit = 1'000'000'000'000'000ull * channels;
    const uint64_t first = address / interleave_;
    const uint64_t last = (address + std::max<uint64_t>(bytes, 1) - 1) / interleave_;
    sc_core::sc_time done = now;
    for (uint64_t stripe = first; stripe <= std::min(last, first + channels - 1); ++stripe) {
        sc_core::sc_time& until = busy_until_[stripe % channels];
        const uint64_t duration = transfer_femtoseconds(
            channel_bytes(stripe, first, address, bytes), unit, bytes_per_second_);
        const sc_core::sc_time start = urgent || !shared_ ? now : std::max(until, now);
        const sc_core::sc_time end = end_of(start, duration);
        until = end_of(std::max(until, now), duration);
        busy_ += sc_core::sc_time::from_value(duration);
        done = std::max(done, end);
    }
    return done;
}

/// The part of a transfer that falls into stripes `stripe`, `stripe` + channels, ...
uint64_t MemoryChannels::channel_bytes(uint64_t stripe, uint64_t first, uint64_t address,
                                       uint64_t bytes) const {
    const uint64_t channels = busy_until_.size();
    const uint64_t end = address + bytes;
    const uint64_t last = (end - 1) / interleave_;
    if (bytes == 0) return 0;
    uint64_t total = ((last - stripe) / channels + 1) * interleave_;
    if (stripe == first) total -= address - first * interleave_;
    if ((last - stripe) % channels == 0) total -= (last + 1) * interleave_ - end;
    return total;
}

sc_core::sc_time MemoryChannels::end_of(sc_core::sc_time start, uint64_t duration) const {
    if (refresh_interval_ == 0) return start + sc_core::sc_time::from_value(duration);
    // Each interval begins with a refresh; count time without refreshes.
    const uint64_t usable = refresh_interval_ - refresh_duration_;
    const uint64_t into = start.value() % refresh_interval_;
    const uint64_t worked = start.value() / refresh_interval_ * usable +
                            (into > refresh_duration_ ? into - refresh_duration_ : 0) + duration;
    // An end at the very border of an interval lies before the next refresh.
    const uint64_t intervals = worked == 0 ? 0 : (worked - 1) / usable;
    const uint64_t end =
        intervals * refresh_interval_ + refresh_duration_ + (worked - intervals * usable);
    return sc_core::sc_time::from_value(std::max<uint64_t>(end, start.value()));
}

}  // namespace tandem::sim
