// SPDX-License-Identifier: Apache-2.0
// Compiled once per Verilated model, in one unit with it: PROBE_MODEL is its class, PROBE_FACTORY
// the function of bf16_probe.h that makes it.
#include "testbench/numerics/bf16_probe.h"

namespace tandem::testbench {
namespace {

class Probe : public Bf16Probe {
  public:
    Outputs evaluate(const Inputs& in) override {
        model_.product_a_i = in.product_a;
        model_.product_b_i = in.product_b;
        model_.sum_a_i = in.sum_a;
        model_.sum_b_i = in.sum_b;
        model_.sum4_valid_i = in.sum4 != nullptr;
        if (in.sum4 != nullptr) {
            model_.sum4_a_i = (*in.sum4)[0];
            model_.sum4_b_i = (*in.sum4)[1];
            model_.sum4_c_i = (*in.sum4)[2];
            model_.sum4_d_i = (*in.sum4)[3];
        }
        model_.eval();
        return {model_.product_o, model_.sum_o, model_.sum4_o};
    }

  private:
    VerilatedContext context_;
    PROBE_MODEL model_{&context_};
};

}  // namespace

std::unique_ptr<Bf16Probe> PROBE_FACTORY() { return std::make_unique<Probe>(); }

}  // namespace tandem::testbench
