// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/steps.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "arch/error.h"
#include "compiler/passes/fit.h"

namespace tandem::compiler {

namespace {

// Scalar registers at the start of a program.
constexpr uint8_t kDataBase = 1, kInputBase = 2, kOutputBase = 3;

/// Host transfers are cut into pieces of about this size, so that work starts before all has come.
constexpr uint64_t kTransferBytes = 64 * 1024;
/// Large sums are cut into parts, so that the next node starts before all is added.
constexpr uint64_t kAddElements = 1024;
constexpr uint64_t kMostAddParts = 4;

Access buffer_bytes(uint64_t begin, uint64_t bytes) {
    return {Space::kUnifiedBuffer, begin, begin + bytes};
}

/// Bytes of the unified buffer that a matmul can read: whole image rows of all channels it takes.
Access window_bytes(const isa::Geometry& g, const isa::Matmul& matmul, uint32_t element_bytes) {
    const uint64_t positions = uint64_t{g.out_height} * g.out_width;
    const auto row_of = [&](uint64_t m, uint64_t tap) {
        const auto oh = static_cast<int64_t>(m % positions / g.out_width);
        const int64_t ih = oh * g.stride_h + static_cast<int64_t>(tap) * g.dilation_h - g.pad_top;
        return static_cast<uint64_t>(std::clamp<int64_t>(ih, 0, g.in_height - 1));
    };
    const uint64_t first = matmul.row_start, last = first + matmul.rows - 1;
    const uint64_t begin =
        first / positions * g.image_stride + row_of(first, 0) * g.in_width * g.pixel_stride;
    // Images follow one another, so that the last row of the last image lies behind all others.
    const uint64_t last_pixel = (row_of(last, g.kernel_h - 1u) + 1) * g.in_width - 1;
    const uint64_t end = last / positions * g.image_stride + last_pixel * g.pixel_stride +
                         uint64_t{g.channels} * element_bytes;
    return {Space::kUnifiedBuffer, matmul.ub_addr + begin, matmul.ub_addr + end};
}

class StepEmitter {
  public:
    StepEmitter(const LegalGraph& graph, const Placement& placement, const ProgramData& data,
                const arch::ChipConfig& chip)
        : graph_(graph), placement_(placement), data_(data), chip_(chip) {
        for (uint32_t n = 0; n < graph.nodes.size(); ++n)
            for (const WeightRun& run : data.plans[n].runs) weight_runs_.push_back({n, run});
    }

    std::vector<Step> run() {
        if (placement_.params_stay) load_all_params();
        emit_inputs();
        for (node_ = 0; node_ < graph_.nodes.size(); ++node_) {
            try {
                load_params_up_to(node_ + placement_.prefetch_nodes);
                std::visit([this](const auto& work) { emit(work); }, node().work);
                emit_outputs();
            } catch (const std::out_of_range& error) {
                throw UserError(graph_.file + ": " + node().text + ", batch " +
                                std::to_string(graph_.batch) + ": expected " + error.what());
            }
        }
        add(isa::Halt{}, {}, {}, -1);
        return std::move(steps_);
    }

  private:
    struct NodeRun {
        uint32_t node;
        WeightRun run;
    };

    const LegalNode& node() const { return graph_.nodes[node_]; }
    uint32_t address(BufferId id) const { return placement_.buffers[id]; }
    uint32_t params_address() const { return placement_.params[node_]; }
    Access all_of(BufferId id) const { return buffer_bytes(address(id), graph_.buffers[id].bytes); }
    Access params() const { return buffer_bytes(params_address(), node().params.size()); }
    uint32_t element_bytes() const { return arch::element_bytes(chip_.mxu.dtype); }
    uint8_t rounding() const { return static_cast<uint8_t>(graph_.rounding); }

    Step& add(AnyInstruction instruction, std::vector<Access> reads, std::vector<Access> writes,
              int32_t node) {
        steps_.push_back({instruction, std::move(reads), std::move(writes), {.node = node}});
        return steps_.back();
    }

    Step& add_for_node(AnyInstruction instruction, std::vector<Access> reads,
                       std::vector<Access> writes) {
        Step& step =
            add(instruction, std::move(reads), std::move(writes), static_cast<int32_t>(node_));
        if (step.unit() == isa::Unit::kVector && !step.writes.empty())
            step.buffer = static_cast<int32_t>(node().output);
        return step;
    }

