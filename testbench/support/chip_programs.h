// SPDX-License-Identifier: Apache-2.0
// Instructions with few words, for programs that are written by hand in chip tests.
#pragma once

#include <vector>

#include "arch/generated/isa.h"
#include "arch/geometry.h"

namespace tandem::testbench {

using ProgramWords = std::vector<isa::Words>;

inline isa::Header wait(uint32_t a, uint32_t b = 0) {
    return {.wait_a = static_cast<uint8_t>(a), .wait_b = static_cast<uint8_t>(b)};
}
inline isa::Header signal(uint32_t a, uint32_t b = 0) {
    return {.signal_a = static_cast<uint8_t>(a), .signal_b = static_cast<uint8_t>(b)};
}
inline isa::Header wait_signal(uint32_t wait, uint32_t signal) {
    return {.wait_a = static_cast<uint8_t>(wait), .signal_a = static_cast<uint8_t>(signal)};
}

inline isa::Words halt() { return isa::Halt{}.encode(); }
inline isa::Words nop(isa::Header header = {}) { return isa::Nop{.header = header}.encode(); }
inline isa::Words launch(isa::Header header = {}) { return isa::Launch{.header = header}.encode(); }

/// Scalar register 1 holds the device address of the data, 2 and 3 the host addresses.
inline isa::Words read_memory(isa::Header header, uint32_t ub_addr, uint32_t offset, uint32_t bytes,
                              uint8_t base = 1) {
    return isa::ReadMemory{
        .header = header, .ub_addr = ub_addr, .offset = offset, .bytes = bytes, .base = base}
        .encode();
}
inline isa::Words write_memory(isa::Header header, uint32_t ub_addr, uint32_t offset,
                               uint32_t bytes, uint8_t base = 1) {
    return isa::WriteMemory{
        .header = header, .ub_addr = ub_addr, .offset = offset, .bytes = bytes, .base = base}
        .encode();
}
inline isa::Words read_host(isa::Header header, uint32_t ub_addr, uint32_t offset, uint32_t bytes,
                            uint8_t base = 2) {
    return isa::ReadHost{
        .header = header, .ub_addr = ub_addr, .offset = offset, .bytes = bytes, .base = base}
        .encode();
}
inline isa::Words write_host(isa::Header header, uint32_t ub_addr, uint32_t offset, uint32_t bytes,
                             uint8_t base = 3) {
    return isa::WriteHost{
        .header = header, .ub_addr = ub_addr, .offset = offset, .bytes = bytes, .base = base}
        .encode();
}
inline isa::Words read_weights(isa::Header header, uint32_t offset, uint32_t tiles,
                               uint8_t base = 1) {
    return isa::ReadWeights{.header = header, .offset = offset, .tiles = tiles, .base = base}
        .encode();
}

/// A matrix of rows with `k` bytes each, one row after the other: a 1x1 window over 1 x rows
/// pixels.
inline isa::Geometry matrix_window(uint16_t rows, uint16_t k) {
    isa::Geometry window = isa::kSinglePixel;
    window.in_width = window.out_width = rows;
    window.pixel_stride = window.channels = k;
    return window;
}
inline isa::Words set_window(const isa::Geometry& geometry) {
    return isa::SetWindow{.header = {}, .geometry = geometry}.encode();
}

inline isa::Matmul matmul(isa::Header header, uint32_t ub_addr, uint16_t rows, uint16_t k_len,
                          uint16_t acc_addr = 0) {
    return {.header = header,
            .ub_addr = ub_addr,
            .row_start = 0,
            .rows = rows,
            .acc_addr = acc_addr,
            .k_start = 0,
            .k_len = k_len,
            .n_len = 4,
            .new_weights = 1,
            .accumulate = 0};
}
inline isa::Requantise requantise(isa::Header header, uint32_t ub_addr, uint32_t params_addr,
                                  uint16_t rows, uint16_t cols = 4, uint16_t acc_addr = 0) {
    return {.header = header,
            .ub_addr = ub_addr,
            .params_addr = params_addr,
            .acc_addr = acc_addr,
            .rows = rows,
            .row_stride = cols,
            .cols = cols,
            .zero_point = 0,
            .clamp_min = -128,
            .clamp_max = 127,
            .rounding = 0};
}

}  // namespace tandem::testbench
