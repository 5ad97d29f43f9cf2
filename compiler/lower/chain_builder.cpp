// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/chain_builder.h"

#include <algorithm>
#include <stdexcept>

namespace tandem::compiler {

namespace {

constexpr uint32_t kRegisters = arch::kFirstConstant;
/// Terms: registers as they begin, constants, then steps.
constexpr uint32_t kFirstStep = kRegisters + arch::kChainConstants;

size_t sources_of(isa::ChainOp op) {
    return std::ranges::find(isa::kChainOps, op, &isa::ChainOpInfo::op)->sources;
}

}  // namespace

void set_chain(arch::VectorState& state, const Chain& chain) {
    state.chain.fill({});
    std::ranges::copy(chain.steps, state.chain.begin());
    std::ranges::copy(chain.constants, state.constants.begin());
}

ChainBuilder::Term ChainBuilder::bits(uint32_t value) {
    const auto found = std::ranges::find(constants_, value);
    const auto index = static_cast<uint32_t>(found - constants_.begin());
    if (found == constants_.end()) constants_.push_back(value);
    if (constants_.size() > arch::kChainConstants)
        throw std::logic_error("a chain with too many constants");
    return Term(kRegisters + index);
}

ChainBuilder::Term ChainBuilder::operator()(isa::ChainOp op, Term x, Term y, Term z) {
    steps_.push_back({op, {x.id_, y.id_, z.id_}, sources_of(op)});
    return Term(kFirstStep + static_cast<uint32_t>(steps_.size()) - 1);
}

/// Whether a step from `step` on, or the result, needs the term.
bool ChainBuilder::read_from(uint32_t id, size_t step, uint32_t result) const {
    if (id == result) return true;
    return std::any_of(steps_.begin() + static_cast<ptrdiff_t>(step), steps_.end(),
                       [&](const Step& s) {
                           const auto end = s.sources.begin() + static_cast<ptrdiff_t>(s.count);
                           return std::find(s.sources.begin(), end, id) != end;
                       });
}

Chain ChainBuilder::chain(Term result) const {
    Chain chain;
    chain.constants = constants_;
    std::array<uint32_t, kRegisters> held{0, 1, 2, 3};
    const auto place = [&](uint32_t id) {
        if (id >= kRegisters && id < kFirstStep) return static_cast<uint8_t>(id);
        const auto found = std::ranges::find(held, id);
        return static_cast<uint8_t>(found - held.begin());
    };
    for (size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        std::array<uint8_t, 3> from{};
        for (size_t s = 0; s < step.count; ++s) from[s] = place(step.sources[s]);
        const auto free = std::ranges::find_if(
            held, [&](uint32_t id) { return !read_from(id, i + 1, result.id_); });
        if (free == held.end()) throw std::logic_error("a chain that needs too many registers");
        *free = kFirstStep + static_cast<uint32_t>(i);
        chain.steps.push_back(
            {step.op, static_cast<uint8_t>(free - held.begin()), from[0], from[1], from[2]});
    }
    if (const uint8_t at = place(result.id_); at != 0)
        chain.steps.push_back({isa::ChainOp::kCopy, 0, at, 0, 0});
    if (chain.steps.size() > arch::kChainSteps)
        throw std::logic_error("a chain with too many steps");
    return chain;
}

}  // namespace tandem::compiler