    void emit_inputs() {
        uint64_t host_offset = 0;
        for (const BufferId id : graph_.inputs) {
            for_pieces(graph_.buffers[id].bytes, [&](uint64_t at, uint64_t bytes) {
                const isa::ReadHost read{
                    .header = {},
                    .ub_addr = static_cast<uint32_t>(address(id) + at),
                    .offset = fit<uint32_t>(host_offset + at, "bytes of inputs"),
                    .bytes = static_cast<uint32_t>(bytes),
                    .base = kInputBase};
                add(read, {}, {buffer_bytes(read.ub_addr, bytes)}, -1).buffer =
                    static_cast<int32_t>(id);
            });
            host_offset += graph_.buffers[id].bytes;
        }
    }

    /// Outputs leave as soon as their node is done.
    void emit_outputs() {
        uint64_t host_offset = 0;
        for (const BufferId id : graph_.outputs) {
            const uint64_t total = graph_.buffers[id].bytes;
            if (id == node().output && !std::holds_alternative<AliasOp>(node().work))
                for_pieces(total, [&](uint64_t at, uint64_t bytes) {
                    const isa::WriteHost write{
                        .header = {},
                        .ub_addr = static_cast<uint32_t>(address(id) + at),
                        .offset = fit<uint32_t>(host_offset + at, "bytes of outputs"),
                        .bytes = static_cast<uint32_t>(bytes),
                        .base = kOutputBase};
                    add_for_node(write, {buffer_bytes(write.ub_addr, bytes)}, {});
                });
            host_offset += total;
        }
    }

    /// Near-equal pieces of about kTransferBytes.
    template <class Visit>
    static void for_pieces(uint64_t total, const Visit& visit) {
        const uint64_t pieces = std::max<uint64_t>(total / kTransferBytes, 1);
        for (uint64_t i = 0; i < pieces; ++i) {
            const uint64_t at = total * i / pieces;
            visit(at, total * (i + 1) / pieces - at);
        }
    }

    /// Before anything else, so that no weight tile stands in the way.
    void load_all_params() {
        params_loaded_ = graph_.nodes.size();
        if (data_.params_bytes == 0) return;
        const isa::ReadMemory read{.header = {},
                                   .ub_addr = placement_.params_base,
                                   .offset = 0,
                                   .bytes = data_.params_bytes,
                                   .base = kDataBase};
        add(read, {}, {buffer_bytes(read.ub_addr, read.bytes)}, -1);
    }

    void load_params_up_to(size_t last) {
        for (; params_loaded_ < graph_.nodes.size() && params_loaded_ <= last; ++params_loaded_) {
            const LegalNode& owner = graph_.nodes[params_loaded_];
            if (owner.params.empty()) continue;
            const isa::ReadMemory read{.header = {},
                                       .ub_addr = placement_.params[params_loaded_],
                                       .offset = data_.params_offsets[params_loaded_],
                                       .bytes = static_cast<uint32_t>(owner.params.size()),
                                       .base = kDataBase};
            add(read, {}, {buffer_bytes(read.ub_addr, read.bytes)},
                static_cast<int32_t>(params_loaded_));
        }
    }

    /// Fetches the run that starts at this block, if one does, and the one after it. Further ahead
    /// would be no use, the FIFO being short, and could fill the queue of the weight unit.
    void fetch_weights(uint32_t block) {
        if (runs_started_ < weight_runs_.size() && weight_runs_[runs_started_].node == node_ &&
            weight_runs_[runs_started_].run.first_block == block)
            ++runs_started_;
        for (; runs_fetched_ < std::min(weight_runs_.size(), runs_started_ + 1); ++runs_fetched_) {
            const auto& [owner, run] = weight_runs_[runs_fetched_];
            const uint64_t offset =
                data_.weight_offsets[owner] + uint64_t{run.first_tile} * chip_.tile_bytes();
            add(isa::ReadWeights{.header = {},
                                 .offset = static_cast<uint32_t>(offset),
                                 .tiles = run.tiles,
                                 .base = kDataBase},
                {}, {}, static_cast<int32_t>(owner));
        }
    }

