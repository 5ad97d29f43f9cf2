// SPDX-License-Identifier: Apache-2.0
// The command line describing itself: one source for shell completion and manual pages.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace tandem::tools {

/// {"name", "help", "footer", "options": [...], "commands": [the same, nested]}. An option has
/// "names" (of a positional one: its name), "positional", "help", "type" ("" of a flag), "choices",
/// "completes" ("file", "folder", "chip", or ""), "range" ("" or as CLI11 words it), "default",
/// "required", "repeats" (takes several values), "needs" (names). Hidden options are left out.
nlohmann::ordered_json option_tree(const CLI::App& app);

/// The same for a program that completes or documents: indented, with the names of the shipped
/// chips ("chips").
std::string option_tree_text(const CLI::App& app);

}  // namespace tandem::tools
