// SPDX-License-Identifier: Apache-2.0
// How the sockets inside of a module are bound: directly, or with something between them that looks
// at the transactions (a checker, a monitor).
#pragma once

#include <functional>
#include <tlm>

namespace tandem::sim {

using Connect = std::function<void(tlm::tlm_initiator_socket<>&, tlm::tlm_base_target_socket_b<>&)>;

/// An empty `connect` binds directly.
inline void bind_sockets(const Connect& connect, tlm::tlm_initiator_socket<>& initiator,
                         tlm::tlm_base_target_socket_b<>& target) {
    if (connect)
        connect(initiator, target);
    else
        initiator.bind(target);
}

}  // namespace tandem::sim
