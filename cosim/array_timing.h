// SPDX-License-Identifier: Apache-2.0
// What an array that is not Tandem's own declares about itself: its latencies, as formulas of its
// size. Everything else is the port contract of rtl/README.md. The format of the file is in
// docs/recipes/bring_your_own_rtl.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/dtype.h"
#include "cosim/array_library.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// constant + per_row * rows + per_col * cols + per_log2_row * ceil(log2(rows)) + ...
struct LatencyFormula {
    int64_t constant = 0, per_row = 0, per_col = 0, per_log2_row = 0, per_log2_col = 0;
    int64_t value(uint32_t rows, uint32_t cols) const;
};

struct ArrayDeclaration {
    std::string file;
    std::string name;
    LatencyFormula commit_latency;
    engine::Cycle weight_interval = 1, weight_latency = 1;
    std::vector<arch::Dtype> dtypes;

    /// Throws UserError when the array is not made for this type, or a latency is not positive.
    engine::MxuTiming timing(const engine::MxuShape& shape) const;
};

/// Throws UserError naming file, key, what was expected and what was found.
ArrayDeclaration read_declaration(const std::filesystem::path& file);

/// Loads a tile, lets one row through the empty array and compares what it takes with what is
/// declared (shape.declared). Throws UserError when they differ.
void check_declaration(const ArrayLibrary& library, const engine::MxuShape& shape,
                       const ArrayDeclaration& declaration);

}  // namespace tandem::cosim
