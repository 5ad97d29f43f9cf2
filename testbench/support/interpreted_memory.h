// SPDX-License-Identifier: Apache-2.0
// Device memory and the host's, as the interpreter sees them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tandem::testbench {

/// Throws std::runtime_error.
void require(bool condition, const std::string& what);

/// What a memory holds that nobody has written.
std::vector<uint8_t> rubbish(size_t count, std::mt19937& random);

/// Some bytes at an address; everything else is not there.
struct Region {
    uint64_t begin = 0;
    std::vector<uint8_t> bytes;
};

/// Device memory and CMEM, or the host's memory. Regions do not overlap.
class InterpretedMemory {
  public:
    explicit InterpretedMemory(const char* name) : name_(name) {}
    void add(Region region) { regions_.push_back(std::move(region)); }
    /// `bytes` bytes that lie within one region.
    uint8_t* at(uint64_t address, uint64_t bytes);

  private:
    const char* name_;
    std::vector<Region> regions_;
};

}  // namespace tandem::testbench
