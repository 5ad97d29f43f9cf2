// SPDX-License-Identifier: Apache-2.0
// Two kinds of jobs on a System, with one kind of result: an image that firmware runs, and streams
// that the sequencers take without firmware, both on all cores. One run per process.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "arch/program_source.h"
#include "run/array_places.h"
#include "run/arrays.h"
#include "run/laws.h"
#include "run/run_result.h"
#include "run/wave_window.h"
#include "systemc/host/host_config.h"
#include "systemc/kernel/connect.h"

namespace tandem::run {

inline constexpr uint64_t kQuantumNs = 100'000;

struct RunOptions {
    std::string backend = "tlm";     ///< tlm, rtl, tandem
    ArrayPlaces rtl_arrays;          ///< behind which rtl or tandem stands; the others are tlm
    std::string requantise = "tlm";  ///< tlm, rtl, tandem; behind all arrays
    bool functional = true;
    std::string level = "at";  ///< images: at; lt: loosely timed, functional, backend tlm
    /// lt: how far chip and CPU run ahead of simulated time; nothing: kQuantumNs.
    std::optional<uint64_t> quantum_ns;
    uint32_t arrays = 0;          ///< of each core, the first so many; 0: all
    ArrayChoice array;            ///< which RTL
    std::string inject;           ///< into the first array with RTL, or empty
    std::string divergence_wave;  ///< FST of the window around a divergence; empty: none
    bool checkpoints = true;      ///< forks to look for the cause of a divergence in a copy
    WaveOptions wave;             ///< on request, of the first array with RTL
    std::string trace_path;       ///< timeline for Perfetto; empty: none
    std::string cpu = "riscv";    ///< images: riscv, native
    /// Images: instructions of the riscv CPU; 0: more than a job of its size needs.
    uint64_t firmware_budget = 0;
    std::function<void(std::string_view)> console;  ///< images: what the firmware prints
    std::optional<host::GdbOptions> gdb;            ///< images: of the riscv CPU
    sim::Connect connect;  ///< of all sockets of the machine; empty: directly
    /// Images: instructions retired, and of how many.
    std::function<void(uint64_t done, uint64_t total)> progress;
};

struct ImageJob {
    const arch::Program& program;
    const std::vector<uint8_t>& inputs;  ///< `runs` times the bytes of the program's inputs
    uint32_t runs = 1;
    /// Expected outputs of all operators of the first sample; empty: do not compare.
    std::vector<uint8_t> layers{};
    std::vector<compiler::Bounds> bounds{};  ///< of one run, by node; empty: not known
    bool keep_layers = false;                ///< RunResult::layer_outputs
    uint64_t timeout_us = 60'000'000;  ///< simulated, for one inference, as the driver sees it
};

/// Where bytes of a job without firmware stand. Host addresses start at 0.
enum class Space { kDevice, kHost };
struct Region {
    Space space = Space::kDevice;
    uint64_t address = 0, bytes = 0;
};
struct Preload {
    Space space = Space::kDevice;
    uint64_t address = 0;
    std::span<const uint8_t> bytes;
};

struct CoreStream {
    arch::ProgramSource* source = nullptr;  ///< null: this core has nothing to do
    std::array<uint64_t, 3> args{};         ///< scalar registers 1 to 3
};

/// An EDGE of a graph on one core: what takes the place of a tensor once it has been computed. A
/// fence of the vector unit stands for it.
struct EdgeBytes {
    uint32_t core = 0;
    int32_t node = 0;
    uint32_t round = 0;
    /// A part of the unified buffer; what is there before is kept in RunResult::taken.
    struct {
        uint64_t address = 0, offset = 0, bytes = 0;
    } taken{};
    uint64_t address = 0;
    std::span<const uint8_t> bytes{};
};

struct StreamJob {
    std::string model;           ///< what it is, for people
    std::vector<RunNode> nodes;  ///< what InstructionSource::node counts, in program order
    std::vector<CoreStream> cores;
    Needs needs;  ///< for the laws
    std::optional<uint64_t> peak_buffer_bytes{};
    uint64_t rows_to_inject = 0;  ///< of the first array with RTL, for an injection by seed
    // Functional mode only.
    uint64_t host_bytes = 0;
    std::vector<Preload> preload{};
    std::vector<Region> outputs{};  ///< one behind the other in RunResult::outputs
    std::vector<EdgeBytes> edges{};
};

/// Host memory for program, inputs and outputs of so many runs. Throws UserError when it is more
/// than a host can have.
uint64_t host_memory_for(const arch::Program& program, uint64_t runs);

/// Throws UserError for what the options ask and the machine cannot do. A program that fails, a
/// divergence and a broken law are in the result.
RunResult run_image(const arch::ChipConfig& chip, const ImageJob& job, const RunOptions& options);
RunResult run_streams(const arch::ChipConfig& chip, const StreamJob& job,
                      const RunOptions& options);

/// Throws std::logic_error for a program that failed or a broken law: for runs that are known to be
/// sound.
const RunResult& require_sound(const RunResult& result);

}  // namespace tandem::run
