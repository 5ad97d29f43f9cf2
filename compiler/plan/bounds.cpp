// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/bounds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/vector_rules.h"
#include "base/divide.h"
#include "compiler/plan/least_bytes.h"

namespace tandem::compiler {

namespace {

using base::divide_up;

double number(uint64_t value) { return static_cast<double>(value); }

/// Positions of an image's axis that windows read.
uint64_t touched(uint64_t in, uint64_t out, uint64_t kernel, uint64_t stride, uint64_t dilation,
                 uint64_t pad) {
    if (kernel == 1 && stride == 1 && pad == 0) return std::min(in, out);
    std::vector<bool> read(in);
    for (uint64_t o = 0; o < out; ++o)
        for (uint64_t k = 0; k < kernel; ++k) {
            const uint64_t at = o * stride + k * dilation;
            if (at >= pad && at - pad < in) read[at - pad] = true;
        }
    return static_cast<uint64_t>(std::count(read.begin(), read.end(), true));
}

uint64_t touched_bytes(const ImageWindow& w) {
    return w.images * touched(w.in_h, w.out_h, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) *
           touched(w.in_w, w.out_w, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left) *
           w.pixel_bytes();
}

/// Cycles in which a port carries `bytes` of a row; 0 bytes per cycle: it is wide enough.
uint64_t beats(uint64_t bytes, uint32_t bytes_per_cycle) {
    return bytes_per_cycle == 0 ? 1 : std::max<uint64_t>(1, divide_up(bytes, bytes_per_cycle));
}

/// Drains of a core at a time.
uint32_t drains_at_a_time(const arch::ChipConfig& chip) {
    return std::min(chip.drains_at_a_time(), chip.mxu.count);
}

/// What every kernel pays.
uint64_t launch_cycles(const arch::ChipConfig& chip) {
    return chip.cycles_in(chip.sequencer.kernel_launch_ps);
}

constexpr double Bounds::*kCycles[] = {
    &Bounds::arrays,      &Bounds::vector,          &Bounds::drain, &Bounds::weights,
    &Bounds::activations, &Bounds::device_memory,   &Bounds::cmem,  &Bounds::host_in,
    &Bounds::host_out,    &Bounds::synchronisation, &Bounds::launch};
constexpr uint64_t Bounds::*kBytes[] = {&Bounds::compulsory, &Bounds::least_memory,
                                        &Bounds::least_host_in, &Bounds::least_host_out};

class KernelBounds {
  public:
    KernelBounds(const KernelGraph& graph, const Plan& plan, const arch::ChipConfig& chip, size_t k)
        : graph_(graph), plan_(plan), chip_(chip), kernel_(graph.kernels[k]), index_(k) {}

    Bounds run() {
        if (kernel_.is_alias() || kernel_.is_edge()) return {};
        for (const ValueId id : inputs()) add_input(id);
        add_output();
        const LeastBytes least = least_bytes(request());
        kernel_.matmul() != nullptr ? add_product(least) : add_vector();
        add_memory(least);
        bounds_.launch = repeat() * number(launch_cycles(chip_));
        // The results of every kernel are waited for: by the next one, or before they leave.
        if (chip_.sequencer.layer_sync)
            bounds_.synchronisation = repeat() * number(chip_.sync_cycles());
        return bounds_;
    }

  private:
    double repeat() const { return number(kernel_.repeat); }
    double buffers() const { return number(chip_.unified_buffer_bytes * plan_.cores); }
    double arrays() const { return number(uint64_t{plan_.cores} * chip_.mxu.count); }
    double cycles(double bytes, uint64_t bytes_per_second) const {
        return bytes / number(bytes_per_second) * number(chip_.clock_hz);
    }

    // ---- bytes

    /// Each value once, whatever operands it is.
    std::vector<ValueId> inputs() const {
        std::vector<ValueId> ids(kernel_.operands().begin(), kernel_.operands().end());
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }

    uint64_t bytes_read(ValueId id) const {
        uint64_t bytes = 0;
        for (size_t i = 0; i < kernel_.operands().size(); ++i) {
            if (kernel_.inputs[i] != id) continue;
            const MatmulWork* matmul = kernel_.matmul();
            const uint64_t of_operand =
                kernel_.window() != nullptr && i == 0
                    ? touched_bytes(*kernel_.window()) * (matmul != nullptr ? matmul->passes : 1)
                    : operand_of_lines(kernel_, graph_, i, {0, lines_of(kernel_)}).size();
            bytes = std::max(bytes, of_operand);
        }
        return std::min(bytes, graph_.values[id].bytes);
    }

    /// An input of the graph that stays comes when it is read for the first time.
    bool comes(ValueId id) const {
        if (!plan_.values[id].resident) return true;
        if (!graph_.values[id].is_input) return false;
        for (size_t k = 0; k < index_; ++k)
            if (!graph_.kernels[k].is_alias() &&
                std::ranges::find(graph_.kernels[k].inputs, id) != graph_.kernels[k].inputs.end())
                return false;
        return true;
    }

