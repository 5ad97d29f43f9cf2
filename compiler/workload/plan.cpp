// SPDX-License-Identifier: Apache-2.0
#include "compiler/workload/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "arch/error.h"

namespace tandem::compiler {
namespace {

using workload::Layer;

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/// Part `i` of `total` cut into `parts` parts that differ by at most one.
uint64_t share(uint64_t total, uint64_t parts, uint64_t i) {
    return total * (i + 1) / parts - total * i / parts;
}

/// a * b / c without overflow of the product.
uint64_t scale(uint64_t a, uint64_t b, uint64_t c) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b + c - 1) / c);
}

class Planner {
  public:
    Planner(const workload::Workload& workload, const arch::ChipConfig& chip, uint32_t core)
        : workload_(workload), chip_(chip), core_(core) {}

    WorkloadPlan run() {
        for (const Layer& layer : workload_.layers) add_share(layer);
        set_host_bytes();
        choose_places();
        for (size_t i = 0; i < plan_.layers.size(); ++i) lay_out(i);
        for (const LayerPlan& layer : plan_.layers)
            plan_.peak_buffer_bytes = std::max(plan_.peak_buffer_bytes, layer.buffer_bytes);
        place_weights();
        return std::move(plan_);
    }

  private:
    uint64_t element_bytes() const { return arch::element_bytes(chip_.mxu.dtype); }

    static bool product(const Layer& layer) { return layer.m != 0; }

    /// Splitting rows, every core fetches all weights; splitting columns, it reads all rows.
    bool splits_columns(const Layer& layer) const {
        if (chip_.cores == 1 || !product(layer) || layer.n < uint64_t{chip_.cores}) return false;
        return layer.m < chip_.cores || layer.weights() > layer.input_elements;
    }

    void add_share(const Layer& layer) {
        LayerPlan plan;
        const uint64_t bytes = element_bytes() * layer.passes;
        if (product(layer)) {
            const bool columns = splits_columns(layer);
            plan.rows = columns ? layer.m : share(layer.m, chip_.cores, core_);
            plan.cols = columns ? share(layer.n, chip_.cores, core_) : layer.n;
            plan.k_tiles = divide_up(layer.k, chip_.mxu.rows);
            plan.n_tiles = divide_up(plan.cols, chip_.mxu.cols) * layer.groups;
            plan.input_bytes = scale(layer.input_elements * bytes, plan.rows, layer.m);
            plan.output_bytes =
                scale(scale(layer.output_elements * bytes, plan.rows, layer.m), plan.cols, layer.n);
            plan.tile_offset = plan_.weight_bytes;
            plan_.weight_bytes += plan.k_tiles * plan.n_tiles * chip_.tile_bytes();
        } else {
            plan.rows = share(layer.elements, chip_.cores, core_);
            plan.input_bytes = share(layer.input_elements * bytes, chip_.cores, core_);
            plan.output_bytes = share(layer.output_elements * bytes, chip_.cores, core_);
        }
        plan.bytes_in = plan.input_bytes;
        plan.bytes_out = plan.output_bytes;
        plan_.layers.push_back(plan);
    }

    /// An application may say what comes from the host and goes there.
    void set_host_bytes() {
        const auto bytes = [&](uint64_t elements, const Layer& layer) {
            return share(elements * layer.passes * element_bytes(), chip_.cores, core_);
        };
        if (workload_.host_input_elements != 0)
            plan_.layers.front().bytes_in =
                bytes(workload_.host_input_elements, workload_.layers.front());
        if (workload_.host_output_elements != 0)
            plan_.layers.back().bytes_out =
                bytes(workload_.host_output_elements, workload_.layers.back());
    }

    /// What lies between two layers stays in the buffer if it fits there with what is there already.
    void choose_places() {
        const uint64_t room = usable();
        uint64_t before = 0;  // bytes that stay between the two layers before
        for (size_t i = 0; i < plan_.layers.size(); ++i) {
            LayerPlan& layer = plan_.layers[i];
            if (i == 0) {
                layer.input = workload_.chained ? Place::kHost : Place::kMemory;
                if (layer.input_bytes <= room / 2) before = layer.input_bytes;
            }
            const bool last = i + 1 == plan_.layers.size();
            if (!workload_.chained) {
                layer.input = layer.output = Place::kMemory;
                continue;
            }
            if (last) {
                layer.output = Place::kHost;
                continue;
            }
            LayerPlan& next = plan_.layers[i + 1];
            const uint64_t between = std::max(layer.output_bytes, next.input_bytes);
            const bool whole = !splits_columns(workload_.layers[i]) &&
                               !splits_columns(workload_.layers[i + 1]);
            const bool stays =
                whole && between + before <= (before != 0 ? room : room / 2);
            layer.output = next.input = stays ? Place::kBuffer : Place::kMemory;
            before = stays ? between : 0;
        }
    }

