// SPDX-License-Identifier: Apache-2.0
#include "tools/command.h"
#include "tools/one_of.h"

#include <map>

namespace tandem::tools {

void add_plan_option(CLI::App& command, compiler::PlanMode& plan) {
    const std::map<std::string, compiler::PlanMode> modes{{"search", compiler::PlanMode::kSearch},
                                                          {"rules", compiler::PlanMode::kRules}};
    command
        .add_option_function<std::string>(
            "--plan", [&plan, modes](const std::string& name) { plan = modes.at(name); },
            "search: the best of many plans, by a closed-form cost; rules: fixed rules, on TPU v1 "
            "the program of 2015")
        ->check(OneOf({"search", "rules"}))
        ->default_str("search");
}

std::string plan_option(compiler::PlanMode plan) {
    return plan == compiler::PlanMode::kRules ? " --plan rules" : "";
}

}  // namespace tandem::tools
