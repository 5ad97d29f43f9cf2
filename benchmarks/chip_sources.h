// SPDX-License-Identifier: Apache-2.0
// Where the figures of a chip file come from, counted: how free a model of that chip was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::benchmarks {

/// Keys of a chip file's figures ("memory.latency"), in the order of arch::chip_figures(). Texts
/// and what is only compared are left out.
struct ChipSources {
    std::vector<std::string> published;   ///< a publication says it
    std::vector<std::string> derived;     ///< follows from published figures
    std::vector<std::string> assumed;     ///< nobody says it
    std::vector<std::string> calibrated;  ///< chosen so that a published result comes out
    std::vector<std::string> defaulted;   ///< not in the file

    size_t figures() const {
        return published.size() + derived.size() + assumed.size() + calibrated.size();
    }
};

/// Counts the sources named in a chip file that arch::load_chip() takes.
ChipSources sources_of(const std::filesystem::path& chip_file);

/// "8 published, 1 derived, 5 assumed, 1 calibrated".
std::string to_string(const ChipSources& sources);

}  // namespace tandem::benchmarks
