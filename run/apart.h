// SPDX-License-Identifier: Apache-2.0
// A run in a child process, so that a process can do as many as it likes.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run/run_result.h"

namespace tandem::run {

/// UserError and std::logic_error come back as they were; the result without outputs, divergence
/// and waves. The child ends when this process does. `name` is for errors.
RunResult run_apart(const std::string& name, const std::function<RunResult()>& run);

/// The same part of it.
void to_json(nlohmann::json& json, const RunResult& result);

}  // namespace tandem::run
