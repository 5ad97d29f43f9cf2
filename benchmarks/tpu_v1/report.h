// SPDX-License-Identifier: Apache-2.0
// The comparison as a page, as JSON and as a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "benchmarks/chip_sources.h"
#include "benchmarks/tpu_v1/baselines.h"
#include "benchmarks/tpu_v1/counters.h"
#include "benchmarks/tpu_v1/markdown.h"
#include "benchmarks/tpu_v1/sensitivity.h"

namespace tandem::tpu_v1 {

struct Comparison {
    arch::ChipConfig chip;
    benchmarks::ChipSources sources;
    Measurements shipped;   ///< the program of 2015
    Measurements searched;  ///< today's program
    Estimates roofline, napkin;
    struct Varied {
        std::string name;
        Measurements measurements;
    };
    std::vector<Varied> chip_variants, workload_variants;

    /// A variant that the text refers to; throws std::logic_error for a name that is none.
    const Measurements& with_chip(const std::string& name) const;
    bool passes() const { return within_bounds(shipped); }
};

/// `chip_file` is what the chip was read from.
Comparison compare(const std::filesystem::path& chip_file, const Workloads& workloads);

/// The whole page. `command` wrote it.
std::string page(const Comparison& comparison, const std::string& command);

// Its parts, each with its heading.
std::string counters_section(const Comparison& comparison);
std::string baselines_section(const Comparison& comparison);
std::string freedom_section(const Comparison& comparison);
std::string tiles_section(const Comparison& comparison);
std::string roofline_section(const Comparison& comparison);
std::string buffer_section(const Comparison& comparison);
std::string host_section(const Comparison& comparison);
std::string rates_section(const Comparison& comparison);
std::string paper_section(const Comparison& comparison);
std::string sync_section(const Comparison& comparison);
std::string sensitivity_section(const Comparison& comparison);

nlohmann::json to_json(const Comparison& comparison);
std::string roofline_svg(const Comparison& comparison);

/// A table with the six applications as columns; rows by name and one cell each.
Table application_table(const std::string& corner);
template <typename Cell>
void add_row(Table& table, const std::string& name, const Cell& cell) {
    std::vector<std::string> row{name};
    for (size_t i = 0; i < kApplications; ++i) row.push_back(cell(i));
    table.add(std::move(row));
}

/// One decimal; nothing stands for "not printed".
std::string decimal(double number);
std::string pass_or_fail(bool pass);

}  // namespace tandem::tpu_v1
