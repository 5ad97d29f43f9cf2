// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/interpreted_memory.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tandem::testbench {

void require(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error(what);
}

std::vector<uint8_t> rubbish(size_t count, std::mt19937& random) {
    std::vector<uint8_t> bytes(count);
    for (size_t i = 0; i < count; i += 4) {
        const auto word = static_cast<uint32_t>(random());
        std::memcpy(&bytes[i], &word, std::min<size_t>(4, count - i));
    }
    return bytes;
}

uint8_t* InterpretedMemory::at(uint64_t address, uint64_t bytes) {
    for (Region& region : regions_)
        if (address >= region.begin && address - region.begin < region.bytes.size() &&
            bytes <= region.bytes.size() - (address - region.begin))
            return region.bytes.data() + (address - region.begin);
    throw std::runtime_error(std::string("nothing at ") + name_ + " address " +
                             std::to_string(address) + ", " + std::to_string(bytes) + " bytes");
}

}  // namespace tandem::testbench
