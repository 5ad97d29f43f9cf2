// SPDX-License-Identifier: Apache-2.0
#include "tools/option_tree.h"

#include <map>
#include <string>

#include "arch/chip_config.h"
#include "run/paths.h"

namespace tandem::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const CLI::Option& option) {
    return option.get_positional() ? option.get_name(true) : option.get_name();
}

/// What a value is, on every subcommand that has the name.
const std::map<std::string, std::string> kCompletes = {
    {"--chip", "chip"},       {"--csv", "file"},     {"--dump", "folder"}, {"--expect", "file"},
    {"--input", "file"},      {"--json", "file"},    {"--labels", "file"}, {"--layers", "file"},
    {"--output", "file"},     {"--replay", "file"},  {"--rtl", "file"},    {"--trace", "file"},
    {"--rtl-timing", "file"}, {"--wave", "file"},    {"FILE", "file"},     {"MODEL", "file"},
    {"--coverage", "file"},   {"--vectors", "file"}, {"--junit", "file"},  {"NAME", "chip"},
};

/// What is between the braces of CLI11's "{a,b}".
Json choices_of(const std::string& check) {
    Json choices = Json::array();
    if (!check.starts_with('{')) return choices;
    for (const auto& word : CLI::detail::split(check.substr(1, check.find('}') - 1), ','))
        choices.push_back(word);
    return choices;
}

Json describe(const CLI::Option& option) {
    Json names = Json::array();
    if (option.get_positional()) names.push_back(option.get_name(true));
    for (const auto& name : option.get_snames()) names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) names.push_back("--" + name);
    // "TYPE", "TYPE:{a,b}", "TYPE:TYPE in [a - b]"
    const std::string type = option.get_type_name();
    const auto colon = type.find(':');
    const std::string check = colon == std::string::npos ? "" : type.substr(colon + 1);
    const auto range = check.find(" in ");
    Json needs = Json::array();
    for (const auto* other : option.get_needs()) needs.push_back(name_of(*other));
    const auto completes = kCompletes.find(names.back().get<std::string>());
    const bool flag = option.get_items_expected_max() == 0;
    return {{"names", names},
            {"positional", option.get_positional()},
            {"help", option.get_description()},
            {"type", flag ? "" : type.substr(0, colon)},
            {"choices", choices_of(check)},
            {"completes", flag || completes == kCompletes.end() ? "" : completes->second},
            {"range", range == std::string::npos ? "" : check.substr(range + 4)},
            {"default", flag ? "" : option.get_default_str()},
            {"required", option.get_required()},
            {"repeats", option.get_items_expected_max() > 1},
            {"needs", needs}};
}

}  // namespace

nlohmann::ordered_json option_tree(const CLI::App& app) {
    Json options = Json::array();
    for (const auto* option : app.get_options())
        if (!option->get_group().empty()) options.push_back(describe(*option));
    Json commands = Json::array();
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) commands.push_back(option_tree(*command));
    return {{"name", app.get_name()},
            {"help", app.get_description()},
            {"footer", app.get_footer()},
            {"options", options},
            {"commands", commands}};
}

std::string option_tree_text(const CLI::App& app) {
    Json tree = option_tree(app);
    tree["name"] = "tandem";
    tree["version"] = TANDEM_VERSION;
    tree["chips"] = arch::shipped_chips(run::chips_dir());
    return tree.dump(1) + "\n";
}

}  // namespace tandem::tools
