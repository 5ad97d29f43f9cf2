// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xmmintrin.h>

namespace tandem::run {

/// While it lives, the host's tiny results and operands are zero, as those of the machine are.
class TinyNumbersAreZero {
  public:
    TinyNumbersAreZero() { _mm_setcsr(saved_ | 0x8040); }  // results, operands
    ~TinyNumbersAreZero() { _mm_setcsr(saved_); }
    TinyNumbersAreZero(const TinyNumbersAreZero&) = delete;
    TinyNumbersAreZero& operator=(const TinyNumbersAreZero&) = delete;

  private:
    const unsigned saved_ = _mm_getcsr();
};

}  // namespace tandem::run
