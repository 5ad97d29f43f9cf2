// SPDX-License-Identifier: Apache-2.0
// A run in a child process, so that a process can do as many as it likes.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run/run_result.h"

namespace tandem::run {

/// The result comes back without outputs, divergence and waves. `name` is for errors, which are
/// those of base::in_child.
RunResult run_apart(const std::string& name, const std::function<RunResult()>& run);

/// The same part of it.
void to_json(nlohmann::json& json, const RunResult& result);

}  // namespace tandem::run
