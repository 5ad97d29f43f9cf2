// SPDX-License-Identifier: Apache-2.0
// Chains of the vector unit written as formulas: registers and places of constants are found here.
//
//   ChainBuilder f;
//   using enum isa::ChainOp;
//   return f.chain(f(kRound, f(kMulF, f(kToFloat, f.a()), f.constant(0.5f))));
//
// Two steps, or two constants, among the arguments of one call are named before it: their order is
// else the C++ compiler's.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "arch/vector_state.h"

namespace tandem::compiler {

/// As set_chain and set_constants take it; empty: r0 as it is.
struct Chain {
    std::vector<arch::ChainStep> steps;
    std::vector<uint32_t> constants;
};

/// Constants that the chain does not have stay as they are.
void set_chain(arch::VectorState& state, const Chain& chain);

class ChainBuilder {
  public:
    /// An element of an operand, a constant, or what a step makes.
    class Term {
        friend class ChainBuilder;
        explicit constexpr Term(uint32_t id) : id_(id) {}
        uint32_t id_;
    };

    static constexpr Term a() { return Term(0); }  ///< of reduce: what is reduced
    static constexpr Term b() { return Term(1); }
    static constexpr Term c() { return Term(2); }
    Term constant(int32_t value) { return bits(static_cast<uint32_t>(value)); }
    Term constant(float value) { return bits(std::bit_cast<uint32_t>(value)); }
    /// Throws std::logic_error if there are more than the unit holds.
    Term bits(uint32_t value);

    /// One step.
    Term operator()(isa::ChainOp op, Term x, Term y = a(), Term z = a());

    /// The steps made so far, with `result` in r0. Throws std::logic_error if they are more than a
    /// chain holds, or need more registers.
    Chain chain(Term result) const;

  private:
    struct Step {
        isa::ChainOp op;
        std::array<uint32_t, 3> sources;
        size_t count;  ///< of the sources that are read
    };
    bool read_from(uint32_t id, size_t step, uint32_t result) const;

    std::vector<Step> steps_;
    std::vector<uint32_t> constants_;
};

}  // namespace tandem::compiler
