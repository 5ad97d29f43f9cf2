// SPDX-License-Identifier: Apache-2.0
// tandem: the command line. One file per subcommand.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "base/error.h"
#include "jobs/version.h"
#include "tools/command.h"
#include "tools/option_tree.h"

int main(int argc, char** argv) {
    using namespace tandem;
    // SystemC's banner does not belong between a user and the answer.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    CLI::App app{
        "Tandem: one description of a TPU, as a SystemC model and as RTL, run side by side."};
    app.set_version_flag("--version", jobs::version_text,
                         "Show versions of Tandem and its tools and exit");
    app.add_flag_callback("--dump-options",
                          [&app] {
                              fmt::print("{}", tools::option_tree_text(app));
                              throw CLI::Success();
                          })
        ->group("");  // hidden: for scripts/completions and scripts/man_pages
    app.require_subcommand(1);
    app.footer(
        "Exit status: 0 good; 1 a mismatch or divergence; 2 a mistake in usage, configuration or "
        "model; 3 a fault of Tandem.");
    tools::Action action;
    tools::add_chips_command(app, action);
    tools::add_run_command(app, action);
    tools::add_compile_command(app, action);
    tools::add_disasm_command(app, action);
    tools::add_gemm_command(app, action);
    tools::add_verify_command(app, action);
    tools::add_rtl_command(app, action);
    try {
        app.parse(argc, argv);
        return action();
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? tools::kGood : tools::kUserError;
    } catch (const UserError& error) {
        fmt::print(stderr, "tandem: {}\n", error.what());
        return tools::kUserError;
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print(stderr, "tandem: {}\n", error.what());
        return tools::kUserError;
    } catch (const std::exception& error) {
        fmt::print(stderr, "tandem: internal fault: {}\n", error.what());
        return tools::kFault;
    }
}
