// SPDX-License-Identifier: Apache-2.0
// What becomes of a product's sums: drained into the buffer, stored from there.
#include <algorithm>
#include <type_traits>

#include "arch/numerics.h"
#include "base/divide.h"
#include "compiler/emit/matmul_emitter.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

namespace {

/// Behind a wave's products and the next one's, its results leave.
constexpr uint64_t kWavesLater = 2;

}  // namespace

/// Bytes of this core's columns in an output row.
uint64_t MatmulEmitter::out_row_bytes() const {
    uint64_t columns = 0;
    for (uint64_t t = share_.tiles.begin; t < share_.tiles.end; ++t)
        columns += plan_.tiles[t].n_len;
    return columns * work().out_element_bytes;
}

/// Part by part over all arrays, as the parts are computed.
void MatmulEmitter::queue_drains(const Wave& wave) {
    if (!share_.paced) {
        for (const Block& block : wave)
            for (const Part& part : parts_of(block)) requantise(block, part);
        if (share_.out == Way::kWaves) store(wave);
        return;
    }
    drain_all();
    drains_.clear();
    drained_ = 0;
    bool more = true;
    for (size_t p = 0; more; ++p) {
        more = false;
        for (const Block& block : wave) {
            const auto parts = parts_of(block);
            if (p < parts.size()) drains_.push_back({block, parts[p]});
            more = more || p + 1 < parts.size();
        }
    }
    if (share_.out == Way::kWaves) leaving_.push_back({wave, {}, waves_done_});
}

void MatmulEmitter::drain_before(uint32_t array, const Part& part) {
    size_t end = drained_;
    for (size_t i = drained_; i < drains_.size(); ++i) {
        const Part& waiting = drains_[i].part;
        if (drains_[i].block.array == array &&
            waiting.accumulators < part.accumulators + part.rows &&
            part.accumulators < waiting.accumulators + waiting.rows)
            end = i + 1;
    }
    for (; drained_ < end; ++drained_) requantise(drains_[drained_].block, drains_[drained_].part);
}

void MatmulEmitter::drain_all() {
    for (; drained_ < drains_.size(); ++drained_)
        requantise(drains_[drained_].block, drains_[drained_].part);
    if (!core_.layer_sync()) store_all();
}

/// With a synchronisation in front of it, what leaves waits until the sequencer has given the
/// arrays and the vector unit a wave of other work.
void MatmulEmitter::store_late() {
    size_t count = 0;
    while (count < leaving_.size() && leaving_[count].last_wave + kWavesLater <= waves_done_)
        ++count;
    store_leaving(count);
}

void MatmulEmitter::store_all() { store_leaving(leaving_.size()); }

/// The first ones of those that wait: one synchronisation for all of them.
void MatmulEmitter::store_leaving(size_t count) {
    if (count == 0) return;
    if (core_.layer_sync()) {
        std::vector<Access> results;
        for (size_t i = 0; i < count; ++i) results.push_back(results_of(leaving_[i]));
        core_.barrier(results, node());
    }
    for (size_t i = 0; i < count; ++i)
        leaving_[i].chunk ? store_chunk(*leaving_[i].chunk) : store(leaving_[i].wave);
    leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<ptrdiff_t>(count));
}

Access MatmulEmitter::results_of(const Leaving& leaving) const {
    if (leaving.chunk) {
        const uint64_t address = share_.out_area + *leaving.chunk % 2 * share_.out_piece;
        return core_.buffer(address, out_row_bytes() * rows_of_chunk(*leaving.chunk));
    }
    uint64_t end = 0;
    for (const Block& block : leaving.wave)
        end = std::max(
            end, block.place + uint64_t{block.rows} * block.tile->n_len * work().out_element_bytes);
    return core_.buffer(leaving.wave.front().place, end - leaving.wave.front().place);
}

