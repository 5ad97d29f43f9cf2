// SPDX-License-Identifier: Apache-2.0
#include "cosim/pe_probes.h"

#include <fmt/format.h>

namespace tandem::cosim {

void PeProbes::add(const TandemPeRegisters& pe, arch::Dtype dtype, uint32_t r, uint32_t c) {
    const char* scope = scopes_.emplace_back(fmt::format("pe.r{}_c{}", r, c)).c_str();
    const auto add = [&](const char* name, const void* place, PeRegister which) {
        if (place != nullptr) probes_.push_back({scope, name, place, bits_of(which, dtype)});
    };
    add("activation", pe.activation, PeRegister::kActivation);
    add("weight", pe.weight, PeRegister::kWeight);
    add("shadow", pe.shadow, PeRegister::kShadow);
    add("psum", pe.psum, PeRegister::kPsum);
    add("swap", pe.swap, PeRegister::kSwap);
    add("load", pe.load, PeRegister::kLoad);
}

}  // namespace tandem::cosim
