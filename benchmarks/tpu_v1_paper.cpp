// SPDX-License-Identifier: Apache-2.0
// The six applications of ISCA 2017 on the model of TPU v1, beside what the paper prints.
//
//   tpu_v1_paper --markdown docs/validation.md --svg docs/images
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <systemc>

#include "base/error.h"
#include "benchmarks/tpu_v1/report.h"
#include "run/paths.h"
#include "tools/command.h"
#include "tools/output_files.h"

// The library's main() is not used, but it refers to this.
int sc_main(int, char*[]) { return 0; }

namespace {

using namespace tandem;

constexpr const char* kCommand =
    "build/release/benchmarks/tpu_v1_paper --markdown docs/validation.md --svg docs/images";

struct Arguments {
    std::string json, markdown, svg;
    bool check = false;
    std::string picture() const { return svg.empty() ? "" : svg + "/tpu_v1_roofline.svg"; }
};

void write(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    std::ofstream file(path, std::ios::binary);
    if (!(file << text << std::flush)) throw UserError(path + " cannot be written");
}

int compare(const Arguments& a) {
    tools::check_output_files(
        {{"--json", a.json}, {"--markdown", a.markdown}, {"--svg", a.picture()}}, {});
    const auto start = std::chrono::steady_clock::now();
    const auto comparison =
        tpu_v1::compare(run::chips_dir() / "tpu_v1.yaml",
                        tpu_v1::load_applications(run::data_dir() / "models" / "applications"));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string page = tpu_v1::page(comparison, kCommand);
    auto json = tpu_v1::to_json(comparison);
    json["wall_seconds"] = seconds;
    write(a.json, json.dump(2) + "\n");
    write(a.markdown, page);
    write(a.picture(), tpu_v1::roofline_svg(comparison));
    fmt::print("{}\n", page);
    fmt::print("{} variants of {} applications: {:.1f} s. Within all bounds: {}\n",
               1 + comparison.chip_variants.size() + comparison.workload_variants.size(),
               tpu_v1::kApplications, seconds, comparison.passes() ? "yes" : "NO");
    return a.check && !comparison.passes() ? tools::kMismatch : tools::kGood;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "The six applications of the TPU v1 paper (ISCA 2017) on the model, beside what is printed "
        "of them."};
    Arguments a;
    app.add_option("--json", a.json, "write all figures to this file");
    app.add_option("--markdown", a.markdown, "write the page to this file");
    app.add_option("--svg", a.svg, "write the roofline to this folder")
        ->check(CLI::ExistingDirectory);
    app.add_flag("--check", a.check, "exit with 1 if a bound is missed");
    try {
        app.parse(argc, argv);
        return compare(a);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? tools::kGood : tools::kUserError;
    } catch (const UserError& error) {
        fmt::print(stderr, "tpu_v1_paper: {}\n", error.what());
        return tools::kUserError;
    } catch (const std::exception& error) {
        fmt::print(stderr, "tpu_v1_paper: internal fault: {}\n", error.what());
        return tools::kFault;
    }
}