    void add_input(ValueId id) {
        if (!comes(id)) return;
        const Value& value = graph_.values[id];
        const double bytes = number(bytes_read(id));
        if (!value.is_input || value.home != Memory::kHost) {
            (plan_.values[id].resident ? loaded_bytes_ : input_bytes_) += bytes;
            if (plan_.values[id].in_cmem) cmem_input_bytes_ += bytes;
            return;
        }
        const double moved =
            plan_.values[id].resident ? bytes : bytes_of_repetitions(bytes, repeat(), buffers());
        add_host(moved, bytes, value, graph_.host_input_bytes, bounds_.host_in,
                 bounds_.least_host_in);
    }

    void add_output() {
        const Value& value = graph_.values[kernel_.output];
        const bool stays = plan_.values[kernel_.output].resident;
        // What stays leaves once at the end, if at all.
        const double bytes = number(value.bytes) * (stays ? 1 : repeat());
        const bool host = value.is_output && value.home == Memory::kHost;
        if (host)
            add_host(bytes, bytes, value, graph_.host_output_bytes, bounds_.host_out,
                     bounds_.least_host_out);
        if (!stays && (!host || plan_.values[kernel_.output].copied)) output_bytes_ = bytes;
    }

    /// `stated`: bytes that an application gives in place of the value's; 0: none.
    void add_host(double bytes, double once, const Value& value, uint64_t stated, double& cycles_,
                  uint64_t& least) {
        const double scale =
            stated == 0 || value.bytes == 0 ? 1 : number(stated) / number(value.bytes);
        cycles_ += cycles(bytes * scale, chip_.host.bytes_per_second);
        least += static_cast<uint64_t>(bytes * scale);
        bounds_.compulsory += static_cast<uint64_t>(once * scale);
    }

    bool weights_in_cmem() const { return plan_.weights_in_cmem && !per_image(); }
    bool output_in_cmem() const { return plan_.values[kernel_.output].in_cmem; }
    /// Weights and the input of a product do not share a memory.
    bool weights_apart() const {
        return weights_in_cmem() != plan_.values[kernel_.inputs[0]].in_cmem;
    }
    bool per_image() const {
        return kernel_.matmul() != nullptr && kernel_.matmul()->weights_per_image;
    }

    /// What of the input comes from CMEM: of a product, all or none.
    double cmem_input(const LeastBytes& least) const {
        if (cmem_input_bytes_ == input_bytes_) return least.input;
        return bytes_of_repetitions(cmem_input_bytes_, repeat(), buffers());
    }

    void add_memory(const LeastBytes& least) {
        const double weight_bytes = least.fetches * number(chip_.tile_bytes());
        const double activation_bytes = least.input + loaded_bytes_ + output_bytes_;
        const uint64_t memory = chip_.memory.usable_bytes_per_second();
        const double cmem_bytes = cmem_input(least) + (output_in_cmem() ? output_bytes_ : 0);
        const double of_memory = cycles(activation_bytes - cmem_bytes, memory);
        const double of_cmem =
            cmem_bytes == 0 ? 0 : cycles(cmem_bytes, chip_.cmem.bytes_per_second);
        bounds_.activations = std::max(of_memory, of_cmem);
        bounds_.weights =
            cycles(weight_bytes, weights_in_cmem() ? chip_.cmem.bytes_per_second : memory);
        bounds_.device_memory = of_memory + (weights_in_cmem() ? 0 : bounds_.weights);
        bounds_.cmem = of_cmem + (weights_in_cmem() ? bounds_.weights : 0);
        bounds_.least_memory = static_cast<uint64_t>(weight_bytes + activation_bytes);
        bounds_.compulsory += tiles() * chip_.tile_bytes() +
                              static_cast<uint64_t>(input_bytes_ + loaded_bytes_ + output_bytes_);
    }

    // ---- matrix products

    const MatmulWork& work() const { return *kernel_.matmul(); }
    /// With weights of their own.
    uint64_t matrices() const { return per_image() ? work().window.images : 1; }
    uint64_t tiles() const {
        return kernel_.matmul() == nullptr ? 0 : matrices() * tiles_of(plan_.kernels[index_]);
    }

    LeastBytesRequest request() const {
        LeastBytesRequest r;
        r.repeat = repeat();
        r.cores = plan_.cores;
        r.arrays = plan_.cores * chip_.mxu.count;
        r.buffer_bytes = chip_.unified_buffer_bytes;
        r.accumulator_rows = chip_.mxu.accumulator_rows;
        r.tile_bytes = chip_.tile_bytes();
        r.input_bytes = input_bytes_;
        if (kernel_.matmul() == nullptr) return r;
        const ImageWindow& window = work().window;
        r.tiles = number(tiles());
        r.rows = number(window.rows());
        for (const ColumnTile& tile : plan_.kernels[index_].tiles)
            r.sums += number(tile.k_tiles - 1);
        if (window.gathered().one_to_one() && work().passes == 1 && work().groups.size() == 1 &&
            !per_image() && !weights_apart()) {
            r.row_bytes = number(window.pixel_bytes());
            r.k_tiles = number(plan_.kernels[index_].tiles.front().k_tiles);
        }
        return r;
    }

