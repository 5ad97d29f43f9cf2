// SPDX-License-Identifier: Apache-2.0
#include "jobs/version.h"

#include "api/c/call.h"
#include "api/c/options.h"
#include "base/child.h"

extern "C" const char* tandem_version(void) { return TANDEM_VERSION; }

extern "C" uint32_t tandem_api_version(void) { return TANDEM_API_VERSION; }

extern "C" tandem_status tandem_build_info(char** text, char** error) {
    using namespace tandem;
    constexpr double kSecondsForVerilator = 10;
    return c_api::call(error, [&] {
        c_api::need(text, "text");
        *text = nullptr;
        *text = c_api::copy_of(base::in_child(
            {.name = "build info", .timeout_seconds = kSecondsForVerilator}, jobs::version_text));
        return TANDEM_GOOD;
    });
}
