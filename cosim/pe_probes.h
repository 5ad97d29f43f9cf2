// SPDX-License-Identifier: Apache-2.0
// Registers of PEs as signals of a waveform, in the scopes pe.rR_cC.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cosim/array_abi.h"
#include "cosim/injection.h"

namespace tandem::cosim {

class PeProbes {
  public:
    /// What registers PE(r, c) has.
    void add(const TandemPeRegisters& pe, arch::Dtype dtype, uint32_t r, uint32_t c);
    /// Valid as long as this object and the array live.
    const std::vector<TandemProbe>& list() const { return probes_; }

  private:
    std::deque<std::string> scopes_;
    std::vector<TandemProbe> probes_;
};

}  // namespace tandem::cosim
