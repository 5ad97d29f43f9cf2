// SPDX-License-Identifier: Apache-2.0
// Other people's tables of layers, in the folder that the environment variable TANDEM_SHAPES names.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace tandem::testbench {

/// Empty when TANDEM_SHAPES is not set or names no folder.
inline std::filesystem::path shapes_folder() {
    const char* const folder = std::getenv("TANDEM_SHAPES");
    if (folder == nullptr || !std::filesystem::is_directory(folder)) return {};
    return folder;
}

/// True in continuous integration, where missing tables are a failure.
inline bool shapes_are_required() {
    const char* const ci = std::getenv("CI");
    return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace tandem::testbench

/// Skips the test, saying so, where there are no tables; fails it in continuous integration.
#define TANDEM_NEEDS_SHAPES()                                                            \
    do {                                                                                 \
        if (tandem::testbench::shapes_folder().empty()) {                                \
            if (tandem::testbench::shapes_are_required())                                \
                FAIL() << "TANDEM_SHAPES does not name the folder of the tables";        \
            GTEST_SKIP() << "NOT TESTED: set TANDEM_SHAPES to the folder of the tables"; \
        }                                                                                \
    } while (false)
