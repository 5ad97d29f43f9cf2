// SPDX-License-Identifier: Apache-2.0
// What came out of a run, whatever was run: an image by firmware or streams without it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/instruction_source.h"
#include "compiler/plan/bounds.h"
#include "cosim/divergence.h"
#include "cosim/injection.h"
#include "cosim/rtl_mxu_engine.h"
#include "systemc/kernel/cycle_account.h"

namespace tandem::run {

/// A unit of a core. Its causes add up to the cycles of its core.
struct UnitResult {
    std::string name;  ///< e.g. "core0.mxu1", "core0.dma_in", "core0.sequencer"
    uint32_t core = 0;
    std::array<uint64_t, sim::kCauses> cycles{};

    uint64_t cause(std::string_view name) const;
};

/// An operator of the source, before anything has run.
struct RunNode {
    uint32_t index = 0;  ///< position in the source
    std::string op, name;
    uint64_t macs = 0;  ///< useful ones of one run
    uint64_t output_bytes = 0;
    std::optional<compiler::Bounds> bounds{};  ///< of one run, where the plan is known
};

/// A layer's cycles go from the end of the layer before, in program order, to its own end: the
/// retirement of the last of its instructions, on any core, but not before the end of a layer
/// before it. What comes behind the last layer belongs to it. So layers add up to the run's cycles.
struct LayerResult {
    uint32_t index = 0;
    std::string op, name;
    // Summed over the runs of an image.
    uint64_t cycles = 0;
    uint64_t macs = 0;
    uint64_t output_bytes = 0;
    /// That its transfers moved: device memory, CMEM and bus. What comes before the first layer
    /// counts to that; fetches of instructions count to none.
    uint64_t moved_bytes = 0;
    std::optional<compiler::Bounds> bounds{};  ///< none: a program whose plan is not known

    /// A layer of the source is several: this one and those before it.
    void add(const LayerResult& inner);
};

/// Bytes, the whole job.
struct Traffic {
    uint64_t memory_read = 0, memory_write = 0;  ///< device memory and CMEM
    uint64_t cmem = 0;                           ///< of these, both directions
    uint64_t host_to_chip = 0, chip_to_host = 0;
};

/// The first place where model and RTL part, and what was being worked on.
struct LocatedDivergence {
    cosim::Divergence what;
    uint32_t core = 0, array = 0;
    uint64_t instruction = 0;  ///< index in the core's program
    arch::InstructionSource source;
    std::string gtkw;  ///< save file for the waveform; empty: none
};

/// How a recording on request went.
struct WaveResult {
    cosim::WaveRecord record;
    std::string gtkw;  ///< save file for it
    std::string note;  ///< why it is not there, or not whole
};

struct LayerMismatch {
    uint32_t node;  ///< index into the layers
    uint64_t offset;
    int expected, actual;
};

/// A part of what an EDGE has read, on one core.
struct TakenBytes {
    int32_t node = 0;
    uint64_t offset = 0;  ///< in the tensor
    std::vector<uint8_t> bytes;
};

struct RunResult {
    std::string chip, model;
    std::string level = "at";  ///< lt: all times are estimates
    uint64_t clock_hz = 0;
    uint32_t cores = 0, arrays = 0;  ///< that were built: cores, arrays of each
    double peak_macs_per_cycle = 0;  ///< of all of them

    uint64_t cycles = 0;  ///< inside programs, of every run those of the core that takes longest
    std::vector<uint64_t> core_cycles;
    uint64_t macs = 0;        ///< useful ones, of the source
    uint64_t array_macs = 0;  ///< issued to the arrays
    uint64_t rows = 0;        ///< of activations that entered an array
    uint64_t tiles = 0;       ///< of weights fetched
    uint64_t instructions = 0;
    std::optional<uint64_t> peak_buffer_bytes;  ///< of a unified buffer, the core that needs most
    Traffic traffic;
    std::vector<UnitResult> units;
    std::vector<LayerResult> layers;
    std::vector<uint8_t> outputs;  ///< of all runs; of streams: the regions asked for

    /// Of an image that keeps them: by node, of its first run; empty: nothing computes it.
    std::vector<std::vector<uint8_t>> layer_outputs;

    std::vector<TakenBytes> taken;

    uint64_t host_instructions = 0;  ///< of the firmware
    double simulated_seconds = 0;    ///< the whole job
    double array_seconds = 0;        ///< of this machine, until the RTL was found or built

    uint64_t layer_bytes_compared = 0;
    std::optional<LayerMismatch> layer_mismatch;
    std::vector<std::string> rtl_arrays;  ///< "core.array" of those with RTL; none: backend tlm
    uint64_t rows_compared = 0;           ///< accumulator rows of model and RTL
    std::string requantise = "tlm";       ///< what stood behind the requantisation
    uint64_t values_requantised = 0;      ///< int8 of model and RTL, compared
    std::optional<LocatedDivergence> divergence;
    WaveResult wave;  ///< on request
    std::optional<cosim::Injection> injected;
    std::string assertion;  ///< of the RTL that failed, backend rtl
    std::string failure;    ///< of firmware or device; empty: the job is done
    /// Files that were asked for and are not there, or not whole, with the reason.
    std::vector<std::string> not_written;
    std::vector<std::string> laws_broken;  ///< none in a sound simulator (run/laws.h)

    double seconds() const { return static_cast<double>(cycles) / static_cast<double>(clock_hz); }
    /// Share of the peak.
    double utilization() const {
        const double peak = static_cast<double>(cycles) * peak_macs_per_cycle;
        return peak == 0 ? 0 : static_cast<double>(macs) / peak;
    }
    /// Cycles of one cause, all units of a kind (e.g. "mxu") added up.
    uint64_t cause(std::string_view kind, std::string_view name) const;
    /// The run came to its end, and nothing went wrong inside it.
    bool completed() const { return !divergence && assertion.empty() && failure.empty(); }
};

}  // namespace tandem::run
