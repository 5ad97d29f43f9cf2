// SPDX-License-Identifier: Apache-2.0
// Options by which subcommands choose what to record.
#include "tools/command.h"

namespace tandem::tools {

void add_wave_options(CLI::App& command, run::WaveOptions& wave) {
    const CLI::Validator file(
        [](std::string& text) {
            if (text.ends_with(".vcd"))
                return "expected the name of an FST (fst2vcd makes a VCD of it), found \"" + text +
                       "\"";
            // A save file names it in a line of its own.
            const bool shows = text.find_first_of("\n\"") == std::string::npos;
            return text.empty() || text.ends_with(".gtkw") || !shows
                       ? "expected the name of an FST, found \"" + text + "\""
                       : std::string{};
        },
        "FST");
    const CLI::Range cycle(uint64_t{0}, uint64_t{1'000'000'000'000});
    auto* path = command.add_option(
        "--wave", wave.path,
        "write a waveform (FST) and a save file for GTKWave; backends rtl, tandem");
    path->check(file);
    command
        .add_option(
            "--wave-from", wave.from,
            "first cycle of it, counted from the start of the program (default: the run's first)")
        ->check(cycle)
        ->needs(path);
    command
        .add_option(
            "--wave-to", wave.to,
            "last cycle of it, counted from the start of the program (default: the run's last)")
        ->check(cycle)
        ->needs(path);
    command
        .add_option("--wave-at", wave.at,
                    "only while this source node runs (number, name or operator, as in the "
                    "report), or \"instruction N\"; its first time")
        ->needs(path);
    command.add_option("--wave-limit", wave.limit_mb, "MB before which recording ends")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}))
        ->capture_default_str()
        ->needs(path);
}

}  // namespace tandem::tools