    void add_product(const LeastBytes& least) {
        add_arrays(least);
        add_drain();
    }

    /// A row takes its cycle, a fetch at least those of the tile's way into the array.
    void add_arrays(const LeastBytes& least) {
        const double load = number(chip_.mxu.rows + 1);
        const uint64_t beat = beats(chip_.row_bytes(), chip_.buffer_ports.read_bytes_per_cycle);
        const double rows = number(work().window.rows() / matrices() * work().passes * beat);
        const double all = number(tiles()), tile = std::max(rows, load);
        const double stay = std::min(all, arrays());  // from one repetition to the next
        const double busy = all * tile + (repeat() - 1) * ((all - stay) * tile + stay * rows);
        bounds_.arrays = std::max(busy, least.loads * load) / arrays();
    }

    void add_drain() {
        const double rows = number(work().window.rows());
        uint64_t chain = 1;
        if (!work().floats.chain.steps.empty()) {
            arch::VectorState state;
            set_chain(state, work().floats.chain);
            chain = arch::chain_cycles(state, chip_.vector);
        }
        const uint64_t element = std::max(1u, work().out_element_bytes / work().passes);
        double cycles = 0;
        for (const ColumnTile& tile : plan_.kernels[index_].tiles)
            cycles += rows * number(std::max(divide_up(tile.n_len, chip_.drain_lanes()) * chain,
                                             beats(tile.n_len * element,
                                                   chip_.buffer_ports.write_bytes_per_cycle)));
        bounds_.drain = repeat() * cycles / number(uint64_t{plan_.cores} * drains_at_a_time(chip_));
    }

    // ---- vector kernels

    void add_vector() {
        double vectors = 0;
        for (const VectorStep& step : kernel_.vector()->steps) vectors += vectors_of(step);
        bounds_.vector = repeat() * vectors / number(chip_.vector.lanes) / plan_.cores;
    }

    /// Elements, each as often as it takes a lane.
    double vectors_of(const VectorStep& step) const {
        const VectorWork& work = *kernel_.vector();
        double all = number(work.lines), kept = all;
        for (size_t axis = work.window ? 2 : 1; axis < arch::kVectorAxes; ++axis) {
            all *= number(step.shape[axis]);
            if (std::ranges::find(step.reduced_axes, axis) == step.reduced_axes.end())
                kept *= number(step.shape[axis]);
        }
        using Kind = VectorStep::Kind;
        if (step.kind == Kind::kLookup || step.kind == Kind::kMove) return all;
        arch::VectorState state;
        set_chain(state, step.chain);
        const double chain = arch::chain_cycles(state, chip_.vector);
        if (step.kind == Kind::kMap) return all * chain;
        const bool passes = !chip_.vector.fixed_pipeline && !step.chain.steps.empty();
        return all + (passes ? kept * chain : 0);
    }

    const KernelGraph& graph_;
    const Plan& plan_;
    const arch::ChipConfig& chip_;
    const Kernel& kernel_;
    const size_t index_;
    Bounds bounds_;
    // Through the memory.
    double input_bytes_ = 0;       ///< of one repetition
    double cmem_input_bytes_ = 0;  ///< of these, from CMEM
    double loaded_bytes_ = 0;      ///< of what stays from then on
    double output_bytes_ = 0;      ///< of all repetitions
};

}  // namespace

double Bounds::host() const { return std::max(host_in, host_out); }

double Bounds::cycles() const {
    return launch + std::max({arrays + synchronisation, vector + drain + synchronisation,
                              device_memory, cmem, host_in, host_out});
}

double Bounds::busiest() const {
    return std::max({arrays, vector + drain, device_memory, cmem, host_in, host_out});
}

std::string_view Bounds::name() const {
    const bool shared = cmem == 0 || device_memory == 0;
    const double both = weights + activations;
    const std::array<std::pair<std::string_view, double>, 7> all{{
        {"compute", compute()},
        {"weights", shared && weights >= activations ? both : weights},
        {"activations", shared && activations > weights ? both : activations},
        {"drain", drain},
        {"host", host()},
        {"synchronisation", synchronisation},
        {"launch", launch},
    }};
    return std::ranges::max_element(all, {}, &std::pair<std::string_view, double>::second)->first;
}

Bounds& Bounds::operator+=(const Bounds& other) {
    for (const auto cycles : kCycles) this->*cycles += other.*cycles;
    for (const auto bytes : kBytes) this->*bytes += other.*bytes;
    return *this;
}

Bounds& Bounds::operator*=(uint64_t runs) {
    for (const auto cycles : kCycles) this->*cycles *= number(runs);
    for (const auto bytes : kBytes) this->*bytes *= runs;
    return *this;
}

std::vector<Bounds> lower_bounds(const KernelGraph& graph, const Plan& plan,
                                 const arch::ChipConfig& chip) {
    std::vector<Bounds> bounds;
    for (size_t k = 0; k < graph.kernels.size(); ++k)
        bounds.push_back(KernelBounds(graph, plan, chip, k).run());
    return bounds;
}

}  // namespace tandem::compiler
