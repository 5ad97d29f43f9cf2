// SPDX-License-Identifier: Apache-2.0
#include "tools/chip_arguments.h"

#include "base/error.h"
#include "base/process.h"
#include "run/paths.h"

namespace tandem::tools {
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
    std::string text = " --chip " + base::shell_word(chip);
    for (const std::string& set : sets) text += " --set " + base::shell_word(set);
    return text;
}

}  // namespace tandem::tools
