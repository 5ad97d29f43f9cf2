// SPDX-License-Identifier: Apache-2.0
#include "compiler/workload/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "arch/error.h"
#include "compiler/cut.h"

namespace tandem::compiler {
namespace {

using workload::Layer;

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
            plan.rows = columns ? layer.m : part(layer.m, chip_.cores, core_);
            plan.cols = columns ? part(layer.n, chip_.cores, core_) : layer.n;
            plan.k_tiles = divide_up(layer.k, chip_.mxu.rows);
            plan.n_tiles = divide_up(plan.cols, chip_.mxu.cols) * layer.groups;
            plan.input_bytes = scale(layer.input_elements * bytes, plan.rows, layer.m);
            plan.output_bytes =
                scale(scale(layer.output_elements * bytes, plan.rows, layer.m), plan.cols, layer.n);
            plan.tile_offset = plan_.weight_bytes;
            plan_.weight_bytes += plan.k_tiles * plan.n_tiles * chip_.tile_bytes();
        } else {
            plan.rows = part(layer.elements, chip_.cores, core_);
            plan.input_bytes = part(layer.input_elements * bytes, chip_.cores, core_);
            plan.output_bytes = part(layer.output_elements * bytes, chip_.cores, core_);
        }
        plan.bytes_in = plan.input_bytes;
        plan.bytes_out = plan.output_bytes;
        plan_.layers.push_back(plan);
    }

    /// An application may say what comes from the host and goes there.
    void set_host_bytes() {
        const auto bytes = [&](uint64_t elements, const Layer& layer) {
            return part(elements * layer.passes * element_bytes(), chip_.cores, core_);
        };
        if (workload_.host_input_elements != 0)
            plan_.layers.front().bytes_in =
                bytes(workload_.host_input_elements, workload_.layers.front());
        if (workload_.host_output_elements != 0)
            plan_.layers.back().bytes_out =
                bytes(workload_.host_output_elements, workload_.layers.back());
    }

    /// What lies between two layers stays in the buffer if it fits there with what is there
    /// already.
    void choose_places() {
        // A quarter is kept for what does not stay.
        const uint64_t room = usable() - usable() / 4;
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
            const bool whole =
                !splits_columns(workload_.layers[i]) && !splits_columns(workload_.layers[i + 1]);
            const bool stays = whole && between + before <= (before != 0 ? room : room / 2);
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
        const bool whole_input = plan.input == Place::kBuffer || fits_whole(plan, layer);
        const uint64_t fixed = (whole_input ? plan.input_bytes : 0) +
                               (plan.output == Place::kBuffer ? plan.output_bytes : 0);
        plan.chunk_rows = product(layer) ? chunk_rows(plan, layer, fixed, whole_input) : plan.rows;
        if (product(layer) && !whole_input) consider_slices(plan, layer, fixed);
        if (plan.chunk_rows == 0) refuse(index, fixed);
        const uint64_t chunks = product(layer) ? divide_up(plan.rows, plan.chunk_rows) : 1;
        const uint64_t copies = chunks > 1 ? 2 : 1;
        uint64_t in = plan.input_bytes, out = plan.output_bytes;
        if (plan.slice_tiles != 0) {
            in = 2 * plan.slice_tiles * tile_input_bytes(plan, layer);
            if (plan.output != Place::kBuffer) out = waves_output_bytes(plan, layer);
        } else {
            if (!whole_input) in = copies * scale(in, plan.chunk_rows, unit_rows);
            if (leaves_by_waves(plan))
                out = std::min(out, waves_output_bytes(plan, layer));
            else if (plan.output != Place::kBuffer && product(layer))
                out = copies * scale(out, plan.chunk_rows, unit_rows);
        }
        plan.buffer_bytes = in + out;
        if (!product(layer)) plan.buffer_bytes = std::min(plan.buffer_bytes, usable());
        const bool input_below = index % 2 == 0;
        const auto bottom = static_cast<uint32_t>(params_bytes());
        const auto top_of = [&](uint64_t bytes) {
            return static_cast<uint32_t>(chip_.unified_buffer_bytes - std::min(bytes, usable()));
        };
        plan.input_address = input_below ? bottom : top_of(in);
        plan.output_address = input_below ? top_of(out) : bottom;
    }

    bool fits_whole(const LayerPlan& plan, const Layer& layer) const {
        if (plan.output == Place::kBuffer) return plan.input_bytes + plan.output_bytes <= usable();
        if (!leaves_by_waves(plan)) return plan.input_bytes <= usable() / 2;
        return plan.input_bytes + waves_output_bytes(plan, layer) <= usable();
    }

    /// Products write out each wave by itself, unless reading the buffer takes a synchronisation.
    bool leaves_by_waves(const LayerPlan& plan) const {
        return plan.output != Place::kBuffer && plan.k_tiles != 0 && !chip_.sequencer.layer_sync;
    }
    /// Of two waves, for one to be written out while the next one is drained.
    uint64_t waves_output_bytes(const LayerPlan& plan, const Layer& layer) const {
        const uint64_t block = std::min<uint64_t>(chip_.mxu.accumulator_rows / 2, plan.rows) *
                               std::min<uint64_t>(chip_.mxu.cols, plan.cols);
        return std::min(2 * chip_.mxu.count * block * element_bytes() * layer.passes, usable() / 4);
    }

    /// The most rows at a time of which two inputs and two outputs fit beside what stays; may be
    /// none.
    uint64_t chunk_rows(const LayerPlan& plan, const Layer& layer, uint64_t fixed,
                        bool whole_input) const {
        const bool by_waves = leaves_by_waves(plan);
        if (by_waves) fixed += waves_output_bytes(plan, layer);
        const uint64_t room = usable() > fixed ? usable() - fixed : 0;
        uint64_t moving = 0;  // bytes for all rows of what goes through in chunks
        if (!whole_input) moving += plan.input_bytes;
        if (plan.output != Place::kBuffer && !by_waves) moving += plan.output_bytes;
        if (moving == 0 || moving <= room) return plan.rows;
        const auto rows = static_cast<uint64_t>(static_cast<unsigned __int128>(room) * plan.rows /
                                                (static_cast<unsigned __int128>(moving) * 2));
        return std::min(rows, plan.rows);
    }

    /// The layer cut along K instead of along its rows, if that is possible and moves fewer bytes.
    void consider_slices(LayerPlan& plan, const Layer& layer, uint64_t fixed) const {
        LayerPlan sliced = plan;
        sliced.chunk_rows = plan.rows;
        const uint64_t staying =
            fixed + (plan.output == Place::kBuffer ? 0 : waves_output_bytes(sliced, layer));
        const uint64_t room = usable() > staying ? usable() - staying : 0;
        sliced.slice_tiles = std::min(room / (2 * tile_input_bytes(sliced, layer)), plan.k_tiles);
        if (sliced.slice_tiles == 0) return;
        if (plan.chunk_rows == 0 || moved_by_slices(sliced) < moved_by_chunks(plan)) plan = sliced;
    }

    /// Rows that the blocks of a wave read together, at most.
    uint64_t wave_rows(const LayerPlan& plan) const {
        const uint64_t blocks = row_blocks(plan, chip_);
        const uint64_t rest = plan.n_tiles % chip_.mxu.count;
        const uint64_t together =
            rest == 0 ? 1 : std::min(blocks, divide_up(chip_.mxu.count, rest) + 1);
        return together * divide_up(plan.chunk_rows, blocks);
    }
    /// Of one K tile, for all rows of a wave.
    uint64_t tile_input_bytes(const LayerPlan& plan, const Layer& layer) const {
        return wave_rows(plan) * chip_.row_bytes() * layer.passes;
    }

    /// Bytes that go through the device memory's port, in double against overflow.
    double weight_bytes(const LayerPlan& plan) const {
        return static_cast<double>(plan.k_tiles * plan.n_tiles) *
               static_cast<double>(chip_.tile_bytes());
    }
    double moved_by_chunks(const LayerPlan& plan) const {
        const auto chunks = static_cast<double>(divide_up(plan.rows, plan.chunk_rows));
        const auto fetches = plan.k_tiles > 1 ? static_cast<double>(row_blocks(plan, chip_)) : 1.0;
        return static_cast<double>(plan.bytes_in) + weight_bytes(plan) * chunks * fetches;
    }
    double moved_by_slices(const LayerPlan& plan) const {
        const auto blocks = static_cast<double>(row_blocks(plan, chip_));
        const auto readings = static_cast<double>(waves_of_chunk(plan, chip_)) / blocks;
        return static_cast<double>(plan.bytes_in) * std::max(readings, 1.0) +
               weight_bytes(plan) * blocks;
    }

    [[noreturn]] void refuse(size_t index, uint64_t fixed) const {
        const Layer& layer = workload_.layers[index];
        throw UserError(
            layer.where, "layer " + layer.name,
            fmt::format(
                "a layer of which two rows, or two K tiles of a block, fit into the {} bytes "
                "that are free in the unified buffer of {}",
                usable() > fixed ? usable() - fixed : 0, chip_.name),
            fmt::format("{} bytes of input for {} rows", plan_.layers[index].input_bytes,
                        plan_.layers[index].rows));
    }

    void place_weights() {
        if (workload_.chained && plan_.weight_bytes <= chip_.cmem.bytes) {
            plan_.weights_in_cmem = true;
            return;
        }
        if (plan_.weight_bytes <= chip_.memory.bytes) return;
        // Kernels do not run at the same time: each has the memory for itself.
        for (size_t i = 0; i < plan_.layers.size(); ++i) {
            const LayerPlan& layer = plan_.layers[i];
            const uint64_t bytes = layer.k_tiles * layer.n_tiles * chip_.tile_bytes();
            const std::string room = fmt::format("fit into the {} bytes of device memory of {}",
                                                 chip_.memory.bytes, chip_.name);
            if (workload_.chained)
                throw UserError(workload_.file, "all layers", "weights that together " + room,
                                fmt::format("{} bytes of weight tiles", plan_.weight_bytes));
            if (bytes > chip_.memory.bytes)
                throw UserError(workload_.layers[i].where, "layer " + workload_.layers[i].name,
                                "weights that " + room,
                                fmt::format("{} bytes of weight tiles", bytes));
        }
        for (LayerPlan& layer : plan_.layers) layer.tile_offset = 0;
    }

    const workload::Workload& workload_;
    const arch::ChipConfig& chip_;
    const uint32_t core_;
    WorkloadPlan plan_;
};

}  // namespace

uint64_t row_blocks(const LayerPlan& layer, const arch::ChipConfig& chip) {
    const uint64_t rows = std::min(layer.chunk_rows, layer.rows);
    const uint64_t needed = divide_up(rows, chip.mxu.accumulator_rows / 2);
    const uint64_t most = std::max<uint64_t>(rows / chip.mxu.rows, 1);
    if (layer.n_tiles >= chip.mxu.count) return needed;
    // So many that the last wave is full, too.
    const uint64_t step = chip.mxu.count / std::gcd(layer.n_tiles, uint64_t{chip.mxu.count});
    return std::max(needed, std::min(divide_up(needed, step) * step, most));
}

uint64_t waves_of_chunk(const LayerPlan& layer, const arch::ChipConfig& chip) {
    const uint64_t full = layer.n_tiles / chip.mxu.count, rest = layer.n_tiles % chip.mxu.count;
    const uint64_t blocks = row_blocks(layer, chip);
    return full * blocks + divide_up(rest * blocks, chip.mxu.count);
}

WorkloadPlan plan_workload(const workload::Workload& workload, const arch::ChipConfig& chip,
                           uint32_t core) {
    return Planner(workload, chip, core).run();
}

}  // namespace tandem::compiler
