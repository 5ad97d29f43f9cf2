// SPDX-License-Identifier: Apache-2.0
// The chip file that the tests of chip files change.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "testbench/support/source_tree.h"

namespace tandem::arch {

using testbench::ScratchFile;

inline constexpr const char* kChip =
    "name: small\n"
    "description: a chip\n"
    "clock: 500 MHz\n"
    "mxu:\n"
    "  rows: 8\n"
    "  cols: 4\n"
    "  dtype: int8\n"
    "  accumulator_rows: 64\n"
    "  weight_fifo_tiles: 2\n"
    "unified_buffer: 64 KiB\n"
    "memory: {size: 64 MiB, bandwidth: 3 GB/s, latency: 100 ns}\n"
    "vector: {lanes: 16, latency: 7 cycles}\n"
    "host: {bandwidth: 4 GB/s, latency: 500 ns, cpu_clock: 600 MHz}\n"
    "sequencer: {queue_entries: 9, watchdog: 10000 cycles}\n";

inline std::string with(const std::string& old_text, const std::string& new_text) {
    std::string chip = kChip;
    const size_t at = chip.find(old_text);
    EXPECT_NE(at, std::string::npos) << "the test's chip has no \"" << old_text << '"';
    return chip.replace(at, old_text.size(), new_text);
}

/// The chip with other text after "dtype: ".
inline std::string with_array(const std::string& text) { return with("int8", text); }

/// The chip with more keys in the section that ends with `last`.
inline std::string with_more(const std::string& last, const std::string& keys) {
    return with(last + "}", last + ", " + keys + "}");
}
inline std::string with_memory(const std::string& keys) {
    return with_more("latency: 100 ns", keys);
}
inline std::string with_sequencer(const std::string& keys) {
    return with_more("watchdog: 10000 cycles", keys);
}

inline std::string with_rows_of_256(const std::string& dtype, const std::string& unified_buffer) {
    std::string chip = with("rows: 8", "rows: 256");
    chip.replace(chip.find("int8"), 4, dtype);
    return chip.replace(chip.find("64 KiB"), 6, unified_buffer);
}

/// As a file, with what a command line may change.
inline ChipConfig load(const std::string& text, const std::vector<std::string>& sets = {}) {
    const ScratchFile file("chip.yaml", text);
    return load_chip(file.path(), sets);
}

}  // namespace tandem::arch
