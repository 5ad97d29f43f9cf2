// SPDX-License-Identifier: Apache-2.0
// Inputs from other inputs.
#pragma once

#include "testbench/fuzz/target.h"
#include "testbench/support/seeded.h"

namespace tandem::fuzz {

/// No input is longer.
inline constexpr size_t kMostBytes = size_t{1} << 18;

/// One to eight changes of one of `corpus`, which has at least one: bits, bytes, numbers at their
/// limits, words of the target, lines, pieces of others, cut off or repeated.
Bytes mutated(const std::vector<Bytes>& corpus, const Target& target, testbench::Seeded& random);

}  // namespace tandem::fuzz
