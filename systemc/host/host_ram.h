// SPDX-License-Identifier: Apache-2.0
// The host's RAM as CPU and loader see it: bytes at bus addresses, whoever owns them.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::host {

class HostRam {
  public:
    /// `base` is the bus address of the first byte.
    HostRam(uint64_t base, std::span<uint8_t> bytes) : base_(base), bytes_(bytes) {}

    uint64_t base() const { return base_; }
    std::span<uint8_t> bytes() { return bytes_; }

    /// `count` bytes at a bus address; empty when they are not all RAM.
    std::span<uint8_t> at(uint64_t bus_address, uint64_t count) {
        if (bus_address < base_ || !contains(bus_address - base_, count)) return {};
        return bytes_.subspan(bus_address - base_, count);
    }

  protected:
    bool contains(uint64_t offset, uint64_t count) const {
        return offset <= bytes_.size() && count <= bytes_.size() - offset;
    }

  private:
    uint64_t base_;
    std::span<uint8_t> bytes_;
};

}  // namespace tandem::host
