// SPDX-License-Identifier: Apache-2.0
// Where the elements of an operand lie: its axes, those that lie one behind the other taken
// together, and the walk over them. Addresses are bytes in the unified buffer.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "arch/vector_state.h"

namespace tandem::engine {

inline constexpr size_t kInnermost = arch::kVectorAxes - 1;
/// Axes whose places a window decides. Bit i of a mask of axes stands for axis i.
inline constexpr uint32_t kTapAxes = 0b011110;

using Extents = std::array<uint64_t, arch::kVectorAxes>;
using Strides = std::array<int64_t, arch::kVectorAxes>;
using Index = std::array<uint64_t, arch::kVectorAxes>;

Strides strides_of(const arch::VectorState& state, arch::VectorOperand operand);
/// The shape, with extents of 1 for `dropped` axes.
Extents extents_of(const arch::VectorState& state, uint32_t dropped = 0);

/// Makes the last axis of more than one element the innermost one, and takes those in front of it
/// into it as long as all operands have their elements one behind the other. Never takes axes of
/// `alone` together with any, nor reduced ones with others; `reduced` follows the axes.
void join_axes(Extents& extents, std::span<Strides> operands, uint32_t& reduced, uint32_t alone);

/// Some of a row of elements: places in the row, and the address of the first.
struct Part {
    uint64_t begin = 0, end = 0;
    int64_t at = 0;
};

class Lattice {
  public:
    struct Options {
        bool through_taps = false;
        uint32_t dropped = 0;  ///< axes along which there is one element only
        uint32_t reduced = 0;  ///< axes not to be taken together with others
    };
    Lattice(const arch::VectorState& state, arch::VectorOperand operand, uint64_t address,
            const Options& options);

    uint64_t extent(size_t axis) const { return extents_[axis]; }
    int64_t stride(size_t axis) const { return strides_[axis]; }
    /// After axes were taken together.
    uint32_t reduced() const { return reduced_; }

    /// Address of the element; false: the window has none there.
    bool find(const Index& index, int64_t& at) const;
    /// Those of `count` elements from `index` on along an axis that the window has: they lie side
    /// by side, pitch(axis) bytes apart.
    Part find_along(size_t axis, uint64_t count, Index index) const;
    int64_t pitch(size_t axis) const;
    /// The next index in row-major order along the axes of `axes`; false: there was none, it is
    /// zero again.
    bool advance(Index& index, uint32_t axes) const;

  private:
    Extents extents_;
    Strides strides_;
    int64_t address_;
    uint32_t reduced_;
    const arch::Taps* taps_;
};

/// `count` elements, `stride` bytes apart; this `rows` times, `pitch` bytes apart.
struct Run {
    bool inside;  ///< false: the window has none there
    int64_t at, stride;
    uint64_t count;
    uint64_t rows = 1;
    int64_t pitch = 0;
};

/// All elements of a lattice in row-major order, innermost axis by innermost axis.
class Runs {
  public:
    explicit Runs(const Lattice& lattice) : lattice_(lattice) { find(); }
    /// The next ones, at most `most`. Begins again after the last.
    Run next(uint64_t most);

  private:
    void find() { inside_ = lattice_.find(index_, at_); }

    Lattice lattice_;
    Index index_{};
    bool inside_ = true;
    int64_t at_ = 0;
};

}  // namespace tandem::engine
