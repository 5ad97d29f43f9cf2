// SPDX-License-Identifier: Apache-2.0
// Seeded values for random tests, with the extremes of int8 more often than chance has them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tandem::testbench {

class Seeded {
  public:
    explicit Seeded(uint64_t seed) : engine_(seed) {}

    uint64_t bits() { return engine_(); }
    uint64_t below(uint64_t bound) { return engine_() % bound; }
    /// Both ends included.
    int64_t between(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
    }
    bool chance(unsigned percent) { return below(100) < percent; }
    int8_t int8() {
        constexpr int8_t kCorners[] = {-128, 127, -1, 0};
        return chance(20) ? kCorners[below(4)] : static_cast<int8_t>(engine_());
    }
    /// Any int32, near the ends or zero as often as anywhere else.
    int32_t int32() {
        const auto any = static_cast<uint32_t>(engine_());
        switch (below(4)) {
            case 0:
                return static_cast<int32_t>(0x80000000u + any % 5 - 2);
            case 1:
                return static_cast<int32_t>(any % 2048) - 1024;
            default:
                return static_cast<int32_t>(any);
        }
    }
    std::vector<int8_t> int8s(uint64_t count) {
        std::vector<int8_t> values(count);
        for (int8_t& value : values) value = int8();
        return values;
    }
    std::vector<uint8_t> bytes(uint64_t count) {
        std::vector<uint8_t> values(count);
        for (uint8_t& value : values) value = static_cast<uint8_t>(engine_());
        return values;
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace tandem::testbench
