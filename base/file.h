// SPDX-License-Identifier: Apache-2.0
// Whole files in and out, with errors that name the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tandem::base {

/// Throws UserError when the file cannot be read.
std::vector<uint8_t> read_file(const std::filesystem::path& file);

/// Throws UserError when the file cannot be written completely.
void write_file(const std::filesystem::path& file, const std::vector<uint8_t>& bytes);

}  // namespace tandem::base
