// SPDX-License-Identifier: Apache-2.0
// The Verilated functions of rtl/tpu_bf16_pkg.sv.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace tandem::testbench {

class Bf16Probe {
  public:
    struct Inputs {
        uint16_t product_a, product_b;
        uint32_t sum_a, sum_b;
        const std::array<uint32_t, 4>* sum4 = nullptr;  ///< null: not computed
    };
    struct Outputs {
        uint32_t product, sum, sum4;
    };
    virtual ~Bf16Probe() = default;
    virtual Outputs evaluate(const Inputs& in) = 0;
};

/// The text that Verilator compiles into the arrays.
std::unique_ptr<Bf16Probe> make_simulation_probe();
/// The text that synthesis reads: SYNTHESIS is defined, VERILATOR is not.
std::unique_ptr<Bf16Probe> make_synthesis_probe();

}  // namespace tandem::testbench
