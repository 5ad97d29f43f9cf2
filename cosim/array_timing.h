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
#include "cosim/size_formula.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

struct ArrayDeclaration {
    std::string file;
    std::string name;
    SizeFormula commit_latency, weight_interval, weight_latency;  ///< edges
    std::vector<arch::Dtype> dtypes;

    /// Throws UserError when the array is not made for this type, or a latency is not a number from
    /// 1 to kMostEdges.
    engine::MxuTiming timing(const engine::MxuShape& shape) const;

    static constexpr int64_t kMostEdges = 65536;  ///< of a latency
};

/// Throws UserError naming file, key, what was expected and what was found.
ArrayDeclaration read_declaration(const std::filesystem::path& file);

/// Loads a tile, lets one row through the empty array and compares what it takes with what is
/// declared (shape.declared). Throws UserError when they differ.
void check_declaration(const ArrayLibrary& library, const engine::MxuShape& shape,
                       const ArrayDeclaration& declaration);

}  // namespace tandem::cosim
