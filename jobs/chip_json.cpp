// SPDX-License-Identifier: Apache-2.0
#include "jobs/chip_json.h"

#include <fmt/format.h>

#include "arch/chip_figures.h"
#include "arch/chip_modes.h"
#include "run/paths.h"

namespace tandem::jobs {
namespace {

using arch::ChipConfig;
using nlohmann::json;

/// Behind a key in JSON, where a number has no unit of its own.
std::string_view unit_suffix(base::Dimension dimension) {
    switch (dimension) {
        case base::Dimension::kBytes:
            return "_bytes";
        case base::Dimension::kBytesPerSecond:
            return "_bytes_per_second";
        case base::Dimension::kBytesPerCycle:
            return "_bytes_per_cycle";
        case base::Dimension::kHertz:
            return "_hz";
        case base::Dimension::kPicoseconds:
            return "_ps";
        case base::Dimension::kCycles:
            return "_cycles";
        case base::Dimension::kPercent:
            return "_percent";
        case base::Dimension::kOpsPerSecond:
            return "_ops_per_second";
        case base::Dimension::kOpsPerByte:
            return "_ops_per_byte";
        case base::Dimension::kPlain:
            break;
    }
    return "";
}

/// null: nothing published.
json figure_json(const arch::ChipFigure& figure, const ChipConfig& chip) {
    if (figure.is_flag()) return figure.value(chip) != 0;
    if (figure.is_text() || figure.is_dtype()) return figure.written(chip);
    const uint64_t value = figure.value(chip);
    return figure.is_only_compared() && value == 0 ? json() : json(value);
}

}  // namespace

json chip_json(const ChipConfig& chip) {
    json out;
    for (const arch::ChipFigure& figure : arch::chip_figures()) {
        json& section = figure.section().empty() ? out : out[std::string(figure.section())];
        const std::string key = fmt::format(
            "{}{}", figure.key(), figure.is_number() ? unit_suffix(figure.dimension) : "");
        section[key] = figure_json(figure, chip);
    }
    out["overrides"] = chip.overrides;
    out["defaulted"] = chip.defaulted;
    out["arrays"] = chip.arrays();
    out["peak_ops_per_second"] = chip.peak_ops_per_second();
    const auto int8 = arch::for_dtype(chip, arch::Dtype::kInt8);
    out["peak_int8_ops_per_second"] = int8 ? json(int8->peak_ops_per_second()) : json();
    out["ridge_ops_per_byte"] = chip.ridge_ops_per_byte();
    out["hash"] = fmt::format("{:016x}", chip.hash());
    return out;
}

json chips_json() {
    json chips = json::array();
    for (const auto& name : arch::shipped_chips(run::chips_dir()))
        chips.push_back(chip_json(arch::find_chip(name, run::chips_dir())));
    return chips;
}

}  // namespace tandem::jobs
