// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bit: identifies configurations and build inputs; no protection against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem::base {

class Fnv64 {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) step(static_cast<uint8_t>(byte));
    }
    /// Eight bytes, least significant first.
    void add(uint64_t number) {
        for (int shift = 0; shift < 64; shift += 8) step(static_cast<uint8_t>(number >> shift));
    }
    uint64_t value() const { return value_; }

  private:
    void step(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ull; }
    uint64_t value_ = 0xcbf29ce484222325ull;
};

}  // namespace tandem::base
