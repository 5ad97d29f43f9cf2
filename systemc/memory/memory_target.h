// SPDX-License-Identifier: Apache-2.0
// TLM-2.0 face of a ByteStore: blocking, debug and direct access, bounds checked.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <systemc>
#include <tlm>

#include "systemc/memory/booked.h"
#include "systemc/memory/byte_store.h"

namespace tandem::sim {

class MemoryTarget : public sc_core::sc_module {
  public:
    /// Any number of initiators; addresses start at 0.
    tlm_utils::multi_passthrough_target_socket<MemoryTarget> memory_in;

    MemoryTarget(sc_core::sc_module_name name, uint64_t bytes);

    ByteStore& store() { return store_; }
    uint64_t bytes_read() const { return bytes_read_; }
    uint64_t bytes_written() const { return bytes_written_; }

  protected:
    /// Time that an access takes, beyond the delay it comes with. Default: none.
    virtual sc_core::sc_time access_time(const PathRequest&) { return sc_core::SC_ZERO_TIME; }
    /// The same for an access that is booked.
    virtual Booking book(const PathRequest&, uint32_t /*turn*/) { return {}; }

  private:
    bool in_range(const tlm::tlm_generic_payload& transaction) const;
    void count(const tlm::tlm_generic_payload& transaction);
    void b_transport(int id, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport(int id, tlm::tlm_generic_payload& transaction,
                                    tlm::tlm_phase& phase, sc_core::sc_time& delay);
    unsigned transport_dbg(int id, tlm::tlm_generic_payload& transaction);
    bool get_direct_mem_ptr(int id, tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi);

    ByteStore store_;
    uint64_t bytes_read_ = 0;
    uint64_t bytes_written_ = 0;
};

}  // namespace tandem::sim
