// SPDX-License-Identifier: Apache-2.0
#include "run/graph_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <span>

#include "base/error.h"
#include "compiler/data.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/stream.h"
#include "run/apart.h"

namespace tandem::run {
namespace {

using compiler::Memory;
using compiler::Plan;
using compiler::Planned;
using compiler::Range;

constexpr uint64_t kHostAlignment = 4096;

class GraphRun {
  public:
    GraphRun(compiler::Graph graph, const arch::ChipConfig& chip, const GraphOptions& how,
             const RunOptions& options)
        : graph_(with_data(std::move(graph), chip, how, options)),
          how_(how),
          program_(compiler::plan_graph(graph_, chip, compile_options(how))) {
        describe();
        if (options.functional) {
            check_data();
            lay_out_data();
        }
        if (!options.inject.empty()) job_.rows_to_inject = rows_of(options.rtl_arrays.first());
        if (options.progress) program_.set_progress(options.progress);
    }

    GraphResult run(const arch::ChipConfig& chip, const RunOptions& options) {
        GraphResult result;
        result.run = run_streams(chip, job_, options);
        drop_inner(result.run);
        if (options.functional && result.run.completed()) gather(result);
        return result;
    }

  private:
    const Planned& planned() const { return program_.planned(); }
    const Plan& plan() const { return planned().plan; }

    static compiler::CompileOptions compile_options(const GraphOptions& how) {
        return {.batch = how.batch,
                .rounding = how.rounding,
                .cores = how.cores,
                .plan = how.plan,
                .rounds = how.rounds,
                .dump = {}};
    }

    static compiler::Graph with_data(compiler::Graph graph, const arch::ChipConfig& chip,
                                     const GraphOptions& how, const RunOptions& options) {
        if (!options.functional) return graph;
        if (const compiler::Node* node = compiler::first_without_values(graph))
            throw UserError(compiler::place_of(graph, *node), compiler::describe(*node),
                            "activations of a type that has values, for a run with data",
                            fmt::format("{}, of which only the time is modelled (--mode timing)",
                                        compiler::element_type_name(graph.input(*node, 0).type)));
        // What does not fit is refused before gigabytes of data are made.
        compiler::plan_graph(graph, chip, compile_options(how));
        compiler::seed_constants(graph, how.seed);
        return graph;
    }

    void check_data() const {
        if (planned().kernels.host_input_bytes != 0 || planned().kernels.host_output_bytes != 0)
            throw UserError(graph_.file, "host_input_elements, host_output_elements",
                            "none, for a run with data", "an application that states them");
    }

    void describe() {
        const auto& kernels = planned().kernels;
        job_.model = kernels.name;
        job_.needs.exact_macs = true;
        job_.peak_buffer_bytes = plan().peak_buffer_bytes;
        const auto bounds = compiler::lower_bounds(kernels, plan(), planned().chip);
        compiler::Bounds all;
        for (size_t k = 0; k < kernels.kernels.size(); ++k) {
            const compiler::Kernel& kernel = kernels.kernels[k];
            job_.nodes.push_back({kernel.index, kernel.op, kernel.name, kernel.macs,
                                  kernels.values[kernel.output].bytes * kernel.repeat, bounds[k]});
            job_.needs.macs += kernel.macs;
            all += bounds[k];
        }
        add_needs(all);
        const uint64_t inputs = align(plan().host_input_bytes);
        for (uint32_t core = 0; core < planned().chip.cores; ++core) {
            CoreStream stream;
            if (core < program_.cores())
                stream = {&program_.core(core), {compiler::kStreamDataBase, 0, inputs}};
            job_.cores.push_back(stream);
        }
        job_.host_bytes = inputs + align(plan().host_output_bytes);
    }

