// SPDX-License-Identifier: Apache-2.0
// A chip from what a file says and what a command line changes, by the table of figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "arch/chip_config.h"

namespace tandem::arch {

/// `sets` are texts such as "mxu.count=2"; each takes the place of what the file says, or adds to
/// it. Throws UserError naming the file or "--set".
ChipConfig read_chip(const std::filesystem::path& file, const std::vector<std::string>& sets);

}  // namespace tandem::arch
