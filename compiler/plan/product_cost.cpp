// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/product_cost.h"

#include <algorithm>
#include <cmath>

#include "base/divide.h"

namespace tandem::compiler {

namespace {

using base::divide_up;

constexpr double kPicoseconds = 1e12;
/// Cycles from one unit's end to the next one's start: flags, issue, the sequencer.
constexpr double kHandOver = 8;
/// Parts of a block's last tile, which begin to be drained before the block has ended.
constexpr double kParts = 8, kLeastPartRows = 64;

}  // namespace

uint64_t ProductSchedule::longest_block(uint64_t chunk_rows, uint64_t tiles) const {
    uint64_t rows = 0;
    if (tiles >= arrays) rows = divide_up(chunk_rows, blocks);
    if (tiles % arrays != 0) rows = std::max(rows, divide_up(chunk_rows, rest_blocks));
    return rows;
}

ProductCost::ProductCost(const arch::ChipConfig& chip, const PieceRequest& request,
                         const ProductShape& shape)
    : chip_(chip), request_(request), shape_(shape) {
    const auto hz = static_cast<double>(chip.clock_hz);
    const auto sharing = static_cast<double>(std::max(1u, request.sharing_cores));
    memory_ = {static_cast<double>(chip.memory.usable_bytes_per_second()) / hz / sharing,
               static_cast<double>(chip.memory.latency_ps) * hz / kPicoseconds};
    cmem_ = {static_cast<double>(chip.cmem.bytes_per_second) / hz / sharing,
             static_cast<double>(chip.cmem.latency_ps) * hz / kPicoseconds};
    weights_ = pipe(request.weights_in_cmem);
    in_ = pipe(request.in_cmem);
    out_ = pipe(request.out_cmem);
    sync_ = chip.sequencer.layer_sync ? static_cast<double>(chip.sync_cycles()) : 0;
    lead_ = sync_ + static_cast<double>(chip.cycles_in(chip.sequencer.kernel_launch_ps));
    array_latency_ = static_cast<double>(divide_up(chip.mxu.rows, chip.mxu.pipeline) +
                                         divide_up(chip.mxu.cols, chip.mxu.pipeline)) +
                     chip.vector.latency_cycles + kHandOver;
    const auto& ports = chip.buffer_ports;
    if (ports.read_bytes_per_cycle != 0)
        row_beats_ = static_cast<double>(divide_up(chip.row_bytes(), ports.read_bytes_per_cycle));
    const uint64_t lanes = std::max(1u, chip.drain_lanes());
    drain_interval_ = static_cast<double>(divide_up(shape.widest_tile, lanes)) * shape.drain_cost;
    if (ports.write_bytes_per_cycle != 0)
        drain_interval_ =
            std::max(drain_interval_,
                     static_cast<double>(divide_up(shape.widest_tile * shape.out_element_bytes,
                                                   ports.write_bytes_per_cycle)));
    drains_at_a_time_ = chip.drains_at_a_time();
}

/// Cycles of one tile with a block's rows.
double ProductCost::tile_cycles(double rows, double arrays, uint32_t ahead) const {
    const double shift = chip_.mxu.rows + 1.0;
    const auto bytes = static_cast<double>(chip_.tile_bytes());
    // A place of the FIFO is taken from the request to the end of the shift.
    const double fetch =
        (weights_.latency + bytes * arrays / weights_.bytes_per_cycle + shift) / ahead;
    return std::max({rows * shape_.passes * row_beats_, shift, fetch});
}

double ProductCost::drain_cycles(double rows, double arrays) const {
    return rows * shape_.passes * drain_interval_ *
           std::max(1.0, arrays / std::max(1.0, drains_at_a_time_));
}

double ProductCost::leaving(double rows, double arrays) const {
    const auto bytes = static_cast<double>(shape_.widest_tile * shape_.out_element_bytes);
    return array_latency_ + drain_cycles(rows, arrays) + out_.latency +
           rows * arrays * bytes / out_.bytes_per_cycle;
}

double ProductCost::carry(double fetch, double input, double output) const {
    const auto of = [&](bool in_cmem) {
        const double activations =
            (request_.in_cmem == in_cmem ? input : 0) + (request_.out_cmem == in_cmem ? output : 0);
        return activations / pipe(in_cmem).bytes_per_cycle +
               (request_.weights_in_cmem == in_cmem ? fetch : 0);
    };
    return chip_.cmem.bytes == 0 ? of(false) : std::max(of(false), of(true));
}

double ProductCost::cycles(const ProductSchedule& s) const {
    const auto chunks = static_cast<double>(s.chunks), arrays = static_cast<double>(s.arrays);
    const double rows = static_cast<double>(shape_.rows) / chunks;
    const uint64_t full = shape_.tiles / s.arrays, rest = shape_.tiles % s.arrays;
    const auto tile_bytes = static_cast<double>(chip_.tile_bytes());
    const double out_bytes = s.out == Way::kStays
                                 ? 0
                                 : static_cast<double>(shape_.out_line_bytes) *
                                       static_cast<double>(shape_.rows) /
                                       static_cast<double>(shape_.rows_per_line) / chunks;
    const bool waves_leave = s.out == Way::kWaves;

    // Arrays and drains, wave by wave.
    double busy = 0, weights = 0, last_block = 0, last_tile = 0, last_arrays = arrays;
    double drains = 0, late = 0, waves = 0;
    const auto add = [&](double tiles, double of_arrays, uint64_t blocks, bool stays,
                         double count) {
        const double block = std::max(1.0, rows / static_cast<double>(blocks));
        const double tile = tile_cycles(block, of_arrays, s.weights_ahead);
        const double part =
            block / std::clamp(block / std::max(kLeastPartRows, array_latency_), 1.0, kParts);
        // The first part of a block waits for the accumulators of the last but one.
        const double bubble = std::max(
            0.0,
            array_latency_ + 2 * part * drain_interval_ -
                std::max<double>(chip_.mxu.accumulator_rows, block + shape_.k_tiles * tile - tile));
        double wave = std::max(shape_.k_tiles * tile + bubble, drain_cycles(block, of_arrays));
        // A slice comes beside its weights and waits for the products of the one in its place.
        if (s.in == Way::kSlices) {
            const auto slice = static_cast<double>(s.slice_tiles);
            const double results = out_bytes * slice /
                                   (static_cast<double>(shape_.tiles) / of_arrays *
                                    static_cast<double>(blocks) * shape_.k_tiles);
            const double comes = carry(slice * tile_bytes * of_arrays / weights_.bytes_per_cycle,
                                       static_cast<double>(s.slice_input), results);
            wave = std::max(wave, shape_.k_tiles / slice *
                                      (in_.latency + comes + array_latency_ + slice * tile) /
                                      static_cast<double>(s.slice_places));
        }
        if (waves_leave)
            wave = std::max(
                wave, (leaving(block, of_arrays) + sync_) / static_cast<double>(s.out_places));
        // The results of a wave leave behind the products of the next but one.
        if (waves_leave && sync_ > 0)
            wave = std::max(wave, (shape_.k_tiles * tile + sync_ + array_latency_ + part) / 3);
        busy += wave * count;
        drains += drain_cycles(block, of_arrays) * count;
        late = sync_ + array_latency_ + part - std::min(2.0, count) * shape_.k_tiles * tile;
        waves += count;
        weights += shape_.k_tiles * tile_bytes *
                   (stays ? std::max(tiles, of_arrays) : tiles * static_cast<double>(blocks));
        last_block = block;
        last_tile = tile;
        last_arrays = of_arrays;
    };
    const bool one_tile = shape_.most_k_tiles == 1;
    if (full != 0)
        add(static_cast<double>(full) * arrays, arrays, s.blocks, one_tile,
            static_cast<double>(full * s.blocks));
    if (rest != 0)
        add(static_cast<double>(rest),
            std::min<double>(arrays,
                             static_cast<double>(rest) * static_cast<double>(s.rest_blocks)),
            s.rest_blocks, one_tile && s.arrays % rest == 0,
            static_cast<double>(divide_up(rest * s.rest_blocks, s.arrays)));
    // The sequencer waits once for each wave but the last two.
    if (waves_leave && sync_ > 0) busy = std::max(busy, (waves - 2 / chunks) * (sync_ + kHandOver));
    if (s.out == Way::kChunks && sync_ > 0)
        busy = std::max(busy + std::max(late, 0.0), drains + sync_);

    // What the first products wait for, and what comes later.
    const double chunk_input = static_cast<double>(s.chunk_input);
    const double first_rows = full != 0
                                  ? 1.0 / static_cast<double>(s.blocks)
                                  : std::min(1.0, static_cast<double>(divide_up(s.arrays, rest)) /
                                                      static_cast<double>(s.rest_blocks));
    double first = 0, input = 0, stall = 0;
    switch (s.in) {
        case Way::kWhole:
            first = chunk_input * first_rows;
            input = chunk_input - first;
            break;
        case Way::kChunks:
            first = chunk_input * first_rows;
            input = static_cast<double>(std::min(s.in_step, s.chunk_input));
            stall = chunk_input - input;
            break;
        case Way::kSlices:
            first = static_cast<double>(s.slice_input);
            input = static_cast<double>(shape_.in_bytes) *
                        std::max(1.0, waves * (full != 0 ? 1.0 / static_cast<double>(s.blocks)
                                                         : first_rows)) -
                    first;
            break;
        default:
            break;
    }
    // The first tiles come while the kernel is launched, if nothing else does.
    const double begin = tile_bytes * arrays / weights_.bytes_per_cycle;
    const double lead = s.in == Way::kStays ? lead_ : 0;
    const double fill = std::max(0.0, weights_.latency + begin - lead) + chip_.mxu.rows +
                        (first > 0 ? in_.latency + first / in_.bytes_per_cycle : 0);

    // Each chunk: the longest of arrays and memory, then what only comes when its place is free.
    const double fetch = weights / weights_.bytes_per_cycle;
    const auto memory = [&](double in, double out, double come = 0) {
        return carry(std::max(0.0, fetch - come), in, out);
    };
    const auto longest = [&](double in, double out) { return std::max(busy, memory(in, out)); };
    const double one = longest(input, out_bytes);
    // The last results leave behind the arrays' work and behind the last input; they are among the
    // bytes that memory moves. With a synchronisation in front those of two waves leave together.
    double behind = 0;
    if (waves_leave)
        behind =
            (sync_ > 0 ? std::min(1.0, 2 / waves) : 1 / waves) * out_bytes / out_.bytes_per_cycle;
    if (s.out == Way::kChunks) behind = out_bytes / out_.bytes_per_cycle;
    if (s.out != Way::kStays) behind += sync_ + out_.latency;
    // Behind the last chunk comes none.
    const double comes = s.in == Way::kChunks ? 0 : input, come = s.chunks == 1 ? begin : 0;
    const double last = std::max({busy + behind, memory(comes, out_bytes, come),
                                  memory(comes, 0, come) + last_tile + behind});
    const double stalls =
        stall > 0 ? stall / in_.bytes_per_cycle + in_.latency + array_latency_ : 0;

    // All rows are wanted with the first columns, whose waves may not take as long as the input.
    double wait = 0;
    if (s.in == Way::kWhole || s.in == Way::kChunks) {
        const double others = 1 / first_rows - 1;
        const double others_weights =
            one_tile ? 0 : others * shape_.k_tiles * tile_bytes * last_arrays;
        const double all =
            carry(others_weights / weights_.bytes_per_cycle, chunk_input - first, 0) +
            busy * std::max(0.0, 1 - others / waves);
        // Beside the rest of the first chunk comes the next one's beginning.
        const double both =
            s.in == Way::kChunks ? longest(input + chunk_input - first, out_bytes) : 0;
        wait = std::max(0.0, std::max(all, both) - (s.chunks > 1 ? one : last));
    }

    const double tail = array_latency_ + drain_cycles(last_block / kParts, last_arrays);
    return fill + wait + one * (chunks - 1) + last + stalls * (chunks - 1) + tail;
}

}  // namespace tandem::compiler
