// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include "arch/error.h"
#include "compiler/emit/emitter.h"
#include "compiler/passes/legalize.h"

namespace tandem::compiler {

namespace {

void add_tensor_details(const Graph& graph, const std::vector<TensorId>& ids,
                        std::vector<arch::ProgramTensor>& tensors) {
    for (size_t i = 0; i < ids.size(); ++i) {
        const Tensor& source = graph.tensors[ids[i]];
        tensors[i].name = source.name;  // a reshaped output has a name of its own
        tensors[i].shape.assign(source.shape.begin(), source.shape.end());
        tensors[i].scale = source.scale();
        tensors[i].zero_point = source.zero_point();
    }
}

}  // namespace

arch::Program compile(const Graph& graph, const arch::ChipConfig& chip,
                      const CompileOptions& options) {
    arch::require_int8_array(chip, graph.file);
    if (options.batch == 0) throw UserError(graph.file, "batch", "1 or more", "0");
    const LegalGraph legal = legalize(graph, chip, options.batch, options.rounding);
    arch::Program program = emit_program(legal, chip);
    add_tensor_details(graph, graph.inputs, program.inputs);
    add_tensor_details(graph, graph.outputs, program.outputs);
    return program;
}

}  // namespace tandem::compiler
