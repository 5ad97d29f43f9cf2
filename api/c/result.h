// SPDX-License-Identifier: Apache-2.0
// What a tandem_result is, and how it comes out of the child process that made it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/c/tensor.h"
#include "run/report.h"
#include "run/run.h"

struct tandem_result {
    std::string report, summary;
    std::vector<tandem::c_api::Tensor> outputs, layers;
};

namespace tandem::c_api {

/// What a child makes.
struct Answer {
    run::Verdict verdict = run::Verdict::kGood;
    std::string why;  ///< it is not good
    nlohmann::json report;
    std::string summary;
    std::vector<Tensor> outputs{}, layers{};
};

/// Of a run in the child: prints what the command line prints, and takes it as the answer's words.
Answer answer_of(const arch::ChipConfig& chip, const run::RunResult& result,
                 const run::RunReport& report);

/// Throws UserError for an injection that never came.
void require_injected(const run::RunOptions& options, const run::RunResult& result);

/// Does `work` in a child. A mismatch is told in `error` beside the result. Throws std::logic_error
/// for a verdict of fault.
tandem_status answer_apart(const std::string& name, double timeout_seconds,
                           const std::function<Answer()>& work, tandem_result** result,
                           char** error);

}  // namespace tandem::c_api
