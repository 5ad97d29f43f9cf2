// SPDX-License-Identifier: Apache-2.0
#include "systemc/kernel/resolution.h"

#include <cmath>
#include <string>

#include "base/error.h"

namespace tandem::sim {
namespace {

/// False: it was set before, or an sc_time has fixed it.
bool set_femtoseconds() {
    const auto actions = sc_core::sc_report_handler::set_actions(
        sc_core::SC_ID_SET_TIME_RESOLUTION_, sc_core::SC_THROW);
    bool set = true;
    try {
        sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    } catch (const sc_core::sc_report&) {
        set = false;
    }
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_SET_TIME_RESOLUTION_, actions);
    return set;
}

}  // namespace

void require_femtoseconds() {
    static const bool done = [] {
        if (set_femtoseconds()) return true;
        const sc_core::sc_time resolution = sc_core::sc_get_time_resolution();
        if (std::llround(resolution.to_seconds() * 1e15) == 1) return true;
        throw UserError("SystemC's time resolution: expected 1 fs, found " +
                        resolution.to_string() +
                        "; call sc_core::sc_set_time_resolution(1, sc_core::SC_FS) first in "
                        "sc_main, before the first sc_time, clock or module");
    }();
    (void)done;
}

}  // namespace tandem::sim
