// SPDX-License-Identifier: Apache-2.0
#include "tools/usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace tandem::tools {
namespace {

using Words = std::vector<std::string>;

/// The innermost subcommand that was named.
const CLI::App& command_of(const CLI::App& app) {
    const CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return *command;
}

/// "tandem rtl build".
std::string name_of(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return parent == nullptr ? "tandem" : name_of(*parent) + " " + command.get_name();
}

Words subcommands_of(const CLI::App& command) {
    Words names;
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(sub->get_name());
    return names;
}

Words options_of(const CLI::App& command) {
    Words names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back(name);
    return names;
}

/// The first one that nobody took; empty: none.
std::string unknown_word(const CLI::App& app, const Words& words) {
    const Words left = app.remaining(true);
    const auto found = std::ranges::find_if(words, [&](const std::string& word) {
        return std::ranges::find(left, word) != left.end();
    });
    return found == words.end() ? std::string{} : *found;
}

/// "--backnd=tlm": "backnd".
std::string option_name(const std::string& word) {
    const std::string name = word.substr(word.find_first_not_of('-'));
    return name.substr(0, name.find('='));
}

}  // namespace

std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error,
                                 const Words& words) {
    const CLI::App& command = command_of(app);
    const std::string name = name_of(command), word = unknown_word(app, words);
    std::string what = error.what();
    if (word.find_first_not_of('-') != std::string::npos && word.starts_with('-')) {
        const auto meant = base::nearest(option_name(word), options_of(command));
        what = fmt::format("unknown option {}", word);
        if (meant) what += fmt::format(" (nearest: --{})", *meant);
    } else if (!word.empty()) {
        const Words subcommands = subcommands_of(command);
        what = subcommands.empty() ? fmt::format("unexpected word {}", word)
                                   : fmt::format("unknown subcommand {}{}", word,
                                                 base::nearest_hint(word, subcommands));
    }
    return fmt::format("{}: {}\nRun {} --help for more information.\n", name, what, name);
}

}  // namespace tandem::tools
