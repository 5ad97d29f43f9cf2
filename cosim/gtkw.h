// SPDX-License-Identifier: Apache-2.0
// Save files for GTKWave: which signals to show, how, and where the marker stands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cosim/divergence.h"
#include "cosim/wave_file.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

struct SaveFileRequest {
    std::string wave;                ///< FST or VCD
    WaveSignals signals{};           ///< what it has (wave_signals()); empty: all that is shown
    uint64_t period_fs = 1'000'000;  ///< of the clock: edge n stands at n * period
    engine::Cycle marker = 0;        ///< edge
    bool before_edge = false;        ///< the marker stands just before it, where nets are judged
    engine::MxuShape shape;
    // What is wrong is shown first, with what was expected of it.
    std::optional<PeMismatch> wrong_pe{};
    std::optional<UnitMismatch> wrong_net{};
    std::string wrong_port{};  ///< empty: none
    uint32_t wrong_col = 0;    ///< of a port that carries a row
    bool all_pes = false;      ///< every PE was recorded, not only the wrong one's row and column
    std::vector<std::string> model_units{};  ///< scopes below "model" that were recorded
    std::string float_filter{};              ///< program that GTKWave asks for bf16 and fp32 values
};

/// PEs to both sides of the wrong one that are recorded with it.
inline constexpr uint32_t kPeReach = 2;
/// Arrays of up to this many PEs are recorded whole.
inline constexpr uint32_t kMostRecordedPes = 256;
inline bool are_all_recorded(const engine::MxuShape& shape) {
    return uint64_t{shape.rows} * shape.cols <= kMostRecordedPes;
}

/// Fills in marker and what is wrong.
void look_at(SaveFileRequest& request, const Divergence& divergence);

/// Writes a .gtkw beside the waveform, which it names relative to itself, and returns its path.
/// Throws UserError when it cannot be written.
std::string write_gtkw(const SaveFileRequest& request);

}  // namespace tandem::cosim
