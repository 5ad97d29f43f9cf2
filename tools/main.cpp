// SPDX-License-Identifier: Apache-2.0
// tandem: the command line. One file per subcommand.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>

#include "base/error.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "jobs/version.h"
#include "tools/command.h"
#include "tools/option_tree.h"
#include "tools/usage.h"

namespace tandem::tools {
namespace {

/// SystemC passes on the text alone of what a process throws.
bool is_out_of_memory(const std::exception& error) {
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
           std::string_view(error.what()).find("std::bad_alloc") != std::string_view::npos;
}

/// What the work throws, told and as an exit status.
template <class Work>
int guarded(Work work) {
    try {
        return work();
    } catch (const UserError& error) {
        base::tell("tandem: {}\n", error.what());
        return kUserError;
    } catch (const std::filesystem::filesystem_error& error) {
        base::tell("tandem: {}\n", error.what());
        return kUserError;
    } catch (const std::exception& error) {
        if (is_out_of_memory(error)) {
            base::tell("tandem: not enough memory for this run{}\n", base::memory_limit_text());
            return kUserError;
        }
        base::tell("tandem: internal fault: {}\n", error.what());
        return kFault;
    }
}

}  // namespace
}  // namespace tandem::tools

int main(int argc, char** argv) {
    using namespace tandem;
    base::hold_standard_streams();
    std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is a full disk, not the run's end
    // SystemC's banner does not belong between a user and the answer.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    CLI::App app{
        "Tandem: one description of a TPU, as a SystemC model and as RTL, run side by side."};
    app.set_version_flag("--version", jobs::version_text,
                         "Show versions of Tandem and its tools and exit");
    app.add_flag_callback("--dump-options",
                          [&app] {
                              base::print_text(tools::option_tree_text(app));
                              throw CLI::Success();
                          })
        ->group("");  // hidden: for scripts/completions and scripts/man_pages
    app.require_subcommand(1);
    app.footer(
        "Exit status: 0 good; 1 a mismatch or divergence; 2 a mistake in usage, configuration or "
        "model, or something asked for that could not be written or reached; 3 a fault of Tandem.");
    tools::Action action;
    tools::add_chips_command(app, action);
    tools::add_run_command(app, action);
    tools::add_compile_command(app, action);
    tools::add_disasm_command(app, action);
    tools::add_gemm_command(app, action);
    tools::add_verify_command(app, action);
    tools::add_rtl_command(app, action);
    const int status = tools::guarded([&] {
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            if (error.get_exit_code() == 0) return app.exit(error);
            base::tell_text(tools::describe_usage_error(app, error, {argv + 1, argv + argc}));
            return tools::kUserError;
        }
        return action();
    });
    const std::string lost = base::output_is_lost();
    if (lost.empty()) return status;
    base::tell("tandem: standard output: cannot be written: {}\n", lost);
    return status == tools::kFault ? status : tools::kUserError;
}