    void emit(const MatmulOp& op) {
        window_.reset();
        const TilePlan& plan = data_.plans[node_];
        for (uint32_t b = 0; b < plan.blocks.size(); ++b) {
            fetch_weights(b);
            emit_block(op, plan.blocks[b]);
        }
    }

    void emit_block(const MatmulOp& op, const MatmulBlock& block) {
        const MatmulGroup& group = op.groups[block.group];
        if (!window_ || *window_ != group.window) {
            window_ = group.window;
            add_for_node(isa::SetWindow{.header = {}, .geometry = group.window}, {}, {});
        }
        const uint32_t acc_addr = take_accumulators(block.m_len);
        const auto parts = split_rows(block.m_len, chip_.mxu);
        for (uint32_t k = 0; k < block.k_tiles; ++k) {
            // Parts of the first tile wait only for the activations that they need, parts of the
            // last one let the drain begin early; in between they would be no use.
            const bool ends = k == 0 || k + 1 == block.k_tiles;
            uint32_t row = 0;
            for (const uint32_t rows : ends ? parts : std::vector<uint32_t>{block.m_len}) {
                emit_matmul(group, block, k, row, rows, acc_addr);
                if (k + 1 == block.k_tiles) pending_.push_back({row, rows});
                row += rows;
            }
        }
        for (const auto& [row, rows] : pending_) emit_drain(op, block, row, rows, acc_addr);
        pending_.clear();
    }

    void emit_matmul(const MatmulGroup& group, const MatmulBlock& block, uint32_t k_tile,
                     uint32_t row, uint32_t rows, uint32_t acc_addr) {
        isa::Matmul m;
        m.ub_addr = address(node().inputs[0]) + group.in_channel * element_bytes();
        m.row_start = fit<uint32_t>(block.m_start + row, "output positions");
        m.rows = fit<uint16_t>(rows, "rows of a block");
        m.acc_addr = fit<uint16_t>(acc_addr + row, "accumulator rows");
        m.k_start = k_tile * chip_.mxu.rows;
        m.k_len = fit<uint16_t>(std::min(chip_.mxu.rows, group.k - m.k_start), "array rows");
        m.n_len = fit<uint16_t>(std::min(block.n_len, group.useful_n), "array columns");
        m.new_weights = row == 0 && block.loads_weights;
        m.accumulate = k_tile != 0;
        Step& step =
            add_for_node(m, {window_bytes(group.window, m, element_bytes())},
                         {{Space::kAccumulators, m.acc_addr, m.acc_addr + uint64_t{rows}}});
        set_tile(step, block, group, m.row_start, m.k_start);
    }

    void emit_drain(const MatmulOp& op, const MatmulBlock& block, uint32_t row, uint32_t rows,
                    uint32_t acc_addr) {
        chip_.mxu.dtype == arch::Dtype::kBf16
            ? emit_activate<isa::ActivateFloat>(op, block, row, rows, acc_addr)
            : emit_activate<isa::Activate>(op, block, row, rows, acc_addr);
    }

    template <class Activate>
    void emit_activate(const MatmulOp& op, const MatmulBlock& block, uint32_t row, uint32_t rows,
                       uint32_t acc_addr) {
        const MatmulGroup& group = op.groups[block.group];
        const uint32_t channel = group.out_channel + block.n_start;
        const uint64_t first_row = block.m_start + row;
        const uint64_t first_byte = (first_row * op.out_channels + channel) * element_bytes();
        Activate a;
        a.ub_addr = static_cast<uint32_t>(address(node().output) + first_byte);
        a.acc_addr = fit<uint16_t>(acc_addr + row, "accumulator rows");
        a.rows = fit<uint16_t>(rows, "rows of a block");
        a.row_stride = fit<decltype(a.row_stride)>(op.out_channels * element_bytes(),
                                                   "bytes of an output row");
        a.cols = fit<uint16_t>(block.n_len, "array columns");
        std::vector<Access> reads = {
            {Space::kAccumulators, a.acc_addr, a.acc_addr + uint64_t{rows}}};
        if constexpr (std::is_same_v<Activate, isa::Activate>) {
            a.params_addr =
                params_address() + channel * static_cast<uint32_t>(sizeof(numerics::ChannelParams));
            set_range(a, op.range);
            a.rounding = rounding();
            reads.push_back(
                buffer_bytes(a.params_addr, block.n_len * sizeof(numerics::ChannelParams)));
        }
        const uint64_t written =
            ((rows - 1) * uint64_t{op.out_channels} + block.n_len) * element_bytes();
        Step& step = add_for_node(a, std::move(reads), {buffer_bytes(a.ub_addr, written)});
        set_tile(step, block, group, first_row, 0);
    }

