// SPDX-License-Identifier: Apache-2.0
// The waveform of a stream that passed, from its first edge to its last one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cosim/gtkw.h"
#include "cosim/port_bench.h"
#include "run/arrays.h"

namespace tandem::jobs {

/// Where files of a failure go.
struct WavePlace {
    std::string folder;  ///< "": the current one
    std::string file{};  ///< of the wave, in place of the folder and a name; empty: not named

    std::string place(const std::string& name) const {
        return (std::filesystem::path(folder) / name).string();
    }
    std::string wave(const std::string& otherwise) const { return file.empty() ? otherwise : file; }
};

/// The random stream of a seed, of about `edges` edges, on the RTL. False: the wave cannot be
/// written.
bool record_random_stream(const run::LoadedArray& array, uint64_t seed, engine::Cycle edges,
                          const std::string& wave);
/// A stream at the ports. False: the wave cannot be written.
bool record_port_stream(const run::LoadedArray& array, const cosim::PortStream& stream,
                        const std::string& wave);

/// Save file of a waveform of this array; `found`: shown first; null: nothing is wrong. Throws
/// UserError when it cannot be written.
std::string show_wave(const run::LoadedArray& array, const std::string& wave,
                      const cosim::Divergence* found);

}  // namespace tandem::jobs
