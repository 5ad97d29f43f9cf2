// SPDX-License-Identifier: Apache-2.0
// Files that are run or believed, such as libraries to be loaded: only what nobody but the
// effective user and root can change. Permission bits count; access control lists do not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tandem::base {

/// The folder without links, when it and all folders above it belong to the effective user or root
/// and can be written by nobody else. Folders above may be sticky (/tmp); a group that is the
/// owner's own may write. Throws UserError that names the folder, its owner and its mode.
std::filesystem::path trusted_folder(const std::filesystem::path& folder);

/// The path without links of a regular file, no link itself, in a trusted folder, under the same
/// rules. Throws UserError.
std::filesystem::path trusted_file(const std::filesystem::path& file);

/// What such a file in such a folder holds; the checks are made on what is read. Nothing: no file
/// is there. Throws UserError.
std::optional<std::string> read_trusted_file(const std::filesystem::path& file);

/// Makes what is missing of a path, for the effective user alone (mode 0700). Throws UserError.
void make_private_folders(const std::filesystem::path& folder);

/// A new file of mode 0600. Throws UserError.
void write_private_file(const std::filesystem::path& file, const std::string& content);

/// Where programs keep what they can make again: $XDG_CACHE_HOME, $HOME/.cache, or .cache in the
/// home folder of the effective user's account; a relative path does not count. Nothing: there is
/// none.
std::optional<std::filesystem::path> user_cache_folder();

}  // namespace tandem::base
