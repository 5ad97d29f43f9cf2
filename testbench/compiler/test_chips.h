// SPDX-License-Identifier: Apache-2.0
// Chips for compiler tests, not read from files.
#pragma once

#include "arch/chip_config.h"

namespace tandem::testbench {

/// A small chip with 64 KiB of unified buffer; tests change what they are about.
inline arch::ChipConfig test_chip(uint32_t rows, uint32_t cols) {
    arch::ChipConfig chip;
    chip.name = "test";
    chip.clock_hz = 500'000'000;
    chip.mxu = {.rows = rows, .cols = cols, .accumulator_rows = 256, .weight_fifo_tiles = 4};
    chip.unified_buffer_bytes = 64 * 1024;
    chip.memory = {.bytes = 64 << 20, .bytes_per_second = 4'000'000'000, .latency_ps = 100'000};
    chip.memory.efficiency_percent = 100;
    chip.vector = {.lanes = 8, .latency_cycles = 8};
    chip.host = {
        .bytes_per_second = 4'000'000'000, .latency_ps = 500'000, .cpu_clock_hz = 500'000'000};
    chip.sequencer = {.queue_entries = 16, .watchdog_cycles = 1'000'000};
    return chip;
}

}  // namespace tandem::testbench