    void add_needs(const compiler::Bounds& all) {
        job_.needs.cycles = all.busiest();
        job_.needs.memory = all.least_memory;
        // Stated bytes are rounded with every transfer.
        const auto& kernels = planned().kernels;
        if (kernels.host_input_bytes == 0) job_.needs.host_to_chip = all.least_host_in;
        if (kernels.host_output_bytes == 0) job_.needs.chip_to_host = all.least_host_out;
    }

    static uint64_t align(uint64_t bytes) {
        return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
    }

    /// Edges, and kernels within a node, are no layers of the source: what they have belongs to the
    /// layer behind them.
    void drop_inner(RunResult& run) const {
        std::vector<LayerResult> kept;
        std::vector<int32_t> place(run.layers.size());
        LayerResult before;
        before.bounds.emplace();
        for (size_t k = 0; k < run.layers.size(); ++k) {
            place[k] = static_cast<int32_t>(kept.size());
            const compiler::Kernel& kernel = planned().kernels.kernels[k];
            if (kernel.is_edge() || planned().kernels.values[kernel.output].is_internal) {
                before.add(run.layers[k]);
                continue;
            }
            kept.push_back(std::move(run.layers[k]));
            kept.back().add(before);
            before = {};
            before.bounds.emplace();
        }
        if (!kept.empty()) kept.back().add(before);
        run.layers = std::move(kept);
        if (run.divergence && run.divergence->source.node >= 0)
            run.divergence->source.node =
                place.at(static_cast<size_t>(run.divergence->source.node));
    }

    /// Counted in a copy of the program, for this one runs once.
    uint64_t rows_of(const ArrayPlace& place) const {
        compiler::StreamedProgram copy(planned());
        std::vector<isa::Words> words(1024);
        uint64_t rows = 0;
        for (size_t made = words.size(); made == words.size();) {
            made = copy.core(place.core).next(words);
            for (size_t i = 0; i < made; ++i) {
                if (isa::opcode_of(words[i]) != static_cast<uint32_t>(isa::Opcode::kMatmul))
                    continue;
                const auto matmul = isa::Matmul::decode(words[i]);
                if (matmul.mxu == place.array) rows += matmul.rows;
            }
        }
        return rows;
    }

    // ---- data

    void lay_out_data() {
        data_ = compiler::make_data(planned());
        for (const auto& piece : data_)
            job_.preload.push_back(
                {Space::kDevice, compiler::kStreamDataBase + piece.offset, piece.bytes});
        for (const compiler::ValueId id : planned().kernels.inputs) {
            const auto& value = planned().kernels.values[id];
            const bool host = value.home == Memory::kHost;
            job_.preload.push_back({host ? Space::kHost : Space::kDevice,
                                    host ? plan().values[id].host_offset : device_address(id),
                                    seeded(id)});
        }
        for (const compiler::ValueId id : planned().kernels.outputs) {
            const auto& value = planned().kernels.values[id];
            const bool host = value.home == Memory::kHost;
            const uint64_t address =
                host ? align(plan().host_input_bytes) + plan().values[id].host_offset
                     : device_address(id);
            read_back(id, {host ? Space::kHost : Space::kDevice, address, value.bytes});
        }
        for (size_t k = 0; k < planned().kernels.kernels.size(); ++k)
            if (planned().kernels.kernels[k].is_edge()) lay_out_edge(k);
    }

    uint64_t device_address(compiler::ValueId id) const {
        return compiler::kStreamDataBase + plan().values[id].memory_offset;
    }

    std::span<const uint8_t> seeded(compiler::ValueId id) {
        compiler::Tensor tensor = graph_.tensors[planned().kernels.values[id].tensor];
        if (!tensor.shape.empty()) tensor.shape[0] *= how_.batch;
        return seeded_.emplace_back(compiler::seeded_bytes(tensor, how_.seed));
    }

    void read_back(compiler::ValueId id, const Region& region) {
        job_.outputs.push_back(region);
        read_back_.push_back(id);
    }

