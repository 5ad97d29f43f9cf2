// SPDX-License-Identifier: Apache-2.0
// One chip in numbers, read from arch/chips/*.yaml. Every figure carries its unit in the file and
// its unit in the member's name here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/dtype.h"

namespace tandem::arch {

struct ChipConfig {
    std::string name;
    std::string description;
    uint64_t clock_hz = 0;

    struct Mxu {
        uint32_t rows = 0;
        uint32_t cols = 0;
        Dtype dtype = Dtype::kInt8;
        uint32_t pipeline = 1;           ///< a register every so many PEs, in both directions
        bool sum4 = false;               ///< bf16: four products added with one rounding
        uint32_t accumulator_rows = 0;   ///< each `cols` x 32 bits: int32 or fp32
        uint32_t weight_fifo_tiles = 0;  ///< tiles between device memory and the array
    } mxu;

    uint64_t unified_buffer_bytes = 0;

    struct Memory {
        uint64_t bytes = 0;
        uint64_t bytes_per_second = 0;
        uint64_t latency_ps = 0;
    } memory;  ///< weight memory: DDR or HBM

    struct Vector {
        uint32_t lanes = 0;           ///< elements per cycle
        uint32_t latency_cycles = 0;  ///< from the last operand to the result in the buffer
    } vector;

    struct Host {
        uint64_t bytes_per_second = 0;  ///< of the bus, each direction
        uint64_t latency_ps = 0;        ///< of one access over the bus
        uint64_t cpu_clock_hz = 0;
    } host;

    struct Sequencer {
        uint32_t queue_entries = 0;  ///< of each unit's instruction queue
        uint64_t watchdog_cycles = 0;
    } sequencer;

    uint64_t tile_bytes() const { return uint64_t{mxu.rows} * mxu.cols * element_bytes(mxu.dtype); }
    /// Peak in operations per second; a multiply-accumulate counts as two.
    double peak_ops_per_second() const;
    /// Operations per byte of device memory at which compute and memory balance.
    double ridge_ops_per_byte() const;
    /// Of ISA, registers and every figure above; stands in HASH_LO/HI and in program images.
    uint64_t hash() const;
};

/// Reads a chip file. Unknown keys, missing keys, wrong units and impossible values throw UserError
/// naming file, key, expected and found.
ChipConfig load_chip(const std::filesystem::path& file);

/// Networks, and the instructions they become, are int8 so far: throws UserError, naming `origin`,
/// if the chip's array is not.
void require_int8_array(const ChipConfig& chip, const std::string& origin);

/// Names of the shipped chips, sorted.
std::vector<std::string> shipped_chips(const std::filesystem::path& chips_dir);

/// A shipped chip by name, or any chip file by path.
ChipConfig find_chip(const std::string& name_or_file, const std::filesystem::path& chips_dir);

}  // namespace tandem::arch
