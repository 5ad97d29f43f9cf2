// SPDX-License-Identifier: Apache-2.0
// Verilated arrays for tests: found in the cache of the build or built once.
#pragma once

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cosim/array_builder.h"
#include "cosim/array_library.h"
#include "testbench/support/shapes.h"
#include "testbench/support/source_tree.h"

namespace tandem::testbench {

/// Libraries stay loaded until the end of the test program.
inline std::shared_ptr<cosim::ArrayLibrary> array_library(const engine::MxuShape& shape,
                                                          const std::string& form = "flat") {
    static std::map<std::string, std::shared_ptr<cosim::ArrayLibrary>> loaded;
    cosim::ArraySpec spec{shape.rows, shape.cols, shape.accumulator_rows};
    spec.dtype = shape.dtype;
    spec.form = form;
    spec.pipeline = shape.pipeline;
    spec.sum4 = shape.sum4;
    auto& entry = loaded[name_of(shape) + form + std::to_string(shape.accumulator_rows)];
    if (!entry) {
        const char* const cache = std::getenv("TANDEM_ARRAY_CACHE");
        cosim::BuildOptions options;
        options.rtl_dir = source_dir() / "rtl";
        options.shim_dir = source_dir() / "cosim";
        options.cache_dir = cache != nullptr ? cache : "array-cache";
        options.progress = [](std::string_view line) { std::cerr << line << '\n'; };
        entry = std::make_shared<cosim::ArrayLibrary>(cosim::ensure_array(spec, options));
    }
    return entry;
}

}  // namespace tandem::testbench
