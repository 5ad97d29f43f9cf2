// SPDX-License-Identifier: Apache-2.0
// A host without CPU and firmware: memory that the chip reads and writes, and the initiator that
// its registers need.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <span>
#include <systemc>

#include "systemc/memory/byte_store.h"

namespace tandem::run {

class DirectHost : public sc_core::sc_module {
  public:
    tlm_utils::simple_target_socket<DirectHost> in{"in"};
    tlm_utils::simple_initiator_socket<DirectHost> registers{"registers"};

    /// Memory at bus addresses from `base`; without bytes every access anywhere is fine.
    DirectHost(sc_core::sc_module_name name, uint64_t base, uint64_t bytes);

    uint64_t base() const { return base_; }
    /// Empty for a memory without bytes.
    std::span<uint8_t> bytes() {
        return store_ == nullptr ? std::span<uint8_t>{} : store_->bytes();
    }

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    const uint64_t base_;
    std::unique_ptr<sim::ByteStore> store_;
};

}  // namespace tandem::run
