// SPDX-License-Identifier: Apache-2.0
// tandem chips: what is shipped, and its key figures, beside what is published about it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arch/chip_config.h"
#include "arch/chip_figures.h"
#include "arch/chip_modes.h"
#include "base/terminal.h"
#include "jobs/chip_json.h"
#include "run/paths.h"
#include "tools/chip_arguments.h"
#include "tools/command.h"

namespace tandem::tools {
namespace {

using arch::ChipConfig;

double giga(uint64_t number) { return static_cast<double>(number) / 1e9; }

void print_row(const ChipConfig& chip) {
    base::print("{:<16} {:>14} {:>9} {:>5} {:>8} {:>4} {:>7.0f} {:>10.2f} {:>9.1f} {:>9.0f}  {}\n",
                chip.name, fmt::format("{} x {}", chip.cores, chip.mxu.count),
                fmt::format("{}x{}", chip.mxu.rows, chip.mxu.cols), arch::to_string(chip.mxu.dtype),
                chip.mxu.pipeline, chip.mxu.sum4 ? "yes" : "no",
                static_cast<double>(chip.clock_hz) / 1e6, chip.peak_ops_per_second() / 1e12,
                giga(chip.memory.bytes_per_second), chip.ridge_ops_per_byte(), chip.description);
}

void list() {
    base::print("{:<16} {:>14} {:>9} {:>5} {:>8} {:>4} {:>7} {:>10} {:>9} {:>9}  {}\n", "name",
                "cores x arrays", "array", "dtype", "pipeline", "sum4", "MHz", "peak TOPS", "GB/s",
                "ops/byte", "description");
    for (const auto& name : arch::shipped_chips(run::chips_dir()))
        print_row(arch::find_chip(name, run::chips_dir()));
}

void line(std::string_view key, const std::string& value, std::string_view text = "") {
    base::print("{}\n", text.empty() ? fmt::format("  {:<30}{}", key, value)
                                     : fmt::format("  {:<30}{:<22}{}", key, value, text));
}

/// With a mark where neither file nor command line gives the figure.
void show_figures(const ChipConfig& chip) {
    for (const arch::ChipFigure& figure : arch::chip_figures()) {
        if (figure.is_text() || figure.is_only_compared()) continue;
        const bool left_out =
            std::ranges::find(chip.defaulted, figure.path) != chip.defaulted.end();
        line(figure.path, figure.written(chip) + (left_out ? " (default)" : ""), figure.text);
    }
}

/// What is published, in parentheses, or nothing.
std::string published_text(double figure, double unit, const char* name) {
    if (figure == 0) return "";
    return fmt::format(" (published: {} {})", figure / unit, name);
}

void show_totals(const ChipConfig& chip) {
    const auto& published = chip.published;
    line("peak", fmt::format("{:.3f} TOPS{}", chip.peak_ops_per_second() / 1e12,
                             published_text(published.peak_ops_per_second, 1e12, "TOPS")));
    const auto int8 = arch::for_dtype(chip, arch::Dtype::kInt8);
    const bool has_second = int8 && chip.mxu.dtype != arch::Dtype::kInt8;
    if (has_second)
        line("peak in int8",
             fmt::format("{:.3f} TOPS{}, as arrays of {}x{}", int8->peak_ops_per_second() / 1e12,
                         published_text(published.peak_int8_ops_per_second, 1e12, "TOPS"),
                         int8->mxu.rows, int8->mxu.cols));
    line("memory bandwidth",
         fmt::format("{:.1f} GB/s{}", giga(chip.memory.bytes_per_second),
                     published_text(published.memory_bytes_per_second, 1e9, "GB/s")));
    line("ridge point", fmt::format("{:.1f} ops/byte{}", chip.ridge_ops_per_byte(),
                                    published_text(published.ridge_ops_per_byte, 1, "ops/byte")));
    line("hash", fmt::format("{:016x}", chip.hash()));
    if (has_second) line("hash in int8", fmt::format("{:016x}", int8->hash()));
    base::print(
        "\nA multiply-accumulate counts as two operations. Sources of all figures stand in the "
        "chip file.\n");
}

void show(const ChipConfig& chip) {
    base::print("{}: {}\n\n", chip.name, chip.description);
    show_figures(chip);
    base::print("\n");
    show_totals(chip);
}

struct ChipsArguments {
    ChipArguments chip;
    bool as_json = false, figures = false;
};

int run(const ChipsArguments& a) {
    const bool named = a.chip.named("NAME");
    if (a.figures)
        base::print("{}", arch::chip_figures_markdown());
    else if (!named && !a.as_json)
        list();
    else if (!named)
        base::print_text(run::json_text(jobs::chips_json()));
    else if (const auto chip = a.chip.load(); a.as_json)
        base::print_text(run::json_text(jobs::chip_json(chip)));
    else
        show(chip);
    return kGood;
}

}  // namespace

void add_chips_command(CLI::App& app, Action& action) {
    auto* command = app.add_subcommand("chips", "Chips that are shipped, and their key figures");
    auto a = std::make_shared<ChipsArguments>();
    command->add_option("NAME", a->chip.chip, "one chip in full: a name or a file");
    a->chip.add_set_to(*command);
    command->add_flag("--json", a->as_json, "print all figures as JSON");
    command->add_flag("--figures", a->figures,
                      "print what a chip file and --set may say, with units, ranges and defaults");
    command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tandem::tools
