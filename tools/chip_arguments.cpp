// SPDX-License-Identifier: Apache-2.0
#include "tools/chip_arguments.h"

#include "base/error.h"
#include "run/paths.h"

namespace tandem::tools {
namespace {

/// For a shell: "memory.bandwidth=1200 GB/s" has a blank.
std::string quoted(const std::string& text) {
    const bool plain = text.find_first_of(" \t'\"\\$*?&|;<>()#~`!{}[]") == std::string::npos;
    if (plain) return text;
    std::string inside;
    for (const char c : text) inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "'" + inside + "'";
}

}  // namespace

void ChipArguments::add_to(CLI::App& command, const std::string& what) {
    auto* option = command.add_option("--chip", chip, what);
    if (!chip.empty()) option->capture_default_str();
    add_set_to(command);
}

void ChipArguments::add_set_to(CLI::App& command) {
    command
        .add_option("--set", sets,
                    "KEY=VALUE: a figure of the chip, as in a chip file (mxu.count=2, "
                    "clock=1.05GHz); may stand several times")
        ->allow_extra_args(false);  // what follows the value is the subcommand's
}

bool ChipArguments::named(const std::string& how) const {
    if (chip.empty() && !sets.empty())
        throw UserError("--set", sets.front(), how + ": the chip whose figure it is", "no chip");
    return !chip.empty();
}

arch::ChipConfig ChipArguments::load() const {
    return arch::find_chip(chip, run::chips_dir(), sets);
}

std::string ChipArguments::to_string() const {
    if (chip.empty()) return {};
    std::string text = " --chip " + chip;
    for (const std::string& set : sets) text += " --set " + quoted(set);
    return text;
}

}  // namespace tandem::tools
