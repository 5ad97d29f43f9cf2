// SPDX-License-Identifier: Apache-2.0
// A stream at the ports with what the port contract makes of it, as a file for $readmemh: for
// benches in other simulators (rtl/checks/tpu_vector_bench.sv, which says what its words are).
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "cosim/port_edge.h"

namespace tandem::cosim {

/// A word of sizes, then one for every edge; the array begins after an edge in reset. Reads that
/// are the caller's fault do not happen. `comment`: one line. Throws UserError when the file cannot
/// be written.
void write_port_vectors(const std::filesystem::path& file, const engine::MxuShape& shape,
                        std::span<const PortEdge> edges, const std::string& comment);

}  // namespace tandem::cosim
