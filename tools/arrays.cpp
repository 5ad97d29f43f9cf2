// SPDX-License-Identifier: Apache-2.0
#include "tools/arrays.h"

#include <fmt/format.h>

#include "arch/error.h"
#include "cosim/array_builder.h"
#include "tools/paths.h"

namespace tandem::tools {

std::shared_ptr<cosim::ArrayLibrary> load_array(const arch::ChipConfig& chip) {
    return load_array(chip.mxu.rows, chip.mxu.cols, chip.mxu.accumulator_rows);
}

std::shared_ptr<cosim::ArrayLibrary> load_array(uint32_t rows, uint32_t cols,
                                                uint32_t accumulator_rows) {
    cosim::BuildOptions options;
    options.rtl_dir = source_dir() / "rtl";
    options.shim_dir = source_dir() / "cosim";
    options.cache_dir = array_cache_dir();
    options.progress = [](std::string_view text) { fmt::print(stderr, "rtl: {}\n", text); };
    try {
        return std::make_shared<cosim::ArrayLibrary>(
            cosim::ensure_array({rows, cols, accumulator_rows, "int8"}, options));
    } catch (const UserError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw UserError(error.what());
    }
}

}  // namespace tandem::tools
