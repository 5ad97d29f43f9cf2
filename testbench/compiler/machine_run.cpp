// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/machine_run.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/data.h"
#include "compiler/graph/seed.h"

namespace tandem::testbench {

namespace {

using namespace compiler;

constexpr uint64_t kHostInputs = uint64_t{7} << 33, kHostOutputs = uint64_t{9} << 33;

void expect_lawful(const IsaInterpreter& machine, uint64_t macs) {
    require(machine.left_over().empty(), "left over: " + machine.left_over());
    require(machine.macs() == macs,
            std::to_string(machine.macs()) + " MACs instead of " + std::to_string(macs));
}

Graph with_constants(Graph graph, uint64_t seed) {
    seed_constants(graph, seed);
    return graph;
}

}  // namespace

std::vector<CoreProgram> programs_of(StreamedProgram& stream) {
    std::vector<CoreProgram> programs(stream.cores());
    std::vector<isa::Words> words(7);
    for (bool more = true; more;) {
        more = false;
        for (size_t c = 0; c < stream.cores(); ++c) {
            const size_t count = stream.core(c).next(words);
            for (size_t i = 0; i < count; ++i) {
                programs[c].sources.push_back(
                    stream.core(c).source(programs[c].instructions.size()));
                programs[c].instructions.push_back(words[i]);
            }
            more = more || count == words.size();
        }
    }
    return programs;
}

std::vector<CoreProgram> programs_of(const arch::Program& image) {
    std::vector<CoreProgram> programs;
    for (const auto& core : image.cores) programs.push_back({core.instructions, core.sources});
    return programs;
}

Setting setting_of(const arch::Program& image, const arch::ChipConfig& chip, const Int8s& inputs) {
    std::mt19937 random(0);
    Setting setting;
    setting.scalars[1] = arch::layout_of(image).data;
    setting.scalars[2] = kHostInputs;
    setting.scalars[3] = kHostOutputs;
    Region memory{0, rubbish(chip.memory.bytes, random)};
    std::copy(image.data.begin(), image.data.end(),
              memory.bytes.begin() + static_cast<ptrdiff_t>(setting.scalars[1]));
    setting.device.push_back(std::move(memory));
    setting.host.push_back({kHostInputs, {inputs.begin(), inputs.end()}});
    setting.host.push_back({kHostOutputs, rubbish(arch::bytes_of(image.outputs), random)});
    return setting;
}

Int8s run_image(const arch::ChipConfig& chip, const arch::Program& image, const Int8s& inputs,
                const Order& order) {
    const auto programs = programs_of(image);
    IsaInterpreter machine(chip, programs, setting_of(image, chip, inputs), order);
    machine.run();
    uint64_t macs = 0;
    for (const auto& node : image.nodes) macs += node.macs;
    expect_lawful(machine, macs);
    const uint64_t bytes = arch::bytes_of(image.outputs);
    const uint8_t* from = machine.host().at(kHostOutputs, bytes);
    return {from, from + bytes};
}

std::string difference(const Results& found, const Results& expected) {
    const auto compare = [](const Int8s& a, const Int8s& b, const std::string& name) {
        if (a.size() != b.size()) return name + ": " + std::to_string(a.size()) + " bytes";
        size_t wrong = 0, first = a.size();
        for (size_t i = a.size(); i-- > 0;)
            if (a[i] != b[i]) ++wrong, first = i;
        return wrong == 0
                   ? std::string()
                   : name + ": " + std::to_string(wrong) + " of " + std::to_string(a.size()) +
                         " bytes wrong, first " + std::to_string(first) + " with " +
                         std::to_string(a[first]) + " instead of " + std::to_string(b[first]);
    };
    for (const auto& [kernel, bytes] : expected.edge_inputs) {
        const std::string name = "into the edge, kernel " + std::to_string(kernel);
        if (!found.edge_inputs.contains(kernel)) return name + ": nothing";
        auto text = compare(found.edge_inputs.at(kernel), bytes, name);
        if (!text.empty()) return text;
    }
    for (size_t i = 0; i < expected.outputs.size(); ++i) {
        auto text =
            compare(found.outputs.at(i), expected.outputs[i], "output " + std::to_string(i));
        if (!text.empty()) return text;
    }
    return "";
}

Case::Case(Graph graph, const arch::ChipConfig& chip, const CompileOptions& options,
           std::vector<Int8s> inputs, uint64_t seed)
    : graph_(with_constants(std::move(graph), seed)),
      chip_(chip),
      options_(options),
      inputs_(std::move(inputs)),
      seed_(seed),
      planned_(plan_graph(graph_, chip_, options_)),
      expected_(oracle()) {
    require(planned_.kernels.has_data, "a graph without values");
}

std::vector<CoreProgram> Case::streams() const {
    StreamedProgram stream(planned_);
    return programs_of(stream);
}

std::vector<CoreProgram> Case::image() const {
    return programs_of(compiler::compile(graph_, chip_, options_));
}

/// Seeded bytes of an edge, the same for every sample.
Int8s Case::edge_bytes(TensorId tensor) const {
    const auto bytes = seeded_bytes(graph_.tensors[tensor], seed_);
    Int8s all;
    for (uint32_t sample = 0; sample < options_.batch; ++sample)
        all.insert(all.end(), bytes.begin(), bytes.end());
    return all;
}

/// The oracle, sample by sample.
Results Case::oracle() const {
    Results results;
    results.outputs.resize(graph_.outputs.size());
    const NaiveArray array{static_cast<int>(chip_.mxu.rows), chip_.mxu.sum4,
                           static_cast<int>(chip_.mxu.cols)};
    NaiveEdges edges;
    for (const Node& node : graph_.nodes)
        if (node.op == Operator::kEdge) {
            const auto bytes = seeded_bytes(graph_.tensors[node.outputs[0]], seed_);
            edges[node.outputs[0]] = {bytes.begin(), bytes.end()};
        }
    for (uint32_t sample = 0; sample < options_.batch; ++sample) {
        std::vector<Int8s> one;
        for (const Int8s& values : inputs_) {
            const auto bytes = static_cast<ptrdiff_t>(values.size() / options_.batch);
            one.emplace_back(values.begin() + bytes * sample,
                             values.begin() + bytes * (sample + 1));
        }
        const auto values =
            naive_run(graph_, one,
                      options_.rounding == numerics::Rounding::kSingle ? NaiveRounding::kSingle
                                                                       : NaiveRounding::kGemmlowp,
                      array, edges);
        const auto value_of = [&](TensorId id) {
            for (size_t n = 0; n < graph_.nodes.size(); ++n)
                if (graph_.nodes[n].outputs[0] == id) return values[n];
            return one[static_cast<size_t>(std::ranges::find(graph_.inputs, id) -
                                           graph_.inputs.begin())];
        };
        const auto append = [](Int8s& to, const Int8s& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        for (size_t i = 0; i < graph_.outputs.size(); ++i)
            append(results.outputs[i], value_of(graph_.outputs[i]));
        for (size_t k = 0; k < planned_.kernels.kernels.size(); ++k) {
            const Node& node = graph_.nodes[planned_.kernels.kernels[k].node];
            if (node.op == Operator::kEdge)
                append(results.edge_inputs[k], value_of(node.inputs[0]));
        }
    }
    return results;
}

/// Device memory around the data and in CMEM, and the host's two areas.
Setting Case::setting(uint32_t seed) const {
    std::mt19937 random(seed);
    const Plan& plan = planned_.plan;
    const uint64_t data = kStreamDataBase;
    Setting setting;
    setting.scalars[1] = data;
    setting.scalars[2] = kHostInputs;
    setting.scalars[3] = kHostOutputs;
    Region main{data, rubbish(plan.memory_bytes, random)};
    const auto put = [](Region& region, uint64_t offset, const auto& bytes) {
        if (offset + bytes.size() > region.bytes.size())
            throw std::logic_error("data beyond their memory");
        std::copy(bytes.begin(), bytes.end(),
                  region.bytes.begin() + static_cast<ptrdiff_t>(offset));
    };
    const auto pieces = make_data(planned_);
    put(main, pieces.front().offset, pieces.front().bytes);
    for (size_t i = 1; i < pieces.size(); ++i)
        setting.device.push_back({data + pieces[i].offset, pieces[i].bytes});
    if (!plan.cmem.empty())
        setting.device.push_back({data + plan.cmem.begin, rubbish(plan.cmem.size(), random)});
    Region inputs{kHostInputs, rubbish(plan.host_input_bytes, random)};
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
        const ValueId id = planned_.kernels.inputs[i];
        const bool host = planned_.kernels.values[id].home == Memory::kHost;
        put(host ? inputs : main,
            host ? plan.values[id].host_offset : plan.values[id].memory_offset, inputs_[i]);
    }
    for (const Kernel& kernel : planned_.kernels.kernels)
        if (kernel.is_edge() && !plan.values[kernel.output].resident)
            put(main, plan.values[kernel.output].memory_offset,
                edge_bytes(planned_.kernels.values[kernel.output].tensor));
    setting.device.push_back(std::move(main));
    setting.host.push_back(std::move(inputs));
    setting.host.push_back({kHostOutputs, rubbish(plan.host_output_bytes, random)});
    return setting;
}

/// Keeps what the producer has left and puts what the consumer is to find.
void Case::pass_edge(IsaInterpreter& machine, Results& results, uint32_t core, Passed& passed,
                     const arch::InstructionSource& source) const {
    const auto number = static_cast<size_t>(source.node);
    const compiler::Visit visit{static_cast<uint32_t>(source.node), source.round};
    const compiler::Plan& plan = planned_.plan;
    const Kernel& kernel = planned_.kernels.kernels[number];
    const ValueId in = kernel.inputs[0], out = kernel.output;
    const ValuePlan& from = planned_.plan.values[in];
    const Value& value = planned_.kernels.values[in];
    const bool first = passed.insert({number, source.round}).second;
    auto& kept = results.edge_inputs[number];
    kept.resize(value.bytes);
    // All of what is in memory is there when the first core passes, for the last time in rounds.
    if (from.resident) {
        const Range part = plan.part(from, core, visit);
        if (!part.empty())
            std::copy_n(machine.buffer(core).begin() + plan.address(from, visit), part.size(),
                        kept.begin() + static_cast<ptrdiff_t>(part.begin));
    } else if (first) {
        const bool host = value.is_input && value.home == Memory::kHost;
        const uint8_t* bytes =
            host ? machine.host().at(kHostInputs + from.host_offset, value.bytes)
                 : machine.device().at(kStreamDataBase + from.memory_offset, value.bytes);
        kept.assign(bytes, bytes + value.bytes);
    }
    const ValuePlan& to = planned_.plan.values[out];
    if (!to.resident || plan.part(to, core, visit).empty()) return;
    const Int8s bytes = edge_bytes(planned_.kernels.values[out].tensor);
    const Range part = plan.part(to, core, visit);
    std::copy(bytes.begin() + static_cast<ptrdiff_t>(part.begin),
              bytes.begin() + static_cast<ptrdiff_t>(part.end),
              machine.buffer(core).begin() + plan.address(to, visit));
}

Results Case::results_of(IsaInterpreter& machine) const {
    Results results;
    for (const ValueId id : planned_.kernels.outputs) {
        const Value& value = planned_.kernels.values[id];
        const ValuePlan& plan = planned_.plan.values[id];
        const uint8_t* bytes =
            value.home == Memory::kHost
                ? machine.host().at(kHostOutputs + plan.host_offset, value.bytes)
                : machine.device().at(kStreamDataBase + plan.memory_offset, value.bytes);
        results.outputs.emplace_back(bytes, bytes + value.bytes);
    }
    return results;
}

Results Case::run(const std::vector<CoreProgram>& programs, const Order& order) const {
    IsaInterpreter machine(chip_, programs, setting(order.seed), order);
    Results edges;
    Passed passed;
    machine.on_retire = [&](uint32_t core, uint32_t index) {
        const int32_t node = programs[core].sources.at(index).node;
        const isa::Words& words = programs[core].instructions[index];
        if (node < 0 || !planned_.kernels.kernels[static_cast<size_t>(node)].is_edge()) return;
        if (isa::opcode_of(words) != static_cast<uint32_t>(isa::Opcode::kFence)) return;
        if (isa::Fence::decode(words).unit != static_cast<uint8_t>(isa::Unit::kVector)) return;
        pass_edge(machine, edges, core, passed, programs[core].sources[index]);
    };
    machine.run();
    Results results = results_of(machine);
    results.edge_inputs = std::move(edges.edge_inputs);
    uint64_t macs = 0;
    for (const Kernel& kernel : planned_.kernels.kernels) macs += kernel.macs;
    expect_lawful(machine, macs);
    return results;
}

std::string Case::fault(const std::vector<CoreProgram>& programs, const Order& order) const {
    try {
        return difference(run(programs, order), expected_);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

std::vector<Int8s> seeded_inputs(const Graph& graph, uint32_t batch, uint64_t seed) {
    std::vector<Int8s> inputs;
    for (const TensorId id : graph.inputs) {
        Int8s& all = inputs.emplace_back();
        for (uint32_t sample = 0; sample < batch; ++sample) {
            const auto bytes = seeded_bytes(graph.tensors[id], seed + sample);
            all.insert(all.end(), bytes.begin(), bytes.end());
        }
    }
    return inputs;
}

}  // namespace tandem::testbench
