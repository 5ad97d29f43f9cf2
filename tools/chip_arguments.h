// SPDX-License-Identifier: Apache-2.0
// --chip and --set, the same for every subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "arch/chip_config.h"

namespace tandem::tools {

struct ChipArguments {
    std::string chip;                    ///< name or file; empty: none is named
    std::vector<std::string> sets = {};  ///< "mxu.count=2"

    /// --chip with `chip` as its default, and --set.
    void add_to(CLI::App& command,
                const std::string& what = "name of a shipped chip, or a chip file");
    /// --set alone, for a subcommand that names its chip otherwise.
    void add_set_to(CLI::App& command);

    /// Refuses changes of a chip that is not named; `how` says how to name one.
    bool named(const std::string& how = "--chip") const;
    arch::ChipConfig load() const;
    /// As on a command line, with a leading blank; empty when no chip is named.
    std::string to_string() const;
};

}  // namespace tandem::tools
