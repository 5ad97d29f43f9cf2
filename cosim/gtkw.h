// SPDX-License-Identifier: Apache-2.0
// Save files for GTKWave: which signals to show, how, and where the marker stands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cosim/pe_oracle.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

struct SaveFileRequest {
    std::string wave;                ///< the FST
    uint64_t period_fs = 1'000'000;  ///< of the clock: edge n stands at n * period
    engine::Cycle marker = 0;
    engine::MxuShape shape;
    std::optional<PeMismatch> wrong_pe;    ///< shown first, with what was expected of it
    bool all_pes = false;                  ///< every PE was recorded, not only the wrong one's row
                                           ///< and column
    std::vector<std::string> model_units;  ///< scopes below "model" that were recorded
    std::string float_filter;              ///< program that GTKWave asks for bf16 and fp32 values
};

/// PEs to both sides of the wrong one that are recorded with it.
inline constexpr uint32_t kPeReach = 2;
/// Arrays of up to this many PEs are recorded whole.
inline constexpr uint32_t kMostRecordedPes = 256;

/// Writes a .gtkw beside the waveform and returns its path. Throws UserError when it cannot be
/// written.
std::string write_gtkw(const SaveFileRequest& request);

/// False: the waveform ends in the middle of a block, as when the disk was full.
bool fst_is_complete(const std::string& path);

}  // namespace tandem::cosim
