// SPDX-License-Identifier: Apache-2.0
// Progress of long work on stderr: a bar with rate and time to go on a terminal, a line now and
// then elsewhere, nothing for what is over within a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tandem::jobs {

class Progress {
  public:
    /// `what` is counted, e.g. "instructions".
    explicit Progress(std::string what);
    ~Progress();
    void update(uint64_t done, uint64_t total);

  private:
    using Clock = std::chrono::steady_clock;
    const std::string what_;
    const bool terminal_;
    // Of the first update: what was prepared before does not count to the time to go.
    std::optional<Clock::time_point> start_;
    uint64_t done_before_ = 0;
    Clock::time_point next_;
    bool shown_ = false;
};

}  // namespace tandem::jobs
