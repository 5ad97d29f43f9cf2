// SPDX-License-Identifier: Apache-2.0
// What stands at the ports of a MAC array at one edge (rtl/README.md), owned; and as a line of
// text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/array_abi.h"
#include "engine/mxu_engine.h"

namespace tandem::cosim {

/// Data, addresses and flags stand at the ports whether their valid is high or not.
struct PortEdge {
    bool reset = false;                                     ///< rst_ni is low
    bool weight = false, activation = false, read = false;  ///< valids
    bool swap = false, accumulate = false;
    bool take = true;  ///< res_ready_i
    uint32_t address = 0, read_address = 0;
    std::vector<std::byte> weights;      ///< cols elements
    std::vector<std::byte> activations;  ///< rows elements

    friend bool operator==(const PortEdge&, const PortEdge&) = default;
};

/// All valids low, zeros everywhere.
PortEdge idle_edge(const engine::MxuShape& shape);

/// As the C interface takes it; points into `edge`.
TandemArrayPorts ports_of(const PortEdge& edge);

/// The inputs of an edge; data that no valid stands beside are zeros.
PortEdge edge_of(const TandemArrayPorts& ports, const engine::MxuShape& shape);

/// One line: "wgt 00ff act 0102@7 swap acc rd@3 hold reset"; a port whose valid is low has "~"
/// behind its name, and is left out where it is all zero. Elements are bytes in hexadecimal, as in
/// memory.
std::string to_text(const PortEdge& edge);
/// Throws UserError naming `where`.
PortEdge parse_port_edge(std::string_view line, const engine::MxuShape& shape,
                         const std::string& where);

}  // namespace tandem::cosim
