// SPDX-License-Identifier: Apache-2.0
#include "arch/vector_state.h"

#include <algorithm>

namespace tandem::arch {

namespace {

constexpr size_t kPerInstruction = 6;  ///< steps of set_chain, constants of set_constants

using Shape = std::array<uint32_t, kVectorAxes>;
using Steps = std::array<ChainStep, kPerInstruction>;
using Constants = std::array<uint32_t, kPerInstruction>;

Shape decoded(const isa::SetShape& op) { return {op.n0, op.n1, op.n2, op.n3, op.n4, op.n5}; }

Steps decoded(const isa::SetChain& op) {
    const auto step = [](uint8_t code, uint8_t dst, uint8_t x, uint8_t y, uint8_t z) {
        return ChainStep{static_cast<isa::ChainOp>(code), dst, x, y, z};
    };
    return {step(op.op0, op.dst0, op.x0, op.y0, op.z0), step(op.op1, op.dst1, op.x1, op.y1, op.z1),
            step(op.op2, op.dst2, op.x2, op.y2, op.z2), step(op.op3, op.dst3, op.x3, op.y3, op.z3),
            step(op.op4, op.dst4, op.x4, op.y4, op.z4), step(op.op5, op.dst5, op.x5, op.y5, op.z5)};
}

isa::Words encoded(const Shape& n) {
    return isa::SetShape{{}, n[0], n[1], n[2], n[3], n[4], n[5]}.encode();
}

isa::Words encoded(VectorOperand operand, const VectorView& view) {
    const auto& s = view.strides;
    return isa::SetView{{},
                        static_cast<uint8_t>(operand),
                        static_cast<uint8_t>(view.type),
                        s[0],
                        s[1],
                        s[2],
                        s[3],
                        s[4],
                        s[5]}
        .encode();
}

isa::Words encoded(const Taps& taps) {
    return isa::SetTaps{{},          taps.h.step, taps.h.tap,    taps.h.before, taps.h.size,
                        taps.w.step, taps.w.tap,  taps.w.before, taps.w.size,   taps.fill}
        .encode();
}

isa::Words encoded(const ChainStep* s, uint8_t first) {
    const auto code = [&](size_t i) { return static_cast<uint8_t>(s[i].op); };
    return isa::SetChain{{},       code(0),  s[0].dst, s[0].x,   s[0].y,  s[0].z,   code(1),
                         s[1].dst, s[1].x,   s[1].y,   s[1].z,   code(2), s[2].dst, s[2].x,
                         s[2].y,   s[2].z,   code(3),  s[3].dst, s[3].x,  s[3].y,   s[3].z,
                         code(4),  s[4].dst, s[4].x,   s[4].y,   s[4].z,  code(5),  s[5].dst,
                         s[5].x,   s[5].y,   s[5].z,   first}
        .encode();
}

isa::Words encoded(const uint32_t* k, uint8_t first) {
    return isa::SetConstants{{}, first, k[0], k[1], k[2], k[3], k[4], k[5]}.encode();
}

bool is_chain_op(isa::ChainOp op) {
    return std::ranges::find(isa::kChainOps, op, &isa::ChainOpInfo::op) != isa::kChainOps.end();
}

bool is_first(uint32_t first) { return first == 0 || first == kPerInstruction; }

}  // namespace

size_t VectorState::chain_length() const {
    const auto end = std::ranges::find(chain, isa::ChainOp::kNop, &ChainStep::op);
    return static_cast<size_t>(end - chain.begin());
}

bool VectorState::apply(const isa::Words& words) {
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kSetShape:
            shape = decoded(isa::SetShape::decode(words));
            return true;
        case isa::Opcode::kSetView: {
            const auto op = isa::SetView::decode(words);
            views[op.operand] = {static_cast<VectorType>(op.type % kVectorOperands),
                                 {op.s0, op.s1, op.s2, op.s3, op.s4, op.s5}};
            return true;
        }
        case isa::Opcode::kSetTaps: {
            const auto op = isa::SetTaps::decode(words);
            taps = {{op.step_h, op.tap_h, op.before_h, op.size_h},
                    {op.step_w, op.tap_w, op.before_w, op.size_w},
                    op.fill};
            return true;
        }
        case isa::Opcode::kSetChain: {
            const auto op = isa::SetChain::decode(words);
            if (op.first == 0) chain.fill({});
            std::ranges::copy(decoded(op), chain.begin() + (op.first == 0 ? 0 : kPerInstruction));
            return true;
        }
        case isa::Opcode::kSetConstants: {
            const auto op = isa::SetConstants::decode(words);
            std::ranges::copy(Constants{op.k0, op.k1, op.k2, op.k3, op.k4, op.k5},
                              constants.begin() + (op.first == 0 ? 0 : kPerInstruction));
            return true;
        }
        default:
            return false;
    }
}

