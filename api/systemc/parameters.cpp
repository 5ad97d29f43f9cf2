// SPDX-License-Identifier: Apache-2.0
#include "tandem/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/systemc/parameter_scope.h"
#include "base/error.h"
#include "base/nearest.h"

namespace tandem {
namespace {

using api::Parameter;

struct Module {
    std::string name;
    std::vector<Parameter> parameters;
};

/// Of the process: modules come and go, presets stay.
struct Store {
    std::vector<Module> modules;
    std::map<std::string, std::string> presets;

    Module* find(const std::string& name) {
        const auto found = std::ranges::find(modules, name, &Module::name);
        return found == modules.end() ? nullptr : &*found;
    }
};

Store& store() {
    static Store store;
    return store;
}

bool is_of(const std::string& parameter, const std::string& module) {
    return parameter.starts_with(module + ".");
}

std::string line_of(const Parameter& parameter) {
    const std::string other =
        parameter.value == parameter.default_value ? "" : parameter.default_value;
    return fmt::format("{:<36}{:<18}{:<18}{:<22}{}\n", parameter.name, parameter.value, other,
                       parameter.unit, parameter.description);
}

}  // namespace

namespace api {

void Parameters::set_preset(const std::string& name, const std::string& value) {
    for (const Module& module : store().modules)
        if (is_of(name, module.name))
            throw UserError("parameter " + name + ": module " + module.name +
                            " exists already; set presets before it is constructed");
    store().presets[name] = value;
}

std::vector<Parameter> Parameters::list() const {
    std::vector<Parameter> all;
    for (const Module& module : store().modules)
        all.insert(all.end(), module.parameters.begin(), module.parameters.end());
    return all;
}

std::vector<std::string> Parameters::unused_presets() const {
    std::vector<std::string> unused;
    for (const auto& preset : store().presets) {
        const std::string& name = preset.first;
        if (std::ranges::none_of(store().modules,
                                 [&](const Module& module) { return is_of(name, module.name); }))
            unused.push_back(name);
    }
    return unused;
}

std::string Parameters::table() const {
    std::string text = line_of({"parameter", "value", "default", "unit", "description"});
    for (const Parameter& parameter : list()) text += line_of(parameter);
    return text;
}

Parameters& parameters() {
    static Parameters parameters;
    return parameters;
}

}  // namespace api

namespace modules {

ParameterScope::ParameterScope(std::string module) : module_(std::move(module)) {
    store().modules.push_back({module_, {}});
}

ParameterScope::~ParameterScope() {
    std::erase_if(store().modules, [&](const Module& module) { return module.name == module_; });
}

const std::string* ParameterScope::preset(const std::string& path) const {
    const auto found = store().presets.find(full_name(path));
    return found == store().presets.end() ? nullptr : &found->second;
}

void ParameterScope::add(const std::string& path, Parameter parameter) {
    parameter.name = full_name(path);
    parameter.is_preset = preset(path) != nullptr;
    store().find(module_)->parameters.push_back(std::move(parameter));
}

std::string ParameterScope::take(const std::string& path, const std::string& default_value,
                                 const std::string& unit, const std::string& description) {
    const std::string* const preset = this->preset(path);
    std::string value = preset != nullptr ? *preset : default_value;
    add(path, {{}, value, default_value, unit, description});
    return value;
}

void ParameterScope::refuse_unknown() const {
    std::vector<std::string> known;
    for (const Parameter& parameter : store().find(module_)->parameters)
        known.push_back(parameter.name);
    for (const auto& [name, value] : store().presets)
        if (is_of(name, module_) && std::ranges::find(known, name) == known.end())
            throw UserError("parameter " + name + ": " + module_ + " has none of that name" +
                            base::nearest_hint(name, known));
}

}  // namespace modules
}  // namespace tandem
