// SPDX-License-Identifier: Apache-2.0
// Where the elements of an operator's output stand in its input, for operators that move elements
// and do not change them; and how shapes go together.
#pragma once

#include <optional>

#include "compiler/graph/formula.h"
#include "compiler/graph/operators.h"

namespace tandem::compiler {

/// The shape of two operands together; nothing: they do not go together.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Elements between neighbours along each axis.
std::vector<int64_t> dense_strides(const Shape& shape);

/// Elements of a tensor of shape `from` between neighbours along the axes of `to`, over which it is
/// broadcast.
std::vector<int64_t> broadcast_strides(const Shape& from, const Shape& to);

/// Element (i0, i1 ...) of the output is element offset + i0 * strides[0] + ... of the input.
struct Arrangement {
    int64_t offset = 0;
    std::vector<int64_t> strides;
};
/// Of TRANSPOSE, SLICE and BROADCAST_TO.
Arrangement arrangement_of(const Graph& graph, const Node& node);

/// Of ELEMENTWISE. Throws std::invalid_argument.
Formula formula_of(const Graph& graph, const Node& node);

const std::string& text_attribute(const Node& node, std::string_view name);

}  // namespace tandem::compiler
