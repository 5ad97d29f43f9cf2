// SPDX-License-Identifier: Apache-2.0
// Is a program one that a chip can run? Looks at every instruction and at the metadata, and
// executes the program without data: scalar instructions, queues, flags, weight FIFOs. A program
// that passes ends by its halt, on this chip, without an error of the device.
#pragma once

#include <cstdint>
#include <string>

#include "arch/chip_config.h"
#include "arch/program.h"

namespace tandem::arch {

/// What one run of a program does on all cores, loops unrolled.
struct ProgramWork {
    uint64_t instructions = 0;
    uint64_t rows = 0;  ///< activation rows into arrays
    uint64_t macs = 0;
    uint64_t weight_tiles = 0;
};

/// Throws UserError, naming `origin` (the file), core, instruction and rule. The program runs on
/// the first cores of the chip, loaded as the firmware does it (layout_of).
ProgramWork check_program(const ChipConfig& chip, const Program& program,
                          const std::string& origin);

}  // namespace tandem::arch
