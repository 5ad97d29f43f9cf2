// SPDX-License-Identifier: Apache-2.0
// Reduced elements, result by result in row-major order, before the chain.
#pragma once

#include <optional>
#include <span>

#include "engine/vector_access.h"
#include "engine/vector_chain.h"
#include "engine/vector_lattice.h"

namespace tandem::engine {

/// As `kind` of reduce counts them.
enum class ReduceKind : uint8_t { kSum, kLargest, kSmallest, kPlaceOfLargest };

class Reduction {
  public:
    Reduction(const isa::Reduce& op, const arch::VectorState& state,
              std::span<const uint8_t> buffer, VectorKernel kernel);
    /// Up to `most` results; returns how many. Begins again after the last.
    size_t next(uint32_t* to, size_t most);

  private:
    /// Results side by side: whole rows along the innermost axis, which is kept, or part of one.
    struct Patch {
        uint64_t rows, columns;
    };
    void fold_columns(uint32_t* to, const Patch& patch);
    void place_columns(uint32_t* to, const Patch& patch);
    /// For each place within the reduced axes, in order: loads the elements of the results from
    /// `begin` to `end`, the others have none there; visit(begin, end).
    template <class Visit>
    void for_each_layer(const Patch& patch, Visit visit);
    /// One result, along an axis that is reduced.
    uint32_t fold_row();
    uint32_t place_row();
    /// Visits the elements of one result in order: visit(elements, count, place of the first).
    template <class Visit>
    void for_each_part(Visit visit);
    bool greater(uint32_t value, uint32_t than) const;

    ReduceKind kind_;
    arch::VectorType type_;
    int32_t zero_;
    isa::ChainOp fold_;
    uint32_t identity_;
    Lattice lattice_;
    uint32_t kept_, reduced_;  ///< axes but the innermost one
    bool in_columns_;          ///< the innermost axis is kept
    size_t row_axis_ = 0;      ///< the last kept one in front of it of more than one element
    uint64_t rows_ = 1;        ///< elements of row_axis_, if there is such an axis
    Index index_{};
    std::span<const uint8_t> buffer_;
    VectorKernel kernel_;
    /// Where results take their elements one behind the other: all of them, how many each, how
    /// many are read ahead, and what is left of those.
    std::optional<ElementReader> stream_;
    uint64_t elements_per_result_ = 1;
    size_t ahead_ = 0, position_ = 0, filled_ = 0;
    alignas(64) Lane elements_, largest_;
};

}  // namespace tandem::engine
