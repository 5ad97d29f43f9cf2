// SPDX-License-Identifier: Apache-2.0
#include "api/c/call.h"
#include "api/c/options.h"
#include "base/child.h"
#include "jobs/chip_json.h"

using namespace tandem;

extern "C" tandem_status tandem_chip_figures(const tandem_chip* chip, char** json, char** error) {
    return c_api::call(error, [&] {
        c_api::need(json, "json");
        *json = nullptr;
        const base::NoFork here;
        const auto figures =
            chip == nullptr ? jobs::chips_json() : jobs::chip_json(c_api::chip_of(chip).config);
        *json = c_api::copy_of(figures.dump(2));
        return TANDEM_GOOD;
    });
}
