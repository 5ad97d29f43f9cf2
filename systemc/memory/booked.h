// SPDX-License-Identifier: Apache-2.0
// A transaction that books its time instead of taking it at once: the target
// fills in the booking. Ignorable, as TLM-2.0 wants extensions: who does not
// book adds to the delay.
#pragma once

#include <cstdint>
#include <tlm>

#include "systemc/memory/booking.h"

namespace tandem::sim {

struct Booked : tlm::tlm_extension<Booked> {
    uint32_t turn = 0;    ///< among the requests of the same instant
    bool urgent = false;  ///< goes before those that wait: instruction fetches,
                          ///< which are small
    /// Of the transfer, whose payload is TLM_IGNORE where only time is taken.
    uint64_t bytes = 0;
    bool write = false;
    /// From the first byte to the last: more or less than the length where a
    /// transfer has strides.
    uint64_t extent = 0;
    Booking booking;

    tlm_extension_base* clone() const override { return new Booked; }
    void copy_from(const tlm_extension_base&) override {}
};

}  // namespace tandem::sim
