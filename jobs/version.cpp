// SPDX-License-Identifier: Apache-2.0
#include "jobs/version.h"

#include <fmt/format.h>

#include <chrono>
#include <systemc>

#include "base/process.h"
#include "jobs/commit.h"

namespace tandem::jobs {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

std::string verilator() {
    std::string text =
        base::output_of({"verilator", "--version"}, std::chrono::seconds(10)).value_or("");
    text = text.substr(0, text.find('\n'));
    constexpr std::string_view name = "Verilator ";
    if (text.starts_with(name)) text.erase(0, name.size());
    return text.empty() ? "not found" : text;
}

}  // namespace

std::string version_text() {
    return fmt::format(
        "tandem {}\n"
        "commit     {}\n"
        "compiler   {}\n"
        "Verilator  {}\n"
        "SystemC    {}",
        TANDEM_VERSION, TANDEM_COMMIT, kCompiler, verilator(), sc_core::sc_release());
}

}  // namespace tandem::jobs
