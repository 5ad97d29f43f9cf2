// SPDX-License-Identifier: Apache-2.0
// What a lowering sees of the node that it lowers.
#pragma once

#include <cstdint>
#include <string>

#include "arch/numerics.h"
#include "arch/vector_state.h"
#include "compiler/graph/operators.h"
#include "compiler/lower/image_window.h"

namespace tandem::compiler {

struct LoweredNode {
    const Graph& graph;
    const Node& node;
    uint64_t batch = 1;  ///< multiplies the first dimension of every activation
    numerics::Rounding rounding = numerics::Rounding::kSingle;
    bool has_data = false;  ///< scales and constants have values
    std::string text;       ///< file and describe() of the node, for messages

    const Tensor& in(size_t i = 0) const { return graph.input(node, i); }
    const Tensor& out() const { return graph.output(node); }
    uint64_t batched(uint64_t count) const { return count * batch; }

    /// Over the whole batch, from the images of input 0 to those of `output`.
    ImageWindow image_window(const Shape& output) const;
};

/// Types of which only the time is defined stand for one as wide. Throws std::domain_error for one
/// that the vector unit does not have.
arch::VectorType vector_type(ElementType type);

}  // namespace tandem::compiler
