// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/chip_sources.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "arch/chip_figures.h"
#include "base/yaml_section.h"

namespace tandem::benchmarks {

ChipSources sources_of(const std::filesystem::path& chip_file) {
    const YAML::Node file = base::load_yaml(chip_file);
    ChipSources sources;
    for (const arch::ChipFigure& figure : arch::chip_figures()) {
        if (!figure.is_hashed()) continue;
        const std::string section(figure.section()), key(figure.key());
        const YAML::Node parent = section.empty() ? file : file[section];
        // A section that is left out is a part that the chip does not have.
        if (!parent) continue;
        const YAML::Node node = parent[key];
        if (!node) {
            sources.defaulted.emplace_back(figure.path);
            continue;
        }
        const auto source = node["source"].as<std::string>();
        auto& keys = source == "derived"      ? sources.derived
                     : source == "assumed"    ? sources.assumed
                     : source == "calibrated" ? sources.calibrated
                                              : sources.published;
        keys.emplace_back(figure.path);
    }
    return sources;
}

std::string to_string(const ChipSources& sources) {
    return fmt::format("{} published, {} derived, {} assumed, {} calibrated",
                       sources.published.size(), sources.derived.size(), sources.assumed.size(),
                       sources.calibrated.size());
}

}  // namespace tandem::benchmarks
