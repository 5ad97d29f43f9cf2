// SPDX-License-Identifier: Apache-2.0
#include "run/job_failure.h"

#include <fmt/format.h>

#include <cstring>

#include "arch/generated/register_table.h"

namespace tandem::run {

std::string failure_of(const firmware::Job& job, const std::string& fault, uint32_t runs) {
    if (!fault.empty()) return "host CPU: " + fault;
    if (job.status == 0 && job.runs_done == runs) return {};
    const std::string message(job.message, strnlen(job.message, sizeof job.message));
    return fmt::format("firmware: {} (stage {}; device error {}: {}; at {} of core {})", message,
                       job.stage, job.error_code,
                       arch::describe(static_cast<arch::DeviceError>(job.error_code)),
                       job.error_info, job.error_core);
}

}  // namespace tandem::run
