// SPDX-License-Identifier: Apache-2.0
// What becomes of a product's sums: drained into the buffer, stored from there.
#include <type_traits>

#include "arch/numerics.h"
#include "compiler/emit/matmul_emitter.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

/// Of this core's columns.
uint64_t MatmulEmitter::out_row_bytes() const {
    uint64_t columns = 0;
    for (uint64_t t = share_.tiles.begin; t < share_.tiles.end; ++t)
        columns += plan_.tiles[t].n_len;
    return columns * work().out_element_bytes;
}

void MatmulEmitter::drain(const Wave& wave) {
    for (const Block& block : wave) {
        uint32_t row = 0;
        const auto parts =
            work().passes == 1 ? split_rows(block.rows) : std::vector<uint32_t>{block.rows};
        for (const uint32_t rows : parts) {
            requantise(block, row, rows);
            row += rows;
        }
    }
}

MatmulEmitter::Destination MatmulEmitter::destination(const Block& block, uint32_t row) const {
    const MatmulGroup& group = work().groups[block.tile->group];
    const uint64_t element = work().out_element_bytes;
    const uint64_t channel = group.out_channel + block.tile->n_start;
    if (share_.out == Way::kStays) {
        const uint64_t stride = uint64_t{work().out_channels} * element;
        const uint64_t first = chunk().lines.begin * window().out_w + block.row + row;
        return {core_.address_of(kernel_.output, first * stride + channel * element), stride};
    }
    if (share_.out == Way::kChunks) {
        const ColumnTile& first = plan_.tiles[share_.tiles.begin];
        const uint64_t band = channel - work().groups[first.group].out_channel - first.n_start;
        return {share_.out_area + chunk_ % 2 * share_.out_piece +
                    (block.row + row) * out_row_bytes() + band * element,
                out_row_bytes()};
    }
    const uint64_t stride = block.tile->n_len * element;
    return {slot_of(block) + row * stride, stride};
}

/// Where a block stands that leaves with its wave: one behind the other.
uint64_t MatmulEmitter::slot_of(const Block& block) const {
    return share_.out_area + waves_done_ % 2 * chip_.mxu.count * share_.out_piece + block.slot;
}

void MatmulEmitter::requantise(const Block& block, uint32_t row, uint32_t rows) {
    const Destination to = destination(block, row);
    const MatmulGroup& group = work().groups[block.tile->group];
    const uint32_t channel = group.out_channel + block.tile->n_start;
    if (!work().floats.chain.steps.empty()) {
        arch::VectorState state = core_.vector_state();
        set_chain(state, work().floats.chain);
        core_.use_vector_state(state, node());
    }
    Step step = core_.step(isa::Unit::kVector, node());
    step.writes_value = true;
    step.source.m_start =
        static_cast<uint32_t>(chunk().lines.begin * window().out_w + block.row + row);
    step.source.n_start = channel;
    const auto fill = [&](auto op) {
        op.mxu = static_cast<uint8_t>(block.array);
        op.ub_addr = static_cast<uint32_t>(to.address);
        op.acc_addr = fit<uint16_t>(block.accumulators + row, "accumulator rows");
        op.rows = fit<uint16_t>(rows, "rows of a block");
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
    step.touches(core_.accumulators(block.array, block.accumulators + row, rows));
    step.touches(core_.buffer(to.address, (rows - 1) * to.stride + bytes, true));
    for (uint32_t pass = 0; pass < work().passes; ++pass) core_.add(step);
}

/// Neighbouring column tiles of the same rows leave together.
void MatmulEmitter::store(const Wave& wave) {
    const uint64_t row_bytes = core_.graph().values[kernel_.output].bytes / window().rows();
    for (size_t first = 0; first < wave.size();) {
        const Block& block = wave[first];
        size_t end = first + 1;
        while (end < wave.size() && follows(wave[end - 1], wave[end])) ++end;
        const uint64_t row = chunk().lines.begin * window().out_w + block.row;
        Transfer out{kernel_.output,
                     row * row_bytes + channel_byte(block),
                     block.tile->n_len * work().out_element_bytes,
                     block.rows,
                     row_bytes,
                     static_cast<uint32_t>(slot_of(block))};
        out.planes = end - first;
        out.plane_stride = out.bytes;
        if (out.rows == 1) {  // the bands of one row are one run
            out.bytes *= out.planes;
            out.planes = 1;
        } else if (out.bytes == row_bytes) {
            out.bytes *= out.rows;
            out.rows = 1;
        }
        core_.store(out, node());
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

}  // namespace tandem::compiler
