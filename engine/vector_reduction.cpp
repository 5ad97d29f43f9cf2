// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_reduction.h"

#include <algorithm>
#include <cmath>

#include "engine/chain_arithmetic.h"

namespace tandem::engine {
namespace {

using arch::VectorOperand;
using isa::ChainOp;

constexpr uint32_t kOuterAxes = (1u << kInnermost) - 1;

ChainOp fold_of(ReduceKind kind, bool floats) {
    switch (kind) {
        case ReduceKind::kSum:
            return floats ? ChainOp::kAddF : ChainOp::kAddI;
        case ReduceKind::kSmallest:
            return floats ? ChainOp::kMinF : ChainOp::kMinI;
        default:
            return floats ? ChainOp::kMaxF : ChainOp::kMaxI;
    }
}

/// What is left when there is no element.
uint32_t identity_of(ReduceKind kind, bool floats) {
    switch (kind) {
        case ReduceKind::kLargest:
            return floats ? bf16::kSign | bf16::kInfinity : 0x80000000;
        case ReduceKind::kSmallest:
            return floats ? bf16::kInfinity : 0x7fffffff;
        default:
            return 0;
    }
}

/// start and values[0 .. count - 1] folded into one; all are as load_run gives them.
struct Fold {
    ChainOp op;
    const uint32_t* values;
    size_t count;
    uint32_t* result;

    [[gnu::always_inline]] inline void operator()() const {
        switch (op) {
            case ChainOp::kAddI:
                return each([](uint32_t a, uint32_t b) { return a + b; });
            case ChainOp::kMinI:
                return each([](uint32_t a, uint32_t b) {
                    return chain::as_int(a) < chain::as_int(b) ? a : b;
                });
            case ChainOp::kMaxI:
                return each([](uint32_t a, uint32_t b) {
                    return chain::as_int(a) > chain::as_int(b) ? a : b;
                });
            case ChainOp::kAddF:
                return add_in_order();
            default:
                return each([op = op](uint32_t a, uint32_t b) {
                    return op == ChainOp::kMinF ? chain::min(a, b) : chain::max(a, b);
                });
        }
    }

    template <class Body>
    [[gnu::always_inline]] inline void each(Body body) const {
        uint32_t folded = *result;
        for (size_t i = 0; i < count; ++i) folded = body(folded, values[i]);
        *result = folded;
    }

