// SPDX-License-Identifier: Apache-2.0
// Wall time of this machine.
#pragma once

#include <chrono>

namespace tandem::base {

class Stopwatch {
  public:
    /// Since it was made.
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace tandem::base
