// SPDX-License-Identifier: Apache-2.0
// How float networks are computed, and how near their outputs have to be.
#include "tools/command.h"
#include "tools/one_of.h"

namespace tandem::tools {

void add_precision_option(CLI::App& command, std::string& precision) {
    command
        .add_option("--precision", precision,
                    "of float networks: bf16; fp32: six bf16 products for each; fp32x3: three")
        ->check(OneOf({"bf16", "fp32", "fp32x3"}))
        ->capture_default_str();
}

void add_tolerances(CLI::App& command, run::Tolerance& tolerance) {
    command
        .add_option("--tolerance", tolerance.of_largest,
                    "difference from --expect that float32 outputs may have, as a share of the "
                    "largest expected magnitude")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    const auto add = [&](const char* option, double& value, const char* text) {
        command
            .add_option_function<double>(
                option,
                [&tolerance, &value](double given) {
                    tolerance.is_of_each = true;
                    value = given;
                },
                text)
            ->check(CLI::Range(0.0, 1e30))
            ->excludes("--tolerance");
    };
    add("--rtol", tolerance.relative,
        "in place of --tolerance: difference of each value, as a share of what is expected");
    add("--atol", tolerance.absolute, "in place of --tolerance: difference of each value");
}

}  // namespace tandem::tools