void MatmulEmitter::store_chunk(size_t index) {
    const uint64_t columns = out_row_bytes();
    const auto address = static_cast<uint32_t>(share_.out_area + index % 2 * share_.out_piece);
    const uint64_t row_bytes = core_.graph().values[kernel_.output].bytes / window().rows();
    const ColumnTile& first = plan_.tiles[share_.tiles.begin];
    const uint64_t channel = work().groups[first.group].out_channel + first.n_start;
    const uint64_t row = share_.chunks[index].lines.begin * window().out_w;
    store_rows({kernel_.output, row * row_bytes + channel * work().out_element_bytes, columns,
                rows_of_chunk(index), row_bytes, address});
}

/// Rows that stand side by side in the value are one run; of a product that was searched, in
/// pieces.
void MatmulEmitter::store_rows(Transfer out) {
    const uint64_t piece = share_.paced ? core_.piece_bytes(kernel_.output) : UINT64_MAX;
    const uint64_t row_bytes = out.stride, width = out.bytes * out.planes;
    const uint64_t count =
        out.planes > 1 ? 1 : std::clamp<uint64_t>(out.rows * width / piece, 1, out.rows);
    for (uint64_t i = 0; i < count; ++i) {
        Transfer part = out;
        const uint64_t first = base::part_begin(out.rows, count, i);
        part.rows = base::part(out.rows, count, i);
        part.offset += first * row_bytes;
        part.address += static_cast<uint32_t>(first * width);
        if (part.rows == 1) {  // the bands of one row are one run
            part.bytes *= part.planes;
            part.planes = 1;
        } else if (part.bytes == row_bytes) {
            part.bytes *= part.rows;
            part.rows = 1;
        }
        core_.store(part, node());
    }
}

MatmulEmitter::Destination MatmulEmitter::destination(const Block& block, uint32_t row) const {
    const MatmulGroup& group = work().groups[block.tile->group];
    const uint64_t element = work().out_element_bytes;
    const uint64_t channel = group.out_channel + block.tile->n_start;
    if (share_.out == Way::kStays) {
        const uint64_t stride = uint64_t{work().out_channels} * element;
        const uint64_t first =
            share_.chunks[block.chunk].lines.begin * window().out_w + block.row + row;
        return {core_.address_of(kernel_.output, first * stride + channel * element), stride};
    }
    if (share_.out == Way::kChunks) {
        const ColumnTile& first = plan_.tiles[share_.tiles.begin];
        const uint64_t band = channel - work().groups[first.group].out_channel - first.n_start;
        return {share_.out_area + block.chunk % 2 * share_.out_piece +
                    (block.row + row) * out_row_bytes() + band * element,
                out_row_bytes()};
    }
    const uint64_t stride = block.tile->n_len * element;
    return {block.place + row * stride, stride};
}

