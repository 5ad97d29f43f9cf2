// SPDX-License-Identifier: Apache-2.0
// One simulation from program to answer: host, chip and array put together, the firmware's job laid
// into host memory, run to its end, and what came out. SystemC allows one session per process.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "cosim/divergence.h"
#include "cosim/injection.h"
#include "cosim/rtl_mxu_engine.h"
#include "systemc/kernel/cycle_account.h"
#include "tools/arrays.h"
#include "tools/wave_window.h"

namespace tandem::tools {

struct SessionOptions {
    std::string backend = "tlm";  ///< tlm, rtl, tandem
    std::string host = "riscv";   ///< riscv, native
    bool functional = true;
    ArrayChoice array;                 ///< which RTL; backends rtl and tandem
    std::string inject;                ///< --inject, or empty
    std::string wave_path;             ///< of the window around a divergence
    WaveOptions wave;                  ///< on request
    std::string trace_path;            ///< timeline for Perfetto; empty: none
    uint64_t timeout_us = 60'000'000;  ///< simulated time for one inference, as the driver sees it
    std::vector<uint8_t>
        layers;  ///< expected outputs of all operators of the first sample; empty: do not compare
    std::function<void(std::string_view)> console;                ///< what the firmware prints
    std::function<void(uint64_t done, uint64_t total)> progress;  ///< instructions retired
};

/// How a recording on request went.
struct WaveResult {
    cosim::WaveRecord record;
    std::string gtkw;  ///< save file for it
    std::string note;  ///< why it is not there, or not whole
};

struct LayerStatistics {
    uint64_t cycles =
        0;  ///< from the first start to the last end of its instructions, summed over runs
};

struct LayerMismatch {
    uint32_t node;  ///< index into Program::nodes
    uint64_t offset;
    int expected, actual;
};

struct UnitStatistics {
    std::string name;
    std::array<uint64_t, sim::kCauses> cycles{};
};

struct SessionResult {
    uint64_t cycles = 0;
    uint64_t array_macs = 0;  ///< rows x k x n as issued to the array
    uint64_t tiles = 0;
    uint64_t instructions = 0;
    uint64_t mxu_busy_cycles = 0;
    uint64_t host_instructions = 0;
    double host_seconds = 0;  ///< simulated time of the whole job
    std::vector<UnitStatistics> units;
    std::map<std::string, uint64_t> traffic_bytes;
    std::vector<LayerStatistics> layers;
    std::vector<uint8_t> outputs;  ///< of all runs
    uint64_t layer_bytes_compared = 0;
    std::optional<LayerMismatch> layer_mismatch;
    uint64_t rows_compared = 0;
    std::optional<cosim::Divergence> divergence;
    std::optional<uint32_t> divergence_instruction;
    std::string gtkw;  ///< save file for the divergence's waveform, empty: none
    WaveResult wave;   ///< on request
    std::optional<cosim::Injection> injected;
    std::string assertion;  ///< file and line of a failed assertion, backend rtl
    std::string failure;    ///< of firmware or device; empty: the job is done
};

/// `inputs` holds `runs` times the bytes of the program's inputs.
SessionResult run_session(const arch::ChipConfig& chip, const arch::Program& program,
                          const std::vector<uint8_t>& inputs, uint32_t runs,
                          const SessionOptions& options);

}  // namespace tandem::tools
