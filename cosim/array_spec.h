// SPDX-License-Identifier: Apache-2.0
// Which array: its RTL and the parameters of that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "arch/dtype.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// RTL that is not Tandem's own: a top module with the ports of rtl/README.md.
struct OtherRtl {
    std::filesystem::path filelist;  ///< paths in it are relative to its folder
    std::string top;
};

inline constexpr uint32_t kLargestSide = 256;  ///< most rows, most columns

/// Parameters of one array; see rtl/README.md for their ranges.
struct ArraySpec {
    unsigned rows;
    unsigned cols;
    unsigned acc_depth;  ///< accumulator rows
    arch::Dtype dtype = arch::Dtype::kInt8;
    std::string form = "flat";  ///< flat, grid
    unsigned pipeline = 1;      ///< PEs between two pipeline registers
    bool sum4 = false;
    std::optional<OtherRtl> other = {};
    /// The latencies with which the checker of the port contract stands beside the array; none: it
    /// does not.
    std::optional<engine::MxuTiming> contract = {};
};

/// Throws UserError naming the first parameter that is out of range.
void check(const ArraySpec& spec);

/// The top module.
std::string top_of(const ArraySpec& spec);

/// For file names: "tpu_mxu_bf16_grid_k4_16x16x256".
std::string name_of(const ArraySpec& spec);

/// For progress and messages: "16 x 16 bf16 grid, pipeline 4 array".
std::string title_of(const ArraySpec& spec);

}  // namespace tandem::cosim
