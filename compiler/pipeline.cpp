// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline.h"

#include "base/error.h"
#include "compiler/data.h"
#include "compiler/dump.h"
#include "compiler/emit/emitter.h"
#include "compiler/graph/text.h"
#include "compiler/lower/lower.h"
#include "compiler/sync/synchroniser.h"

namespace tandem::compiler {

Planned plan_graph(const Graph& graph, const arch::ChipConfig& chip,
                   const CompileOptions& options) {
    if (options.batch == 0) throw UserError(graph.file, "batch", "1 or more", "0");
    const auto dump = [&](std::string_view form, const auto& text) {
        if (options.dump.text) options.dump.text(form, text());
    };
    dump("graph.tgraph", [&] { return to_text(graph, options.dump.bytes); });
    Planned planned{lower(graph, chip, options.batch, options.rounding), {}, chip};
    dump("kernels.txt", [&] { return kernels_text(planned.kernels); });
    PlanOptions how;
    how.cores = options.cores == 0 ? chip.cores : options.cores;
    how.use_cmem = options.use_cmem;
    how.memory_base = kStreamDataBase;
    planned.plan = make_plan(planned.kernels, chip, how);
    dump("plan.txt", [&] { return plan_text(planned); });
    return planned;
}

namespace {

void describe_nodes(const Planned& planned, const std::vector<uint32_t>& last_writer,
                    arch::Program& program) {
    for (size_t k = 0; k < planned.kernels.kernels.size(); ++k) {
        const Kernel& kernel = planned.kernels.kernels[k];
        const ValuePlan& output = planned.plan.values[kernel.output];
        program.nodes.push_back(
            {.index = kernel.index,
             .op = kernel.op,
             .name = kernel.name,
             .macs = kernel.macs,
             .in_buffer = output.resident,
             .output_address = output.resident ? output.address : 0,
             .output_bytes = static_cast<uint32_t>(planned.kernels.values[kernel.output].bytes),
             .last_instruction = last_writer[k]});
    }
}

std::vector<arch::ProgramTensor> describe_tensors(const Graph& graph, uint32_t batch,
                                                  const std::vector<TensorId>& ids) {
    std::vector<arch::ProgramTensor> tensors;
    for (const TensorId id : ids) {
        const Tensor& source = graph.tensors[id];
        arch::ProgramTensor tensor;
        tensor.name = source.name;
        tensor.shape.assign(source.shape.begin(), source.shape.end());
        if (!source.quantization.scales.empty()) {
            tensor.scale = source.scale();
            tensor.zero_point = source.zero_point();
        }
        tensor.bytes = static_cast<uint32_t>(source.size_bytes() * batch);
        tensors.push_back(tensor);
    }
    return tensors;
}

/// An alias has no instruction of its own: its bytes are complete when its input's are.
std::vector<uint32_t> last_writers(const Planned& planned, const arch::Program& program,
                                   const std::vector<bool>& writes) {
    std::vector<uint32_t> of_value(planned.kernels.values.size());
    for (uint32_t i = 0; i < program.sources.size(); ++i)
        if (writes[i]) {
            const auto node = static_cast<size_t>(program.sources[i].node);
            of_value[planned.kernels.kernels[node].output] = i;
        }
    std::vector<uint32_t> result;
    for (const Kernel& kernel : planned.kernels.kernels) result.push_back(of_value[kernel.output]);
    return result;
}

}  // namespace

arch::Program compile(const Graph& graph, const arch::ChipConfig& chip,
                      const CompileOptions& options) {
    CompileOptions one_core = options;
    one_core.cores = 1;
    one_core.use_cmem = false;
    const Planned planned = plan_graph(graph, chip, one_core);
    if (!planned.kernels.has_data)
        throw UserError(graph.file, "constants", "a graph with data (or --mode timing)",
                        "shapes without values");
    arch::Program program;
    std::vector<bool> writes;
    Synchroniser synchroniser(1, chip.mxu.count,
                              [&](uint32_t, const isa::Words& words, const Step& step) {
                                  program.instructions.push_back(words);
                                  program.sources.push_back(step.source);
                                  writes.push_back(step.writes_value);
                              });
    Emitter emitter(planned.kernels, planned.plan, chip,
                    [&](const Step& step) { synchroniser.add(step); });
    while (emitter.advance()) {
    }
    synchroniser.finish();
    program.chip_hash = chip.hash();
    program.chip = chip.name;
    program.model = graph.name;
    program.batch = options.batch;
    program.rounding = options.rounding == numerics::Rounding::kSingle ? "single" : "gemmlowp";
    describe_nodes(planned, last_writers(planned, program, writes), program);
    program.data = std::move(make_data(planned).front().bytes);
    program.inputs = describe_tensors(graph, options.batch, graph.inputs);
    program.outputs = describe_tensors(graph, options.batch, graph.outputs);
    const uint64_t needed =
        planned.plan.memory_bytes + program.instructions.size() * isa::kInstructionBytes;
    if (needed > chip.memory.bytes)
        throw UserError(graph.file, "program",
                        "at most " + std::to_string(chip.memory.bytes) + " bytes of device memory",
                        std::to_string(needed) + " bytes needed");
    return program;
}

}  // namespace tandem::compiler
