// SPDX-License-Identifier: Apache-2.0
// Verilated requantisation for tests, built once per cache.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "cosim/requantise_unit.h"
#include "cosim/unit_builder.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {

/// Libraries stay loaded until the end of the test program.
inline std::shared_ptr<const cosim::UnitLibrary> requantise_library(
    const cosim::RequantiseShape& shape, const std::filesystem::path& rtl = source_dir() / "rtl") {
    const char* const cache = std::getenv("TANDEM_ARRAY_CACHE");
    cosim::BuildOptions options;
    options.shim_dir = source_dir() / "cosim";
    options.cache_dir = cache != nullptr ? cache : "array-cache";
    options.progress = [](std::string_view line) { std::cerr << line << '\n'; };
    static std::map<std::filesystem::path, std::shared_ptr<const cosim::UnitLibrary>> loaded;
    const auto file = cosim::ensure_unit(
        {rtl / "requantise.f", "tpu_requantise", {{"Cols", shape.cols}, {"Lanes", shape.lanes}}},
        options);
    auto& entry = loaded[file];
    if (!entry) entry = std::make_shared<const cosim::UnitLibrary>(file);
    return entry;
}

}  // namespace tandem::testbench
