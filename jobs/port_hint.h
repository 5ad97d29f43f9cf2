// SPDX-License-Identifier: Apache-2.0
// Why ports of an array are wrong: the stream once more, past its first wrong port, with a witness
// (cosim/hint.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "cosim/divergence.h"
#include "cosim/port_bench.h"
#include "run/arrays.h"

namespace tandem::jobs {

/// What stands at the ports at the next edge.
using NextEdge = std::function<cosim::PortEdge(const cosim::PortBench&)>;

/// Sets `hint` and `difference` of a wrong port. `initial`: seed of the registers.
void explain_port(const run::LoadedArray& array, uint64_t initial, const NextEdge& next,
                  const cosim::PortMismatch& found, cosim::Divergence& divergence);

}  // namespace tandem::jobs