    static void set_tile(Step& step, const MatmulBlock& block, const MatmulGroup& group,
                         uint64_t m_start, uint32_t k_start) {
        step.source.m_start = static_cast<uint32_t>(m_start);
        step.source.n_start = group.out_channel + block.n_start;
        step.source.k_start = k_start;
    }

    template <class Instruction>
    static void set_range(Instruction& instruction, const OutputRange& range) {
        instruction.zero_point = static_cast<int8_t>(range.zero_point);
        instruction.clamp_min = static_cast<int8_t>(range.low);
        instruction.clamp_max = static_cast<int8_t>(range.high);
    }

    /// The accumulators are used in turns, so that a block is drained while others are computed.
    uint32_t take_accumulators(uint32_t rows) {
        if (next_accumulator_ + rows > chip_.mxu.accumulator_rows) next_accumulator_ = 0;
        const uint32_t first = next_accumulator_;
        next_accumulator_ += rows;
        return first;
    }

    void emit(const AddOp& op) {
        const BufferId a = node().inputs[0], b = node().inputs[1], out = node().output;
        const uint64_t parts = std::clamp<uint64_t>(op.elements / kAddElements, 1, kMostAddParts);
        for (uint64_t i = 0; i < parts; ++i) {
            const uint64_t at = op.elements * i / parts;
            const uint64_t count = op.elements * (i + 1) / parts - at;
            isa::Add add;
            add.a_addr = static_cast<uint32_t>(address(a) + at);
            add.b_addr = static_cast<uint32_t>(address(b) + at);
            add.out_addr = static_cast<uint32_t>(address(out) + at);
            add.count = static_cast<uint32_t>(count);
            add.params_addr = params_address();
            add.rounding = rounding();
            add_for_node(
                add, {buffer_bytes(add.a_addr, count), buffer_bytes(add.b_addr, count), params()},
                {buffer_bytes(add.out_addr, count)});
        }
    }

    void emit(const PoolOp& op) {
        add_for_node(isa::SetPoolWindow{.header = {}, .geometry = op.window}, {}, {});
        isa::Pool pool;
        pool.in_addr = address(node().inputs[0]);
        pool.out_addr = address(node().output);
        pool.images = fit<uint16_t>(op.images, "images");
        pool.kind = static_cast<uint8_t>(op.kind);
        pool.rounding = rounding();
        set_range(pool, op.range);
        pool.params_addr = params_address();
        add_for_node(pool, {all_of(node().inputs[0]), params()}, {all_of(node().output)});
    }

    void emit(const SoftmaxOp& op) {
        isa::Softmax softmax;
        softmax.in_addr = address(node().inputs[0]);
        softmax.out_addr = address(node().output);
        softmax.rows = fit<uint16_t>(op.rows, "rows");
        softmax.cols = fit<uint16_t>(op.cols, "elements of a row");
        softmax.params_addr = params_address();
        add_for_node(softmax, {all_of(node().inputs[0]), params()}, {all_of(node().output)});
    }

    void emit(const AliasOp&) {}

    const LegalGraph& graph_;
    const Placement& placement_;
    const ProgramData& data_;
    const arch::ChipConfig& chip_;
    std::vector<Step> steps_;
    size_t node_ = 0;
    size_t params_loaded_ = 0;
    std::vector<NodeRun> weight_runs_;
    size_t runs_started_ = 0, runs_fetched_ = 0;
    std::optional<isa::Geometry> window_;
    uint32_t next_accumulator_ = 0;
    struct Part {
        uint32_t row, rows;
    };
    std::vector<Part> pending_;  ///< drained after the block's matmuls
};

}  // namespace

std::vector<Step> emit_steps(const LegalGraph& graph, const Placement& placement,
                             const ProgramData& data, const arch::ChipConfig& chip) {
    return StepEmitter(graph, placement, data, chip).run();
}

}  // namespace tandem::compiler
