// SPDX-License-Identifier: Apache-2.0
// Program files with something wrong in them and right checksums, as a faulty compiler would write.
#pragma once

#include <zlib.h>

#include <cstring>
#include <vector>

#include "arch/program.h"
#include "testbench/support/seeded.h"

namespace tandem::testbench {

/// A field of an instruction, a bit, a whole instruction, or two instructions in the other order.
inline void mutate_code(arch::Program& program, Seeded& random) {
    auto& code = program.cores[random.below(program.cores.size())].instructions;
    isa::Words& words = code[random.below(code.size())];
    switch (random.below(5)) {
        case 0:
            words[random.below(8)] ^= 1u << random.below(32);
            break;
        case 1:
            words[random.below(8)] = static_cast<uint32_t>(random.bits());
            break;
        case 2:
            words = code[random.below(code.size())];
            break;
        case 3:
            std::swap(words, code[random.below(code.size())]);
            break;
        default: {
            const auto& info = isa::kInstructions[random.below(isa::kInstructions.size())];
            words[0] = (words[0] & ~0xffu) | static_cast<uint32_t>(info.opcode);
        }
    }
}

/// The file's bytes. Half of the mutants have another instruction, the others another byte
/// somewhere in code, data or metadata.
inline std::vector<uint8_t> mutated_file(arch::Program program, Seeded& random) {
    const bool code = random.chance(60);
    if (code)
        for (uint64_t i = 1 + random.below(2); i != 0; --i) mutate_code(program, random);
    std::vector<uint8_t> bytes = arch::serialise(program);
    if (code) return bytes;
    // Header of 24 bytes, then {tag, CRC, length, payload} three times.
    size_t at = 24;
    const uint64_t section = random.below(3);
    uint64_t length = 0;
    for (uint64_t i = 0;; ++i, at += 16 + length) {
        std::memcpy(&length, bytes.data() + at + 8, 8);
        if (i == section) break;
    }
    uint8_t* payload = bytes.data() + at + 16;
    for (uint64_t i = 1 + random.below(3); i != 0 && length != 0; --i) {
        uint8_t& byte = payload[random.below(length)];
        // In the metadata digits become other digits, so that it is read at all.
        byte = section == 2 && byte >= '0' && byte <= '9'
                   ? static_cast<uint8_t>('0' + random.below(10))
                   : static_cast<uint8_t>(random.bits());
    }
    const auto crc = static_cast<uint32_t>(crc32_z(0, payload, length));
    std::memcpy(bytes.data() + at + 4, &crc, 4);
    return bytes;
}

}  // namespace tandem::testbench
