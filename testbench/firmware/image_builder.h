// SPDX-License-Identifier: Apache-2.0
// Program images for tests, written by the compiler's own code: the driver's parser meets the real
// container, and zlib's checksum.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/program.h"

namespace tandem::testbench {

/// An image of `instructions` instructions with pseudo-random content, and this data.
inline std::vector<uint8_t> build_image(uint64_t isa_hash, uint64_t chip_hash, size_t instructions,
                                        std::vector<uint8_t> data) {
    arch::Program program;
    program.isa_hash = isa_hash;
    program.chip_hash = chip_hash;
    program.chip = "test";
    program.instructions.resize(instructions);
    program.sources.resize(instructions);
    uint32_t state = 1;
    for (auto& words : program.instructions) {
        for (auto& word : words) word = state = state * 1664525u + 1013904223u;
    }
    program.data = std::move(data);
    return arch::serialise(program);
}

}  // namespace tandem::testbench
