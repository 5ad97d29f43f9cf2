// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline.h"

#include <optional>

#include "base/error.h"
#include "compiler/data.h"
#include "compiler/dump.h"
#include "compiler/emit/emitter.h"
#include "compiler/graph/text.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/packing.h"
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
    how.mode = options.plan;
    how.rounds = options.rounds;
    how.forced = options.forced;
    how.cores = options.cores == 0 ? chip.cores : options.cores;
    how.use_cmem = options.use_cmem;
    how.memory_base = kStreamDataBase;
    if (options.forced_packing) pack_all(planned.kernels, chip, how.cores, *options.forced_packing);
    planned.plan = options.outline
                       ? plan_of(planned.kernels, chip, how, options.outline(planned.kernels))
                       : make_plan(planned.kernels, chip, how);
    dump("plan.txt", [&] { return plan_text(planned); });
    if (options.on_plan) options.on_plan(planned);
    return planned;
}

namespace {

/// Collects the programs of all cores, and where values become complete.
class ImageBuilder {
  public:
    ImageBuilder(const Planned& planned, arch::Program& program)
        : planned_(planned), program_(program) {
        program_.cores.resize(planned.plan.cores);
        last_writers_.resize(planned.plan.cores);
        for (auto& of_core : last_writers_) of_core.resize(planned.kernels.values.size());
    }

    void add(uint32_t core, const isa::Words& words, const Step& step) {
        arch::CoreProgram& program = program_.cores[core];
        if (completes(step)) {
            const auto& kernel = planned_.kernels.kernels[static_cast<size_t>(step.source.node)];
            const Visit visit{static_cast<uint32_t>(step.source.node), step.source.round};
            const uint32_t round =
                planned_.plan.round_of(planned_.plan.values[kernel.output], visit);
            auto& last = last_writers_[core][kernel.output];
            last.resize(planned_.plan.values[kernel.output].rounds);
            last[round] = static_cast<uint32_t>(program.instructions.size());
        }
        program.instructions.push_back(words);
        program.sources.push_back(step.source);
    }

    /// An alias has no instruction of its own: its bytes are complete when its input's are.
    void describe_nodes() {
        for (const Kernel& kernel : planned_.kernels.kernels) {
            arch::ProgramNode node;
            node.index = kernel.index;
            node.op = kernel.op;
            node.name = kernel.name;
            node.macs = kernel.macs;
            const Value& value = planned_.kernels.values[kernel.output];
            if (!value.is_internal) {
                node.output_bytes = static_cast<uint32_t>(value.bytes);
                place(kernel.output, node);
            }
            program_.nodes.push_back(std::move(node));
        }
    }

  private:
    using Place = arch::ProgramNode::Place;

    Place place_of(ValueId id) const {
        if (planned_.plan.values[id].resident) return Place::kBuffer;
        const Value& value = planned_.kernels.values[id];
        return value.is_output && value.home == Memory::kHost ? Place::kHost : Place::kMemory;
    }

    /// Into the buffer, or out of it where the value does not stay.
    bool completes(const Step& step) const {
        if (step.source.node < 0) return false;
        const auto& kernel = planned_.kernels.kernels[static_cast<size_t>(step.source.node)];
        if (place_of(kernel.output) == Place::kBuffer) return step.writes_value;
        const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(step.words));
        return opcode == isa::Opcode::kWriteMemory || opcode == isa::Opcode::kWriteHost;
    }

    void place(ValueId id, arch::ProgramNode& node) const {
        const ValuePlan& plan = planned_.plan.values[id];
        node.place = place_of(id);
        node.output_address = node.place == Place::kBuffer   ? plan.address
                              : node.place == Place::kMemory ? plan.memory_offset
                                                             : plan.host_offset;
        for (uint32_t core = 0; core < program_.cores.size(); ++core)
            for (uint32_t round = 0; round < last_writers_[core][id].size(); ++round) {
                const auto& last = last_writers_[core][id][round];
                if (!last) continue;
                arch::NodePart part{.core = core, .last_instruction = *last};
                if (node.place == Place::kBuffer) {
                    part.offset = plan.part(core, round).begin;
                    part.bytes = plan.part(core, round).size();
                }
                node.parts.push_back(part);
            }
    }

    const Planned& planned_;
    arch::Program& program_;
    /// By core, value and the value's rounds.
    std::vector<std::vector<std::vector<std::optional<uint32_t>>>> last_writers_;
};

std::vector<arch::ProgramTensor> describe_tensors(const Graph& graph, uint32_t batch,
                                                  const std::vector<TensorId>& ids) {
    std::vector<arch::ProgramTensor> tensors;
    for (const TensorId id : ids) {
        const Tensor& source = graph.tensors[id];
        arch::ProgramTensor tensor;
        tensor.name = source.name;
        tensor.type = element_type_name(source.type);
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

}  // namespace

arch::Program compile(const Graph& graph, const arch::ChipConfig& chip,
                      const CompileOptions& options) {
    CompileOptions in_memory = options;
    in_memory.use_cmem = false;
    const Planned planned = plan_graph(graph, chip, in_memory);
    if (!planned.kernels.has_data)
        throw UserError(graph.file, "constants", "a graph with data (or --mode timing)",
                        "shapes without values");
    if (!has_image(graph))
        throw UserError(graph.file,
                        "host_input_bytes, host_output_bytes, memory of inputs and outputs",
                        "none, and the host's, for a program moves whole inputs and outputs",
                        "a graph that runs as layers do");
    arch::Program program;
    ImageBuilder builder(planned, program);
    Synchroniser synchroniser(planned.plan.cores, chip.mxu.count,
                              [&](uint32_t core, const isa::Words& words, const Step& step) {
                                  builder.add(core, words, step);
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
    builder.describe_nodes();
    program.data = std::move(make_data(planned).front().bytes);
    program.inputs = describe_tensors(graph, options.batch, graph.inputs);
    program.outputs = describe_tensors(graph, options.batch, graph.outputs);
    const uint64_t needed = planned.plan.memory_bytes + arch::layout_of(program).data;
    if (needed > chip.memory.bytes)
        throw UserError(graph.file, "program",
                        "at most " + std::to_string(chip.memory.bytes) + " bytes of device memory",
                        std::to_string(needed) + " bytes needed");
    return program;
}

}  // namespace tandem::compiler
