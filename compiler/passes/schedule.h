// SPDX-License-Identifier: Apache-2.0
// Makes a list of steps safe to run on units that only meet through flags: finds every pair of
// steps of different units that touch the same bytes or accumulator rows, one of them writing, and
// has the later one wait for the earlier one, unless other waits already order the two.
//
// One flag serves one ordered pair of units: units finish in order, so the n-th raise is for the
// n-th take. Waits always point back in program order, so that they cannot deadlock.
#pragma once

#include <vector>

#include "compiler/passes/step.h"

namespace tandem::compiler {

/// The same steps in the same order with flags set, and with nops or repeated set_pool_windows
/// between them where an instruction has no room for a third flag.
std::vector<Step> synchronise(std::vector<Step> steps);

}  // namespace tandem::compiler
