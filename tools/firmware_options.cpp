// SPDX-License-Identifier: Apache-2.0
// Options of runs that are about the firmware more than about the chip.
#include <fmt/format.h>

#include "base/terminal.h"
#include "tools/command.h"
#include "tools/one_of.h"

namespace tandem::tools {

void add_level_options(CLI::App& command, run::RunOptions& options) {
    command
        .add_option("--level", options.level,
                    "at: approximately timed, with contention; lt: loosely timed, the same values "
                    "in less time, cycles are an estimate")
        ->check(OneOf({"at", "lt"}))
        ->capture_default_str();
    command
        .add_option("--quantum", options.quantum_ns,
                    fmt::format("--level lt: ns that chip and CPU run ahead of simulated time [{}]",
                                run::kQuantumNs))
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
}

void add_gdb_option(CLI::App& command, run::RunOptions& options) {
    command
        .add_option_function<uint16_t>(
            "--gdb",
            [&options](uint16_t port) {
                options.gdb = {.port = port,
                               .announce = [](std::string_view text) { base::tell("{}\n", text); }};
            },
            "before the firmware begins, wait for gdb-multiarch on this port of the loopback "
            "interface (0: one that is free)")
        ->type_name("PORT");
}

std::string level_option(const run::RunOptions& options) {
    if (options.level == "at") return {};
    return " --level " + options.level +
           (options.quantum_ns ? fmt::format(" --quantum {}", *options.quantum_ns) : "");
}

}  // namespace tandem::tools