bool VectorState::valid(const isa::Words& words) {
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kSetShape:
            return std::ranges::none_of(decoded(isa::SetShape::decode(words)),
                                        [](uint32_t extent) { return extent == 0; });
        case isa::Opcode::kSetView:
            return isa::SetView::decode(words).type <= static_cast<uint8_t>(VectorType::kFp32);
        case isa::Opcode::kSetTaps: {
            const auto op = isa::SetTaps::decode(words);
            return op.size_h != 0 && op.size_w != 0;
        }
        case isa::Opcode::kSetChain: {
            const auto op = isa::SetChain::decode(words);
            const Steps steps = decoded(op);
            return is_first(op.first) && std::ranges::all_of(steps, is_chain_op, &ChainStep::op);
        }
        case isa::Opcode::kSetConstants:
            return is_first(isa::SetConstants::decode(words).first);
        default:
            return true;
    }
}

ByteSpan VectorState::span(VectorOperand operand, uint32_t without, bool through_taps) const {
    const VectorView& of = view(operand);
    ByteSpan span{0, bytes_of(of.type)};
    // Six of them stay within 64 bits, and none of that size is inside any buffer.
    constexpr int64_t kMost = int64_t{1} << 59;
    const auto reach = [&](int64_t stride, int64_t extent) {
        const auto bytes = static_cast<__int128>(stride) * (extent - 1);
        (stride < 0 ? span.low : span.high) +=
            static_cast<int64_t>(std::clamp<__int128>(bytes, -kMost, kMost));
    };
    for (size_t axis = 0; axis < kVectorAxes; ++axis) {
        if ((without >> axis & 1) != 0) continue;
        if (!through_taps || axis == 0 || axis == 5)
            reach(of.strides[axis], shape[axis]);
        else if (axis < 3)
            reach(of.strides[axis], axis == 1 ? taps.h.size : taps.w.size);
    }
    return span;
}

std::vector<isa::Words> changes(const VectorState& from, const VectorState& to) {
    std::vector<isa::Words> result;
    if (from.shape != to.shape) result.push_back(encoded(to.shape));
    for (size_t i = 0; i < kVectorOperands; ++i)
        if (from.views[i] != to.views[i])
            result.push_back(encoded(static_cast<VectorOperand>(i), to.views[i]));
    if (from.taps != to.taps) result.push_back(encoded(to.taps));
    const auto same_half = [](const auto& a, const auto& b, size_t first) {
        const auto at = static_cast<ptrdiff_t>(first);
        return std::equal(a.begin() + at, a.begin() + at + kPerInstruction, b.begin() + at);
    };
    // Steps from 0 on take those from 6 on away.
    const bool first_steps = !same_half(from.chain, to.chain, 0);
    VectorState left = from;
    if (first_steps) {
        result.push_back(encoded(to.chain.data(), 0));
        left.apply(result.back());
    }
    for (const size_t half : {size_t{0}, kPerInstruction}) {
        if (half != 0 && !same_half(left.chain, to.chain, half))
            result.push_back(encoded(to.chain.data() + half, kPerInstruction));
        if (!same_half(from.constants, to.constants, half))
            result.push_back(encoded(to.constants.data() + half, static_cast<uint8_t>(half)));
    }
    return result;
}

}  // namespace tandem::arch
