// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/tensor_sizes.h"

#include <fmt/format.h>

namespace tandem::compiler {

std::string tensors_text(const KernelGraph& graph, const Kernel& kernel) {
    std::string text = "tensors ";
    const auto add = [&](ValueId id) {
        const Value& value = graph.values[id];
        text += fmt::format("'{}' ({} bytes), ", value.name, value.bytes);
    };
    for (const ValueId id : kernel.inputs) add(id);
    add(kernel.output);
    return text + fmt::format("parameters ({} bytes)", kernel.params_bytes);
}

}  // namespace tandem::compiler
