// SPDX-License-Identifier: Apache-2.0
// The one place that knows which CPUs this build has.
#pragma once

#include <memory>

#include "systemc/host/host_config.h"
#include "systemc/host/host_cpu.h"
#include "systemc/host/host_ram.h"

namespace tandem::host {

/// Throws UserError for an unknown kind, or one that this build lacks.
std::unique_ptr<HostCpu> make_host_cpu(const char* name, const HostConfig& config, HostRam& memory);

}  // namespace tandem::host
