// SPDX-License-Identifier: Apache-2.0
// A waveform on the disk: an FST, or a VCD made of one where its name ends in .vcd.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cosim/array_library.h"

namespace tandem::cosim {

/// "scope.scope.name" -> bits.
using WaveSignals = std::map<std::string, uint32_t>;

/// False: the waveform ends in the middle of a block, as when the disk was full.
bool fst_is_complete(const std::string& path);

/// What was recorded as an FST under base::part_of(path) takes its place. False: it is not whole,
/// or cannot; then nothing is left of it.
bool finish_wave(const ArrayLibrary& library, const std::string& path);

/// What a waveform has; empty: it cannot be read.
WaveSignals wave_signals(const ArrayLibrary& library, const std::string& path);

}  // namespace tandem::cosim
