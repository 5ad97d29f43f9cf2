// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_lattice.h"

#include <algorithm>

namespace tandem::engine {
namespace {

bool contains(uint32_t mask, size_t axis) { return (mask >> axis & 1) != 0; }

/// -1: outside of the line.
int64_t place(const arch::TapLine& line, uint64_t output, uint64_t tap) {
    const int64_t at = static_cast<int64_t>(output) * line.step +
                       static_cast<int64_t>(tap) * line.tap - line.before;
    return at < line.size ? std::max<int64_t>(at, -1) : -1;
}

}  // namespace

Strides strides_of(const arch::VectorState& state, arch::VectorOperand operand) {
    Strides strides;
    std::ranges::copy(state.view(operand).strides, strides.begin());
    return strides;
}

Extents extents_of(const arch::VectorState& state, uint32_t dropped) {
    Extents extents;
    for (size_t axis = 0; axis < extents.size(); ++axis)
        extents[axis] = contains(dropped, axis) ? 1 : state.shape[axis];
    return extents;
}

void join_axes(Extents& extents, std::span<Strides> operands, uint32_t& reduced, uint32_t alone) {
    size_t axis = kInnermost;
    while (axis > 0 && extents[axis] == 1) --axis;
    if (contains(alone, axis)) return;
    if (axis != kInnermost) {
        std::swap(extents[axis], extents[kInnermost]);
        for (Strides& strides : operands) strides[kInnermost] = strides[axis];
        reduced &= ~(1u << kInnermost);
        reduced |= (reduced >> axis & 1) << kInnermost;
    }
    while (axis-- > 0) {
        if (extents[axis] == 1) continue;
        const auto follows = [&](const Strides& strides) {
            return static_cast<__int128>(strides[kInnermost]) * extents[kInnermost] ==
                   strides[axis];
        };
        uint64_t together = 0;
        if (contains(alone, axis) ||
            __builtin_mul_overflow(extents[kInnermost], extents[axis], &together) ||
            contains(reduced, axis) != contains(reduced, kInnermost) ||
            !std::ranges::all_of(operands, follows))
            return;
        extents[kInnermost] = together;
        extents[axis] = 1;
    }
}

Lattice::Lattice(const arch::VectorState& state, arch::VectorOperand operand, uint64_t address,
                 const Options& options)
    : extents_(extents_of(state, options.dropped)),
      strides_(strides_of(state, operand)),
      address_(static_cast<int64_t>(address)),
      reduced_(options.reduced),
      taps_(options.through_taps ? &state.taps : nullptr) {
    join_axes(extents_, {&strides_, 1}, reduced_, options.through_taps ? kTapAxes : 0);
}

bool Lattice::find(const Index& index, int64_t& at) const {
    const auto along = [&](size_t axis) {
        return static_cast<int64_t>(index[axis]) * strides_[axis];
    };
    at = address_ + along(0) + along(kInnermost);
    if (taps_ == nullptr) {
        at += along(1) + along(2) + along(3) + along(4);
        return true;
    }
    const int64_t h = place(taps_->h, index[1], index[3]), w = place(taps_->w, index[2], index[4]);
    at += h * strides_[1] + w * strides_[2];
    return h >= 0 && w >= 0;
}

Part Lattice::find_along(size_t axis, uint64_t count, Index index) const {
    Part part{0, count, 0};
    const uint64_t first = index[axis];
    // Few are outside, and those at the ends: steps and taps are not negative.
    while (part.begin < part.end && !find(index, part.at)) {
        ++part.begin;
        ++index[axis];
    }
    int64_t last = 0;
    if (taps_ != nullptr)
        for (; part.begin < part.end; --part.end) {
            index[axis] = first + part.end - 1;
            if (find(index, last)) break;
        }
    return part;
}

int64_t Lattice::pitch(size_t axis) const {
    if (taps_ == nullptr || (kTapAxes >> axis & 1) == 0) return strides_[axis];
    const bool h = axis == 1 || axis == 3;
    const arch::TapLine& line = h ? taps_->h : taps_->w;
    return (axis <= 2 ? line.step : line.tap) * strides_[h ? 1 : 2];
}

bool Lattice::advance(Index& index, uint32_t axes) const {
    for (size_t axis = arch::kVectorAxes; axis-- > 0;) {
        if (!contains(axes, axis)) continue;
        if (++index[axis] < extents_[axis]) return true;
        index[axis] = 0;
    }
    return false;
}

Run Runs::next(uint64_t most) {
    const uint64_t left = lattice_.extent(kInnermost) - index_[kInnermost];
    const uint64_t count = std::min(most, left);
    const Run run{inside_, at_, lattice_.stride(kInnermost), count};
    if (count < left) {
        index_[kInnermost] += count;
        at_ += static_cast<int64_t>(count) * run.stride;
    } else {
        index_[kInnermost] = 0;
        lattice_.advance(index_, (1u << kInnermost) - 1);
        find();
    }
    return run;
}

}  // namespace tandem::engine
