// SPDX-License-Identifier: Apache-2.0
// What holds in every run of a sound simulator: every cycle of every unit has one cause, arrays do
// the work that the source needs, what has to be moved is moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/run_result.h"

namespace tandem::run {

/// What a source cannot do without, all runs of it together.
struct Needs {
    uint64_t macs = 0;
    bool exact_macs = false;         ///< arrays issue no more than these: no padding
    std::optional<uint64_t> rows{};  ///< of activations that its matmuls stream, where known
    // Bytes that have to be moved, as each of these says.
    uint64_t memory = 0;  ///< device memory and CMEM, both directions
    uint64_t memory_read = 0;
    uint64_t host_to_chip = 0, chip_to_host = 0;
    double cycles = 0;  ///< of the part of the chip that has most to do
};

/// Those that are broken, for people; a run that did not come to its end breaks none.
std::vector<std::string> broken_laws(const RunResult& result, const Needs& needs);

}  // namespace tandem::run