    /// The buffer but for the parameters that the vector unit reads.
    uint64_t usable() const { return chip_.unified_buffer_bytes - params_bytes(); }
    uint64_t params_bytes() const {
        return std::min<uint64_t>(uint64_t{chip_.mxu.cols} * 12, chip_.unified_buffer_bytes / 4);
    }

    /// Input from the bottom of the buffer, output from its top, or the other way round: what one
    /// layer leaves is where the next one finds it.
    void lay_out(size_t index) {
        LayerPlan& plan = plan_.layers[index];
        const Layer& layer = workload_.layers[index];
        const uint64_t unit_rows = product(layer) ? plan.rows : 1;
        if (plan.rows == 0) return;
        const bool whole_input = plan.input == Place::kBuffer || fits_whole(plan, plan.input_bytes);
        const uint64_t fixed = (whole_input ? plan.input_bytes : 0) +
                               (plan.output == Place::kBuffer ? plan.output_bytes : 0);
        plan.chunk_rows = product(layer) ? chunk_rows(index, fixed, whole_input) : plan.rows;
        const uint64_t chunks = product(layer) ? divide_up(plan.rows, plan.chunk_rows) : 1;
        const uint64_t copies = chunks > 1 ? 2 : 1;
        uint64_t in = plan.input_bytes, out = plan.output_bytes;
        if (!whole_input) in = copies * scale(in, plan.chunk_rows, unit_rows);
        if (plan.output != Place::kBuffer && product(layer))
            out = copies * scale(out, plan.chunk_rows, unit_rows);
        plan.buffer_bytes = in + out;
        if (!product(layer)) plan.buffer_bytes = std::min(plan.buffer_bytes, usable());
        const bool input_below = index % 2 == 0;
        const auto bottom = static_cast<uint32_t>(params_bytes());
        const auto top_of = [&](uint64_t bytes) {
            return static_cast<uint32_t>(chip_.unified_buffer_bytes -
                                         std::min(bytes, usable()));
        };
        plan.input_address = input_below ? bottom : top_of(in);
        plan.output_address = input_below ? top_of(out) : bottom;
    }

    bool fits_whole(const LayerPlan& plan, uint64_t bytes) const {
        return bytes <= usable() / 2 &&
               bytes + (plan.output == Place::kBuffer ? plan.output_bytes : 0) <= usable();
    }

    /// The most rows at a time of which two inputs and two outputs fit beside what stays.
    uint64_t chunk_rows(size_t index, uint64_t fixed, bool whole_input) const {
        const LayerPlan& plan = plan_.layers[index];
        const uint64_t room = usable() > fixed ? usable() - fixed : 0;
        uint64_t moving = 0;  // bytes for all rows of what goes through in chunks
        if (!whole_input) moving += plan.input_bytes;
        if (plan.output != Place::kBuffer) moving += plan.output_bytes;
        if (moving == 0 || moving <= room) return plan.rows;
        const auto rows = static_cast<uint64_t>(static_cast<unsigned __int128>(room) * plan.rows /
                                                (static_cast<unsigned __int128>(moving) * 2));
        if (rows == 0) refuse(index, moving / plan.rows * 2, room);
        return std::min(rows, plan.rows);
    }

    [[noreturn]] void refuse(size_t index, uint64_t needed, uint64_t room) const {
        const Layer& layer = workload_.layers[index];
        throw UserError(layer.where, "layer " + layer.name,
                        fmt::format("a layer of which two rows fit into the {} bytes of the "
                                    "unified buffer of {} that are free",
                                    room, chip_.name),
                        fmt::format("{} bytes needed", needed));
    }

    void place_weights() {
        if (plan_.weight_bytes <= chip_.cmem.bytes) {
            plan_.weights_in_cmem = chip_.cmem.bytes != 0;
            return;
        }
        if (plan_.weight_bytes <= chip_.memory.bytes) return;
        // Kernels do not run at the same time: each has the memory for itself.
        for (size_t i = 0; i < plan_.layers.size(); ++i) {
            const LayerPlan& layer = plan_.layers[i];
            const uint64_t bytes = layer.k_tiles * layer.n_tiles * chip_.tile_bytes();
            if (workload_.chained || bytes > chip_.memory.bytes)
                throw UserError(workload_.layers[i].where, "layer " + workload_.layers[i].name,
                                fmt::format("weights that fit into the {} bytes of device memory "
                                            "of {}",
                                            chip_.memory.bytes, chip_.name),
                                fmt::format("{} bytes of weight tiles",
                                            workload_.chained ? plan_.weight_bytes : bytes));
        }
        for (LayerPlan& layer : plan_.layers) layer.tile_offset = 0;
    }

    const workload::Workload& workload_;
    const arch::ChipConfig& chip_;
    const uint32_t core_;
    WorkloadPlan plan_;
};

}  // namespace

WorkloadPlan plan_workload(const workload::Workload& workload, const arch::ChipConfig& chip,
                           uint32_t core) {
    return Planner(workload, chip, core).run();
}

}  // namespace tandem::compiler
