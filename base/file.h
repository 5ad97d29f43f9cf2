// SPDX-License-Identifier: Apache-2.0
// Whole files in, with errors that name the file. Out: base/output_file.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem::base {

/// Throws UserError when the file cannot be read.
std::vector<uint8_t> read_file(const std::filesystem::path& file);
/// The same, as text.
std::string read_text(const std::filesystem::path& file);

}  // namespace tandem::base
