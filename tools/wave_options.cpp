// SPDX-License-Identifier: Apache-2.0
// Options by which subcommands choose what to record.
#include <filesystem>

#include "tools/command.h"

namespace tandem::tools {

CLI::Option* add_wave_file_option(CLI::App& command, std::string& wave, const std::string& text) {
    const CLI::Validator file(
        [](std::string& name) {
            // A save file names it in a line of its own.
            const bool shows = name.find_first_of("\n\"") == std::string::npos;
            const std::string kind = std::filesystem::path(name).extension();
            const bool other = !kind.empty() && kind != ".fst" && kind != ".vcd";
            return name.empty() || other || !shows
                       ? "expected the name of an FST or a VCD (.fst, .vcd), found \"" + name + "\""
                       : std::string{};
        },
        "FST|VCD");
    return command.add_option("--wave", wave, text)->check(file);
}

void add_wave_options(CLI::App& command, run::WaveOptions& wave) {
    const CLI::Range cycle(uint64_t{0}, uint64_t{1'000'000'000'000});
    auto* path = add_wave_file_option(command, wave.path,
                                      "write a waveform (FST, or VCD where the name ends in .vcd) "
                                      "and a save file for GTKWave; backends rtl, tandem");
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
