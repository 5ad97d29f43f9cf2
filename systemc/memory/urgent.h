// SPDX-License-Identifier: Apache-2.0
// Marks a transaction that a memory serves before those that wait: instruction fetches, which are
// small and would else wait behind whole weight tiles. Ignorable, as TLM-2.0 wants extensions.
#pragma once

#include <tlm>

namespace tandem::sim {

struct Urgent : tlm::tlm_extension<Urgent> {
    tlm_extension_base* clone() const override { return new Urgent; }
    void copy_from(const tlm_extension_base&) override {}
};

}  // namespace tandem::sim
