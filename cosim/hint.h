// SPDX-License-Identifier: Apache-2.0
// A sentence for the mistake behind a difference: what builders of arrays often get wrong is tried
// on what the array did, and told where it explains all of it.
#pragma once

#include <string>

#include "cosim/witness.h"

namespace tandem::cosim {

/// Why rows are committed with wrong values; empty: nothing that is known explains them.
std::string hint_of_rows(const Witness& witness);

/// Why reads give wrong rows; empty: as above.
std::string hint_of_reads(const Witness& witness);

/// What happens when or where it should not: a row or beat that waits or is accepted too early; a
/// row that is committed edges late or early, to another address, not at all, or without having
/// been accepted. `declared`: commit_latency. Empty: all is in time.
std::string difference_of_times(const Witness& witness, uint64_t declared);

}  // namespace tandem::cosim
