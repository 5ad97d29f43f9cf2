// SPDX-License-Identifier: Apache-2.0
// --inject, and how a run ends that was asked for one.
#include "base/error.h"
#include "base/process.h"
#include "tools/command.h"

namespace tandem::tools {

void add_inject_option(CLI::App& command, std::string& inject, const std::string& what) {
    const CLI::Validator given(
        [](std::string& text) {
            return text.empty()
                       ? std::string("expected pe[R][C].psum:bitB@cycle=T or seed=N, found nothing")
                       : std::string{};
        },
        "");
    command.add_option("--inject", inject, what)->check(given);
}

void add_junit_option(CLI::App& command, std::string& file) {
    command.add_option("--junit", file,
                       "write what was checked to this file, as JUnit XML for CI servers");
}

std::string inject_option(const std::string& inject) {
    return inject.empty() ? "" : " --inject " + base::shell_word(inject);
}

int conclude_run(const arch::ChipConfig& chip, const run::RunResult& result,
                 const run::RunReport& report, const std::string& json, const std::string& inject) {
    const int status = exit_status(run::conclude(chip, result, report, json));
    if (!inject.empty() && !result.injected && result.completed())
        throw UserError("--inject", "cycle",
                        "a cycle in which the array is used, counted from the start of the program",
                        inject + ", which was not reached");
    return status;
}

}  // namespace tandem::tools
