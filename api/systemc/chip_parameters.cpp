// SPDX-License-Identifier: Apache-2.0
#include "api/systemc/chip_parameters.h"

#include "arch/chip_figures.h"
#include "base/error.h"
#include "run/paths.h"

namespace tandem::modules {
namespace {

bool is_parameter(const arch::ChipFigure& figure) {
    return !figure.is_text() && !figure.is_only_compared();
}

/// The reader of chips knows changes as the option of the command line.
[[noreturn]] void throw_as_parameter(const ParameterScope& scope, const std::string& text) {
    const std::string option = "--set: ";
    if (!text.starts_with(option)) throw UserError(text);
    throw UserError("parameter " + scope.full_name(text.substr(option.size())));
}

}  // namespace

arch::ChipConfig chip_with_presets(ParameterScope& scope, const std::string& name_or_file) {
    std::vector<std::string> sets;
    for (const arch::ChipFigure& figure : arch::chip_figures()) {
        const std::string path(figure.path);
        const std::string* const preset = is_parameter(figure) ? scope.preset(path) : nullptr;
        if (preset != nullptr) sets.push_back(path + "=" + *preset);
    }
    const arch::ChipConfig as_shipped = arch::find_chip(name_or_file, run::chips_dir());
    arch::ChipConfig chip;
    try {
        chip = arch::find_chip(name_or_file, run::chips_dir(), sets);
    } catch (const UserError& error) {
        throw_as_parameter(scope, error.what());
    }
    for (const arch::ChipFigure& figure : arch::chip_figures())
        if (is_parameter(figure))
            scope.add(std::string(figure.path),
                      {{},
                       figure.written(chip),
                       figure.written(as_shipped),
                       figure.is_number() ? base::unit_names(figure.dimension) : "",
                       std::string(figure.text)});
    return chip;
}

}  // namespace tandem::modules
