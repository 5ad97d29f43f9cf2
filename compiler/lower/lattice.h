// SPDX-License-Identifier: Apache-2.0
// Operators over arrays of any number of axes as the six axes of the vector unit: neighbouring axes
// through which all operands run evenly become one, the outermost counts lines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/lower/vector_steps.h"

namespace tandem::compiler {

/// How one operand runs through the shape, in elements.
struct LatticeOperand {
    arch::VectorType type = arch::VectorType::kFp32;
    std::vector<int64_t> strides;  ///< along each axis of the shape
    int64_t offset = 0;
    uint64_t elements = 0;       ///< that the operand has
    bool has_first_axis = true;  ///< of the shape: it has as many axes
    bool is_constant = false;    ///< the same for all samples of a batch
};

class NodeLattice {
  public:
    /// `line_axes`: so many axes of the shape, which join, count lines; nothing: those that join
    /// with the first one. Throws UserError for a shape that needs more axes than the unit has, and
    /// for a batch that multiplies what is not the outermost axis of all operands.
    NodeLattice(const LoweredNode& node, const Shape& shape, std::vector<LatticeOperand> operands,
                std::optional<size_t> line_axes = std::nullopt);

    uint64_t lines() const { return lines_; }
    /// Of a step; axis 0, of lines, is 1.
    const Extents& line() const { return line_; }
    uint64_t line_elements() const;

    /// As VectorWork has it of an input.
    uint64_t line_bytes(size_t operand) const;
    arch::VectorView view(size_t operand) const;
    /// Bytes in front of element 0.
    uint64_t offset_bytes(size_t operand) const;
    /// Elements side by side, lines one behind the other.
    arch::VectorView dense_view(arch::VectorType type) const { return dense(type, line_); }

  private:
    struct Axis {
        uint64_t extent = 1;
        std::vector<int64_t> strides;  ///< by operand
    };
    bool goes_with_lines(size_t operand) const;

    std::vector<LatticeOperand> operands_;
    Axis outer_;
    std::vector<Axis> axes_;  ///< within a line
    uint64_t lines_ = 1;
    Extents line_{1, 1, 1, 1, 1, 1};
};

}  // namespace tandem::compiler
