// SPDX-License-Identifier: Apache-2.0
// Tandem's SystemC modules: link tandem::systemc. C++17 or later, with the SystemC that the library
// was built with.
#ifndef TANDEM_SYSTEMC_H
#define TANDEM_SYSTEMC_H

#include "tandem/chip.h"
#include "tandem/host.h"
#include "tandem/parameters.h"

namespace tandem::api {

/// 1 fs, as all modules need it: a clock of 700 MHz has no whole number of picoseconds. First in
/// sc_main, before any sc_time, clock or module; the same as
/// sc_core::sc_set_time_resolution(1, sc_core::SC_FS). Throws std::runtime_error when SystemC has
/// fixed another resolution already.
void set_time_resolution();

}  // namespace tandem::api

#endif
