// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/kernel_run.h"

#include "compiler/data.h"
#include "testbench/compiler/machine_run.h"

namespace tandem::testbench {

Int8s run_kernel(const arch::ChipConfig& chip, compiler::Kernel kernel,
                 const std::vector<Int8s>& inputs, size_t output_bytes) {
    constexpr uint64_t kData = compiler::kStreamDataBase, kIn = 1u << 20, kOut = 2u << 20;
    compiler::Planned planned;
    planned.chip = chip;
    compiler::KernelGraph& graph = planned.kernels;
    graph.file = "vector";
    graph.rounding = numerics::Rounding::kGemmlowp;
    graph.has_data = true;
    std::vector<uint8_t> host;
    for (const Int8s& input : inputs) {
        compiler::Value value;
        value.bytes = input.size();
        value.is_input = true;
        graph.inputs.push_back(static_cast<compiler::ValueId>(graph.values.size()));
        graph.values.push_back(value);
        host.insert(host.end(), input.begin(), input.end());
    }
    compiler::Value output;
    output.bytes = output_bytes;
    output.is_output = true;
    graph.outputs = {static_cast<compiler::ValueId>(graph.values.size())};
    graph.values.push_back(output);
    kernel.inputs = graph.inputs;
    kernel.output = graph.outputs[0];
    graph.kernels.push_back(std::move(kernel));
    compiler::PlanOptions options;
    options.cores = chip.cores;
    options.memory_base = kData;
    planned.plan = compiler::make_plan(graph, chip, options);
    compiler::StreamedProgram stream(planned);
    const auto programs = programs_of(stream);
    Setting setting;
    setting.scalars[1] = kData, setting.scalars[2] = kIn, setting.scalars[3] = kOut;
    Region data{kData, compiler::make_data(planned).front().bytes};
    data.bytes.resize(planned.plan.memory_bytes);
    setting.device.push_back(std::move(data));
    setting.host.push_back({kIn, std::move(host)});
    setting.host.push_back({kOut, std::vector<uint8_t>(output_bytes)});
    IsaInterpreter machine(chip, programs, setting, Order::number(2));
    machine.run();
    const uint8_t* from = machine.host().at(kOut, output_bytes);
    return {from, from + output_bytes};
}

}  // namespace tandem::testbench
