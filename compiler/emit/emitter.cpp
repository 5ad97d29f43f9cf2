// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/emitter.h"

#include <filesystem>
#include <stdexcept>

#include "arch/error.h"
#include "compiler/emit/program_data.h"
#include "compiler/emit/steps.h"
#include "compiler/passes/schedule.h"

namespace tandem::compiler {

namespace {

void encode(const LegalGraph& legal, const std::vector<Step>& steps, arch::Program& program) {
    for (const Step& step : steps) {
        const int32_t node = step.source.node;
        try {
            program.instructions.push_back(step.encode());
        } catch (const std::out_of_range& error) {
            const std::string where =
                node < 0 ? "program" : legal.nodes[static_cast<size_t>(node)].text;
            throw UserError(legal.file, where, "sizes that fit into an instruction", error.what());
        }
        program.sources.push_back(step.source);
    }
}

void describe_nodes(const LegalGraph& legal, const Placement& placement,
                    const std::vector<Step>& steps, arch::Program& program) {
    std::vector<uint32_t> last_writer(legal.buffers.size());
    for (uint32_t i = 0; i < steps.size(); ++i)
        if (steps[i].buffer >= 0) last_writer[static_cast<size_t>(steps[i].buffer)] = i;
    for (const LegalNode& node : legal.nodes)
        program.nodes.push_back(
            {.index = node.index,
             .op = node.op,
             .name = node.name,
             .macs = node.macs,
             .output_address = placement.buffers[node.output],
             .output_bytes = static_cast<uint32_t>(legal.buffers[node.output].bytes),
             .last_instruction = last_writer[node.output]});
}

std::vector<arch::ProgramTensor> describe_tensors(const LegalGraph& legal,
                                                  const std::vector<BufferId>& buffers) {
    std::vector<arch::ProgramTensor> tensors;
    for (const BufferId id : buffers) {
        arch::ProgramTensor tensor;
        tensor.name = legal.buffers[id].name;
        tensor.bytes = static_cast<uint32_t>(legal.buffers[id].bytes);
        tensors.push_back(tensor);
    }
    return tensors;
}

}  // namespace

arch::Program emit_program(const LegalGraph& legal, const arch::ChipConfig& chip) {
    const Placement placement = allocate(legal, chip);
    ProgramData data = lay_out_data(legal, chip);
    const std::vector<Step> steps = synchronise(emit_steps(legal, placement, data, chip));

    arch::Program program;
    program.hash = chip.hash();
    program.chip = chip.name;
    program.model = std::filesystem::path(legal.file).filename().string();
    program.batch = legal.batch;
    program.rounding = legal.rounding == Rounding::kSingle ? "single" : "gemmlowp";
    encode(legal, steps, program);
    describe_nodes(legal, placement, steps, program);
    program.data = std::move(data.bytes);
    program.inputs = describe_tensors(legal, legal.inputs);
    program.outputs = describe_tensors(legal, legal.outputs);
    const uint64_t needed =
        program.data.size() + program.instructions.size() * isa::kInstructionBytes;
    if (needed > chip.memory.bytes)
        throw UserError(legal.file, "program",
                        "at most " + std::to_string(chip.memory.bytes) + " bytes of device memory",
                        std::to_string(needed) + " bytes needed");
    return program;
}

}  // namespace tandem::compiler
