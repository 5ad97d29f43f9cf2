// SPDX-License-Identifier: Apache-2.0
// Verilated arrays for tests: found in the cache of the build or built once.
#pragma once

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <tuple>

#include "cosim/array_builder.h"
#include "systemc/mxu/mxu_engine.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {

/// Libraries stay loaded until the end of the test program.
inline std::shared_ptr<cosim::ArrayLibrary> array_library(mxu::MxuShape shape) {
    static std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::shared_ptr<cosim::ArrayLibrary>>
        loaded;
    auto& entry = loaded[{shape.rows, shape.cols, shape.accumulator_rows}];
    if (!entry) {
        const char* const cache = std::getenv("TANDEM_ARRAY_CACHE");
        cosim::BuildOptions options;
        options.rtl_dir = source_dir() / "rtl";
        options.shim_dir = source_dir() / "cosim";
        options.cache_dir = cache != nullptr ? cache : "array-cache";
        options.progress = [](std::string_view line) { std::cerr << line << '\n'; };
        entry = std::make_shared<cosim::ArrayLibrary>(
            cosim::ensure_array({shape.rows, shape.cols, shape.accumulator_rows, "int8"}, options));
    }
    return entry;
}

}  // namespace tandem::testbench
