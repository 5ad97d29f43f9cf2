// SPDX-License-Identifier: Apache-2.0
// One chip in numbers, read from arch/chips/*.yaml. Every figure carries its unit in the file and
// its unit in the member's name here; chip_figures.h has the table of all figures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/dtype.h"

namespace tandem::arch {

struct ChipConfig {
    std::string name;
    std::string description;
    /// What a command line changed in the file's figures, as it was written: "mxu.count=2".
    std::vector<std::string> overrides;
    /// Figures that neither file nor command line gives, so that they have their defaults.
    std::vector<std::string> defaulted;
    uint64_t clock_hz = 0;
    uint32_t cores = 1;  ///< each with its own sequencer, units and unified buffer

    struct Mxu {
        uint32_t rows = 0;
        uint32_t cols = 0;
        Dtype dtype = Dtype::kInt8;
        uint32_t pipeline = 1;           ///< a register every so many PEs, in both directions
        bool sum4 = false;               ///< bf16: four products added with one rounding
        uint32_t int8_rate = 0;          ///< bf16: int8 products in place of one; 0: no int8
        uint32_t accumulator_rows = 0;   ///< each `cols` x 32 bits: int32 or fp32
        uint32_t weight_fifo_tiles = 0;  ///< tiles between device memory and the array
        uint32_t count = 1;              ///< arrays per core, all alike

        uint64_t row_bytes() const { return uint64_t{rows} * element_bytes(dtype); }
        uint64_t tile_bytes() const { return row_bytes() * cols; }
    } mxu;

    uint64_t unified_buffer_bytes = 0;  ///< per core: unified buffer (v1) or VMEM

    /// Widths of the unified buffer's two ports; 0: every unit has a port of its own.
    struct BufferPorts {
        uint32_t read_bytes_per_cycle = 0;   ///< array, vector unit and DMA out share it
        uint32_t write_bytes_per_cycle = 0;  ///< vector unit and DMA in share it
    } buffer_ports;

    struct Memory {
        uint64_t bytes = 0;
        uint64_t bytes_per_second = 0;  ///< peak, of all channels together
        uint64_t latency_ps = 0;
        uint32_t channels = 1;              ///< a transfer uses all of them, in turns
        uint32_t channel_interleave = 256;  ///< bytes in one channel before the next one
        uint32_t efficiency_percent = 90;   ///< of the peak, for reasons not modelled
        uint64_t refresh_interval_ps = 0;   ///< 0: no refresh
        uint64_t refresh_duration_ps = 0;   ///< in each interval the memory stands still

        /// What transfers get of the peak.
        uint64_t usable_bytes_per_second() const {
            return bytes_per_second * efficiency_percent / 100;
        }
    } memory;  ///< weight memory: DDR or HBM, shared by all cores

    /// A second on-chip memory between unified buffer and device memory (v4, v4i); 0 bytes: none.
    struct Cmem {
        uint64_t bytes = 0;
        uint64_t bytes_per_second = 0;
        uint64_t latency_ps = 0;
    } cmem;

    struct Vector {
        uint32_t lanes = 0;           ///< elements per cycle
        uint32_t latency_cycles = 0;  ///< from the last operand to the result in the buffer
        /// True: the steps of a chain are stages, a chain costs one pass (v1). False: each step of
        /// a chain costs a pass of its own.
        bool fixed_pipeline = true;
        uint32_t transcendental_lanes = 0;  ///< elements per cycle of such a step; 0: as `lanes`
        uint32_t drain_lanes = 0;           ///< of one array's drain; 0: as drain_lanes() says
    } vector;

    struct Dma {
        uint32_t in_flight = 1;  ///< transfers that an engine has under way at a time
    } dma;                       ///< one engine inward and one outward per core

    struct Host {
        uint64_t bytes_per_second = 0;  ///< of the bus, each direction
        uint64_t latency_ps = 0;        ///< of one access over the bus
        uint64_t cpu_clock_hz = 0;
    } host;

    struct Sequencer {
        uint32_t queue_entries = 0;  ///< of each unit's instruction queue
        uint64_t watchdog_cycles = 0;
        /// True: a layer's instructions are issued only after the layer before is finished (TPU
        /// v1's explicit synchronisation). False: units wait for each other, issue runs ahead.
        bool layer_sync = false;
        uint64_t program_launch_ps = 0;  ///< from a program's start to the fetch of its first block
        uint64_t kernel_launch_ps = 0;   ///< of an instruction `launch`
        uint64_t sync_latency_ps = 0;    ///< from a synchronisation's last flag to the next issue
        uint64_t cross_core_latency_ps = 0;  ///< from a raise to its visibility in another core
    } sequencer;                             ///< times take whole cycles, see cycles_in()

    /// What publications say of the whole chip; 0: nothing published. Compared, never used.
    struct Published {
        double peak_ops_per_second = 0;
        double peak_int8_ops_per_second = 0;  ///< of a bf16 chip that has int8, too
        double memory_bytes_per_second = 0;
        double ridge_ops_per_byte = 0;
    } published;

    uint64_t row_bytes() const { return mxu.row_bytes(); }
    uint64_t tile_bytes() const { return mxu.tile_bytes(); }
    /// Whole cycles of the clock that a time takes, rounded up.
    uint64_t cycles_in(uint64_t picoseconds) const;
    uint64_t sync_cycles() const { return cycles_in(sequencer.sync_latency_ps); }
    /// Lanes that the drain of one array takes, where nothing is said one for each column.
    uint32_t drain_lanes() const {
        return vector.drain_lanes != 0 ? vector.drain_lanes : std::min(mxu.cols, vector.lanes);
    }
    /// Drains that have lanes at the same time; each array has one at a time.
    uint32_t drains_at_a_time() const { return std::max(1u, vector.lanes / drain_lanes()); }
    /// Arrays of the whole chip.
    uint32_t arrays() const { return cores * mxu.count; }
    /// Peak of the whole chip in operations per second; a multiply-accumulate counts as two.
    double peak_ops_per_second() const;
    /// Operations per byte of device memory at which compute and memory balance.
    double ridge_ops_per_byte() const;
    /// Hash of every figure above (the instruction set has a hash of its own); stands in HASH_LO/HI
    /// and in program images.
    uint64_t hash() const;
};

/// Reads a chip file. Unknown keys, missing keys, wrong units and impossible values throw UserError
/// naming file, key, expected and found. `sets` are changes such as "mxu.count=2" (chip_reader.h).
ChipConfig load_chip(const std::filesystem::path& file, const std::vector<std::string>& sets = {});

/// Names of the shipped chips, sorted.
std::vector<std::string> shipped_chips(const std::filesystem::path& chips_dir);

/// A shipped chip by name, or any chip file by path.
ChipConfig find_chip(const std::string& name_or_file, const std::filesystem::path& chips_dir,
                     const std::vector<std::string>& sets = {});

}  // namespace tandem::arch
