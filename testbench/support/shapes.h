// SPDX-License-Identifier: Apache-2.0
// Names and data of array shapes for parameterised tests.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "engine/mxu_engine.h"
#include "testbench/support/seeded.h"

namespace tandem::testbench {

/// E.g. "3x5", "8x8_bf16_k4_sum4".
inline std::string name_of(const engine::MxuShape& shape) {
    std::string name = std::to_string(shape.rows) + "x" + std::to_string(shape.cols);
    if (shape.dtype == arch::Dtype::kBf16) name += "_bf16";
    if (shape.pipeline != 1) name += "_k" + std::to_string(shape.pipeline);
    if (shape.sum4) name += "_sum4";
    if (shape.declared) name += "_declared" + std::to_string(shape.declared->commit_latency);
    return name;
}

}  // namespace tandem::testbench

namespace tandem::engine {
/// In listings of tests.
inline void PrintTo(const MxuShape& shape, std::ostream* out) { *out << testbench::name_of(shape); }
}  // namespace tandem::engine

namespace tandem::testbench {

inline engine::MxuShape bf16_shape(uint32_t rows, uint32_t cols, uint32_t depth,
                                   uint32_t pipeline = 1, bool sum4 = false) {
    return {rows, cols, depth, arch::Dtype::kBf16, pipeline, sum4};
}

/// A bf16 as often at the corners of the format as anywhere else, and often of a size that leaves
/// sums finite.
inline uint16_t random_bf16(Seeded& random) {
    constexpr uint16_t kCorners[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x807f, 0x0080,
                                     0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffff};
    const auto bits = static_cast<uint16_t>(random.bits());
    if (random.chance(3)) return kCorners[random.below(std::size(kCorners))];
    if (random.chance(3)) return bits;
    return static_cast<uint16_t>((bits & 0x807f) | (0x3b00 + (bits & 0x780)));
}

/// Elements of the shape's type.
inline std::vector<std::byte> random_elements(Seeded& random, const engine::MxuShape& shape,
                                              uint64_t count) {
    std::vector<std::byte> data(count * shape.element_bytes());
    for (uint64_t i = 0; i < count; ++i) {
        if (shape.dtype == arch::Dtype::kInt8) {
            data[i] = static_cast<std::byte>(random.int8());
        } else {
            const uint16_t value = random_bf16(random);
            std::memcpy(&data[2 * i], &value, sizeof value);
        }
    }
    return data;
}

/// The int8 in all bytes.
inline std::vector<std::byte> int8_bytes(size_t count, int8_t value) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

}  // namespace tandem::testbench