void MatmulEmitter::requantise(const Block& block, const Part& part) {
    const Destination to = destination(block, part.row);
    const MatmulGroup& group = work().groups[block.tile->group];
    const uint32_t channel = group.out_channel + block.tile->n_start;
    if (!work().floats.chain.steps.empty()) {
        arch::VectorState state = core_.vector_state();
        set_chain(state, work().floats.chain);
        core_.use_vector_state(state, node());
    }
    Step step = core_.step(isa::Unit::kVector, node());
    step.writes_value = true;
    step.source.m_start = static_cast<uint32_t>(
        share_.chunks[block.chunk].lines.begin * window().out_w + block.row + part.row);
    step.source.n_start = channel;
    const auto fill = [&](auto op) {
        op.mxu = static_cast<uint8_t>(block.array);
        op.ub_addr = static_cast<uint32_t>(to.address);
        op.acc_addr = fit<uint16_t>(part.accumulators, "accumulator rows");
        op.rows = fit<uint16_t>(part.rows, "rows of a block");
        op.row_stride = fit<uint32_t>(to.stride, "bytes of an output row");
        op.cols = fit<uint16_t>(block.tile->n_len, "array columns");
        if constexpr (std::is_same_v<decltype(op), isa::Requantise>) {
            constexpr auto kParams = static_cast<uint32_t>(sizeof(numerics::ChannelParams));
            op.params_addr =
                plan_.params_address + (kernel_.params_uniform ? 0 : channel * kParams);
            op.zero_point = static_cast<int8_t>(work().range.zero_point);
            op.clamp_min = static_cast<int8_t>(work().range.low);
            op.clamp_max = static_cast<int8_t>(work().range.high);
            op.rounding = static_cast<uint8_t>(core_.graph().rounding);
            step.touches(core_.buffer(op.params_addr, uint64_t{block.tile->n_len} * kParams));
        }
        if constexpr (std::is_same_v<decltype(op), isa::Convert>) {
            const FloatDrain& drain = work().floats;
            op.wide = drain.wide;
            op.bias = drain.has_bias;
            op.function = drain.relu ? 1 : drain.chain.steps.empty() ? 0 : 2;
            if (drain.has_bias) {
                op.params_addr = plan_.params_address + channel * uint32_t{sizeof(float)};
                step.touches(
                    core_.buffer(op.params_addr, uint64_t{block.tile->n_len} * sizeof(float)));
            }
        }
        step.words = op.encode();
    };
    const bool converts = chip_.mxu.dtype == arch::Dtype::kBf16 || work().floats.wide;
    converts ? fill(isa::Convert{}) : fill(isa::Requantise{});
    const uint64_t bytes = block.tile->n_len * work().out_element_bytes;
    step.touches(core_.accumulators(block.array, part.accumulators, part.rows));
    step.touches(core_.buffer(to.address, (part.rows - 1) * to.stride + bytes, true));
    for (uint32_t pass = 0; pass < work().passes; ++pass) core_.add(step);
}

/// Neighbouring column tiles of the same rows leave together, and neighbouring rows of a tile.
void MatmulEmitter::store(const Wave& wave) {
    const uint64_t row_bytes = core_.graph().values[kernel_.output].bytes / window().rows();
    for (size_t first = 0; first < wave.size();) {
        const Block& block = wave[first];
        size_t end = first + 1;
        while (end < wave.size() && follows(wave[end - 1], wave[end])) ++end;
        const size_t planes = end - first;
        uint64_t rows = block.rows;
        for (; planes == 1 && end < wave.size() && lies_below(wave[end - 1], wave[end]); ++end)
            rows += wave[end].rows;
        const uint64_t row = share_.chunks[block.chunk].lines.begin * window().out_w + block.row;
        Transfer out{kernel_.output,
                     row * row_bytes + channel_byte(block),
                     block.tile->n_len * work().out_element_bytes,
                     rows,
                     row_bytes,
                     static_cast<uint32_t>(block.place)};
        out.planes = planes;
        out.plane_stride = out.bytes;
        store_rows(out);
        first = end;
    }
}

uint64_t MatmulEmitter::channel_byte(const Block& block) const {
    const MatmulGroup& group = work().groups[block.tile->group];
    return (group.out_channel + block.tile->n_start) * work().out_element_bytes;
}

bool MatmulEmitter::follows(const Block& before, const Block& block) const {
    const uint64_t width = before.tile->n_len * work().out_element_bytes;
    return block.row == before.row && block.rows == before.rows &&
           block.tile->n_len == before.tile->n_len &&
           channel_byte(block) == channel_byte(before) + width;
}

/// So few stores that all are under way at a time are better begun early.
bool MatmulEmitter::lies_below(const Block& above, const Block& block) const {
    const bool many =
        grid_of(share_, rows_of_chunk(block.chunk), chip_).waves() > chip_.dma.in_flight;
    return share_.paced && many && block.tile_index == above.tile_index &&
           block.row == above.row + above.rows;
}

}  // namespace tandem::compiler
