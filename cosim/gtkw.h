// SPDX-License-Identifier: Apache-2.0
// Save files for GTKWave: which signals to show, how, and where the marker stands.
#pragma once

#include <string>
#include <vector>

#include "cosim/divergence.h"
#include "systemc/mxu/mxu_engine.h"

namespace tandem::cosim {

/// Writes a .gtkw beside the waveform of a divergence and returns its path; empty when it cannot be
/// written. `model_units` are the scopes below "model" that were recorded.
std::string write_gtkw(const Divergence& divergence, mxu::MxuShape shape, uint64_t period_ps,
                       const std::vector<std::string>& model_units);

}  // namespace tandem::cosim
