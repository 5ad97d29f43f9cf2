// SPDX-License-Identifier: Apache-2.0
// The core table of a RUN command (arch/registers.yaml), as it stands in device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "systemc/host_interface/program_runner.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {

struct CoreTable {
    uint64_t address = 0, bytes = 0;
    uint64_t code = 0;  ///< what the entries' offsets count from
};

/// Reads and checks a table; takes the time of one access. Guests write it: whatever it says, the
/// programs that come out are for cores that are there, lie in device memory, and lie apart.
/// `memory_bytes` is the size of that. An error's instruction is an entry of the table.
std::optional<ProgramError> read_core_table(MemoryInitiator& memory, uint64_t memory_bytes,
                                            uint32_t cores, const CoreTable& table,
                                            std::vector<CoreProgramRequest>& programs);

}  // namespace tandem::sim
