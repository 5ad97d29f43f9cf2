// SPDX-License-Identifier: Apache-2.0
// Save files for GTKWave: which signals to show, how, and where to put the marker.
#pragma once

#include <string>

#include "arch/chip_config.h"
#include "tools/session.h"

namespace tandem::tools {

/// Writes a .gtkw beside the waveform of the run's divergence and returns its path.
std::string write_gtkw(const SessionResult& result, const arch::ChipConfig& chip);

}  // namespace tandem::tools
