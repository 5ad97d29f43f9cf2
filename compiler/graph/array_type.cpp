// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/array_type.h"

#include "compiler/graph/operators.h"

namespace tandem::compiler {

std::optional<arch::Dtype> array_type(const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (!multiplies(operator_info(node.op).lowering)) continue;
        const ElementType type = graph.tensors[node.inputs[0]].type;
        const bool is_float = type == ElementType::kBf16 || type == ElementType::kFloat32;
        return is_float ? arch::Dtype::kBf16 : arch::Dtype::kInt8;
    }
    return std::nullopt;
}

}  // namespace tandem::compiler