    void lay_out_edge(size_t k) {
        const compiler::Kernel& kernel = planned().kernels.kernels[k];
        const compiler::ValueId in = kernel.inputs[0], out = kernel.output;
        const auto bytes = seeded(out);
        const auto& from = plan().values[in];
        const auto& to = plan().values[out];
        if (!to.resident) job_.preload.push_back({Space::kDevice, device_address(out), bytes});
        const bool input = planned().kernels.values[in].is_input;
        if (!from.resident && !input)
            read_back(in, {Space::kDevice, device_address(in), bytes_of(in)});
        for (uint32_t core = 0; core < plan().cores; ++core)
            for (uint32_t round = 0; round < plan().kernels[k].rounds; ++round) {
                const compiler::Visit visit{static_cast<uint32_t>(k), round};
                EdgeBytes edge;
                edge.core = core;
                edge.node = static_cast<int32_t>(k);
                edge.round = round;
                if (from.resident && !input) {
                    const Range& part = plan().part(from, core, visit);
                    edge.taken = {plan().address(from, visit), part.begin, part.size()};
                }
                if (to.resident) {
                    const Range& part = plan().part(to, core, visit);
                    edge.address = plan().address(to, visit);
                    edge.bytes = bytes.subspan(part.begin, part.size());
                }
                job_.edges.push_back(edge);
            }
    }

    uint64_t bytes_of(compiler::ValueId id) const { return planned().kernels.values[id].bytes; }

    void gather(GraphResult& result) const {
        size_t at = 0;
        for (size_t i = 0; i < read_back_.size(); ++i) {
            const uint64_t bytes = job_.outputs[i].bytes;
            const auto first = result.run.outputs.begin() + static_cast<ptrdiff_t>(at);
            result.computed.push_back({planned().kernels.values[read_back_[i]].tensor,
                                       {first, first + static_cast<ptrdiff_t>(bytes)}});
            at += bytes;
        }
        for (const TakenBytes& taken : result.run.taken) {
            const compiler::ValueId in =
                planned().kernels.kernels[static_cast<size_t>(taken.node)].inputs[0];
            const compiler::TensorId tensor = planned().kernels.values[in].tensor;
            auto it = std::ranges::find(result.computed, tensor, &ComputedTensor::tensor);
            if (it == result.computed.end())
                it = result.computed.insert(it, {tensor, std::vector<uint8_t>(bytes_of(in))});
            std::ranges::copy(taken.bytes,
                              it->bytes.begin() + static_cast<ptrdiff_t>(taken.offset));
        }
    }

    const compiler::Graph graph_;
    const GraphOptions how_;
    compiler::StreamedProgram program_;
    StreamJob job_;
    std::vector<compiler::DataPiece> data_;
    std::deque<std::vector<uint8_t>> seeded_;
    std::vector<compiler::ValueId> read_back_;
};

}  // namespace

GraphResult run_graph(compiler::Graph graph, const arch::ChipConfig& chip, const GraphOptions& how,
                      const RunOptions& options) {
    return GraphRun(std::move(graph), chip, how, options).run(chip, options);
}

RunResult time_graph(const compiler::Graph& graph, const arch::ChipConfig& chip,
                     compiler::PlanMode plan) {
    RunOptions options;
    options.functional = false;
    GraphResult result = run_graph(graph, chip, {.plan = plan}, options);
    require_sound(result.run);
    return std::move(result.run);
}

compiler::ElementType element_type_of(const arch::ChipConfig& chip) {
    return chip.mxu.dtype == arch::Dtype::kBf16 ? compiler::ElementType::kBf16
                                                : compiler::ElementType::kInt8;
}

RunResult time_list(const tables::Workload& workload, const arch::ChipConfig& chip,
                    compiler::PlanMode plan) {
    return time_graph(graph_of(workload, element_type_of(chip)), chip, plan);
}

RunResult time_list_apart(const tables::Workload& workload, const arch::ChipConfig& chip,
                          compiler::PlanMode plan) {
    return run_apart(workload.name, [&] { return time_list(workload, chip, plan); });
}

}  // namespace tandem::run
