// SPDX-License-Identifier: Apache-2.0
// Other people's tables of layers, in the folder that the environment variable TANDEM_SHAPES names
// (docs/workloads.md).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace tandem::benchmarks {

/// Nothing when TANDEM_SHAPES is not set or names no folder. In continuous integration (CI=true)
/// that is a mistake: throws UserError.
inline std::optional<std::filesystem::path> shape_tables() {
    const char* const folder = std::getenv("TANDEM_SHAPES");
    if (folder != nullptr && std::filesystem::is_directory(folder)) return folder;
    const char* const ci = std::getenv("CI");
    if (ci != nullptr && std::string_view(ci) == "true")
        throw UserError("TANDEM_SHAPES", "value", "the folder of the tables (docs/workloads.md)",
                        folder == nullptr ? "nothing" : folder);
    return std::nullopt;
}

}  // namespace tandem::benchmarks
