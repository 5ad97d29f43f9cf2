// SPDX-License-Identifier: Apache-2.0
// The tables of TANDEM_SHAPES as the study of plans takes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/import/tables/layers.h"

namespace tandem::benchmarks {

struct PublicTables {
    std::vector<tables::Workload> tables;  ///< by name; layers repeat at most twice
    std::vector<std::string> unreadable;   ///< why, for each of them
};

/// Throws UserError without TANDEM_SHAPES.
PublicTables load_public_tables();

/// The folder; throws UserError where the variable is not set.
std::filesystem::path shapes_dir();

/// The layers of lists that are not chained, each as a list of its own; equal ones once.
std::vector<tables::Workload> single_kernels(const std::vector<tables::Workload>& tables);

}  // namespace tandem::benchmarks
