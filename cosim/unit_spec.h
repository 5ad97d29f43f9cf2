// SPDX-License-Identifier: Apache-2.0
// Which unit: sources, top module and parameters; what its recipe in
// docs/recipes/add_an_rtl_unit.md asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tandem::cosim {

struct UnitSpec {
    std::filesystem::path filelist;  ///< paths in it are relative to its folder
    std::string top;                 ///< has clk_i and rst_ni among its ports
    std::vector<std::pair<std::string, uint32_t>> parameters;

    /// For file names: "tpu_requantise_16x8".
    std::string name() const;
    /// For progress and messages: "tpu_requantise, Cols 16, Lanes 8".
    std::string title() const;
};

}  // namespace tandem::cosim