    [[gnu::always_inline]] inline void add_in_order() const {
        float total = std::bit_cast<float>(*result);
        for (size_t i = 0; i < count; ++i) {
            total += std::bit_cast<float>(values[i]);
            // Seldom: a branch costs less than a longer way from sum to sum.
            if (std::fabs(total) < 0x1p-126f) [[unlikely]]
                total = std::copysign(0.0f, total);
        }
        *result = chain::result(total);
    }
};

/// Everything that is reduced lies behind everything that is kept.
bool trailing(const Lattice& lattice) {
    bool reduced = false;
    for (size_t axis = 0; axis < arch::kVectorAxes; ++axis) {
        if (lattice.extent(axis) == 1) continue;
        const bool this_one = (lattice.reduced() >> axis & 1) != 0;
        if (reduced && !this_one) return false;
        reduced = this_one;
    }
    return reduced;
}

}  // namespace

Reduction::Reduction(const isa::Reduce& op, const arch::VectorState& state,
                     std::span<const uint8_t> buffer, VectorKernel kernel)
    : kind_(static_cast<ReduceKind>(op.kind)),
      type_(state.view(VectorOperand::kA).type),
      zero_(op.zero_a),
      fold_(fold_of(kind_, arch::is_float(type_))),
      identity_(identity_of(kind_, arch::is_float(type_))),
      lattice_(state, VectorOperand::kA, op.a_addr,
               {.through_taps = op.taps != 0, .reduced = op.axes}),
      kept_(~lattice_.reduced() & kOuterAxes),
      reduced_(lattice_.reduced() & kOuterAxes),
      in_columns_((lattice_.reduced() >> kInnermost & 1) == 0),
      buffer_(buffer),
      kernel_(kernel) {
    for (size_t axis = 0; axis < kInnermost; ++axis) {
        if ((kept_ >> axis & 1) == 0 || lattice_.extent(axis) == 1) continue;
        row_axis_ = axis;
        rows_ = lattice_.extent(axis);
    }
    if (op.taps != 0 || !trailing(lattice_)) return;
    stream_.emplace(type_, zero_, 0, Lattice(state, VectorOperand::kA, op.a_addr, {}), buffer,
                    kernel);
    uint64_t results = 1;
    for (size_t axis = 0; axis < arch::kVectorAxes; ++axis)
        ((lattice_.reduced() >> axis & 1) != 0 ? elements_per_result_ : results) *=
            lattice_.extent(axis);
    ahead_ = elements_per_result_ > kBlock / results
                 ? kBlock
                 : static_cast<size_t>(elements_per_result_ * results);
}

size_t Reduction::next(uint32_t* to, size_t most) {
    if (in_columns_) {
        const uint64_t row = lattice_.extent(kInnermost), left = row - index_[kInnermost];
        Patch patch{1, std::min<uint64_t>(left, most)};
        if (patch.columns == row) patch.rows = std::min(rows_ - index_[row_axis_], most / row);
        kind_ == ReduceKind::kPlaceOfLargest ? place_columns(to, patch) : fold_columns(to, patch);
        index_[kInnermost] += patch.columns;
        if (patch.columns == left) {
            index_[kInnermost] = 0;
            index_[row_axis_] += patch.rows - 1;
            lattice_.advance(index_, kept_);
        }
        return static_cast<size_t>(patch.rows * patch.columns);
    }
    *to = kind_ == ReduceKind::kPlaceOfLargest ? place_row() : fold_row();
    lattice_.advance(index_, kept_);
    return 1;
}

template <class Visit>
void Reduction::for_each_layer(const Patch& patch, Visit visit) {
    do {
        const Part part = lattice_.find_along(row_axis_, patch.rows, index_);
        const auto begin = static_cast<size_t>(part.begin * patch.columns),
                   end = static_cast<size_t>(part.end * patch.columns);
        if (begin < end)
            load_run(type_, zero_, buffer_,
                     {true, part.at, lattice_.stride(kInnermost), patch.columns,
                      part.end - part.begin, lattice_.pitch(row_axis_)},
                     elements_.data() + begin, kernel_);
        visit(begin, end);
    } while (lattice_.advance(index_, reduced_));
}

void Reduction::fold_columns(uint32_t* to, const Patch& patch) {
    std::fill_n(to, patch.rows * patch.columns, identity_);
    for_each_layer(patch, [&](size_t begin, size_t end) {
        apply(fold_, to + begin, to + begin, elements_.data() + begin, nullptr, end - begin,
              kernel_);
    });
}

template <class Visit>
void Reduction::for_each_part(Visit visit) {
    uint64_t place = 0;
    if (stream_) {
        while (place < elements_per_result_) {
            if (position_ == filled_) {
                position_ = 0;
                filled_ = ahead_;  // behind the last element the first comes again
                stream_->read(elements_.data(), filled_);
            }
            const auto count = static_cast<size_t>(
                std::min<uint64_t>(elements_per_result_ - place, filled_ - position_));
            visit(elements_.data() + position_, count, place);
            place += count;
            position_ += count;
        }
        return;
    }
    do {
        Run run{true, 0, lattice_.stride(kInnermost), 0};
        const bool inside = lattice_.find(index_, run.at);
        const uint64_t end = place + lattice_.extent(kInnermost);
        for (; inside && place < end; place += run.count) {
            run.count = std::min<uint64_t>(end - place, kBlock);
            load_run(type_, zero_, buffer_, run, elements_.data(), kernel_);
            visit(elements_.data(), static_cast<size_t>(run.count), place);
            run.at += static_cast<int64_t>(run.count) * run.stride;
        }
        place = end;
    } while (lattice_.advance(index_, reduced_));
}

uint32_t Reduction::fold_row() {
    uint32_t result = identity_;
    for_each_part([&](const uint32_t* elements, size_t count, uint64_t) {
        run_on(kernel_, Fold{fold_, elements, count, &result});
    });
    return result;
}

bool Reduction::greater(uint32_t value, uint32_t than) const {
    if (!arch::is_float(type_)) return chain::as_int(value) > chain::as_int(than);
    if (bf16::is_nan(than)) return false;
    return bf16::is_nan(value) || chain::number(value) > chain::number(than);
}

void Reduction::place_columns(uint32_t* to, const Patch& patch) {
    constexpr uint32_t kNone = 0xffffffff;
    const auto count = static_cast<size_t>(patch.rows * patch.columns);
    uint32_t place = 0;
    std::fill_n(to, count, kNone);
    for_each_layer(patch, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            if (to[i] != kNone && !greater(elements_[i], largest_[i])) continue;
            largest_[i] = elements_[i];
            to[i] = place;
        }
        ++place;
    });
    std::replace(to, to + count, kNone, 0u);
}

uint32_t Reduction::place_row() {
    uint32_t largest = 0, result = 0;
    bool any = false;
    for_each_part([&](const uint32_t* elements, size_t count, uint64_t place) {
        for (size_t i = 0; i < count; ++i) {
            if (any && !greater(elements[i], largest)) continue;
            any = true;
            largest = elements[i];
            result = static_cast<uint32_t>(place + i);
        }
    });
    return result;
}

}  // namespace tandem::engine
