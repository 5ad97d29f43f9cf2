// SPDX-License-Identifier: Apache-2.0
// Program images for tests, written by the compiler's own code: the driver's parser meets the real
// container, and zlib's checksum.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/program.h"

namespace tandem::testbench {

/// An image of `instructions` instructions with pseudo-random content on each of `cores` cores, and
/// this data.
inline std::vector<uint8_t> build_image(uint64_t isa_hash, uint64_t chip_hash, size_t instructions,
                                        std::vector<uint8_t> data, size_t cores = 1) {
    arch::Program program;
    program.isa_hash = isa_hash;
    program.chip_hash = chip_hash;
    program.chip = "test";
    program.cores.resize(cores);
    uint32_t state = 1;
    for (arch::CoreProgram& core : program.cores) {
        core.instructions.resize(instructions);
        core.sources.resize(instructions);
        for (auto& words : core.instructions)
            for (auto& word : words) word = state = state * 1664525u + 1013904223u;
    }
    program.data = std::move(data);
    return arch::serialise(program);
}

}  // namespace tandem::testbench
