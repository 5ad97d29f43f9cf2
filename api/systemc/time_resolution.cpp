// SPDX-License-Identifier: Apache-2.0
#include "systemc/kernel/resolution.h"
#include "tandem/systemc.h"

namespace tandem::api {

void set_time_resolution() { sim::require_femtoseconds(); }

}  // namespace tandem::api
