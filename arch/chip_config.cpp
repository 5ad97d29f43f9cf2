// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "arch/chip_figures.h"
#include "arch/chip_reader.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/nearest.h"

namespace tandem::arch {

uint64_t ChipConfig::cycles_in(uint64_t picoseconds) const {
    constexpr uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
    const auto product = static_cast<unsigned __int128>(picoseconds) * clock_hz;
    return static_cast<uint64_t>((product + kPicosecondsPerSecond - 1) / kPicosecondsPerSecond);
}

double ChipConfig::peak_ops_per_second() const {
    return 2.0 * arrays() * mxu.rows * mxu.cols * static_cast<double>(clock_hz);
}

double ChipConfig::ridge_ops_per_byte() const {
    return peak_ops_per_second() / static_cast<double>(memory.bytes_per_second);
}

uint64_t ChipConfig::hash() const {
    base::Fnv64 hash;
    // By path, so that the order of the table does not matter.
    std::map<std::string_view, uint64_t> figures;
    for (const ChipFigure& figure : chip_figures())
        // A chip that leaves a figure out keeps its hash when the figure comes into being.
        if (figure.is_hashed() && !figure.has_default_value(*this))
            figures[figure.path] = figure.value(*this);
    for (const auto& [path, value] : figures) {
        hash.add(path);
        hash.add(value);
    }
    return hash.value();
}

ChipConfig load_chip(const std::filesystem::path& file, const std::vector<std::string>& sets) {
    return read_chip(file, sets);
}

std::vector<std::string> shipped_chips(const std::filesystem::path& chips_dir) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(chips_dir))
        if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
    std::sort(names.begin(), names.end());
    return names;
}

ChipConfig find_chip(const std::string& name_or_file, const std::filesystem::path& chips_dir,
                     const std::vector<std::string>& sets) {
    const bool is_file =
        name_or_file.ends_with(".yaml") || name_or_file.find('/') != std::string::npos;
    if (is_file) return load_chip(name_or_file, sets);
    const auto file = chips_dir / (name_or_file + ".yaml");
    if (std::filesystem::exists(file)) return load_chip(file, sets);
    const auto names = shipped_chips(chips_dir);
    throw UserError("--chip", "name",
                    fmt::format("a chip file (*.yaml) or one of {}", fmt::join(names, ", ")),
                    name_or_file + base::nearest_hint(name_or_file, names));
}

}  // namespace tandem::arch
