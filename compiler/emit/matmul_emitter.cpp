// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/matmul_emitter.h"

#include <algorithm>

#include "arch/geometry.h"
#include "base/divide.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

namespace {

constexpr uint8_t kDataBase = 1;
/// Rows after which a block's results are worth draining although the block goes on: enough to
/// outweigh the array's latency.
constexpr uint32_t kMostParts = 4, kRingParts = 8, kLeastPartRows = 64;
/// The next chunk comes a little faster than this one is used.
constexpr double kAhead = 1.25;
/// A visit of at most so many waves has short parts throughout: the queues have room for them.
constexpr uint64_t kBriefWaves = 2;
/// Tiles of an array that come beside the first input: one to begin with, one to go on with.
constexpr uint64_t kTilesAhead = 2;

}  // namespace

MatmulEmitter::MatmulEmitter(CoreEmitter& core, const Visit& visit)
    : core_(core),
      visit_(visit),
      kernel_(core.kernel(visit.kernel)),
      plan_(core.plan().kernels[visit.kernel]),
      share_(core.share(visit)),
      chip_(core.chip()),
      window_(share_.gathers ? work().window.gathered() : work().window),
      input_(core, kernel_.inputs[0], node(), share_.gathers ? &work().window : nullptr) {}

void MatmulEmitter::fetch_first_wave(CoreEmitter& core, const Visit& visit) {
    if (core.kernel(visit.kernel).matmul() == nullptr || core.fetched_ahead == visit) return;
    MatmulEmitter emitter(core, visit);
    if (emitter.share_.chunks.empty()) return;
    emitter.fetch(emitter.wave_at(0), 0, emitter.tiles_ahead());
    core.fetched_ahead = visit;
}

bool MatmulEmitter::advance() {
    if (chunk_ >= share_.chunks.size()) return false;
    if (wave_ == 0) begin_chunk();
    Wave wave = wave_at(wave_);
    if (waves_done_ == 0) fetch_begin(wave);
    if (!rest_to_fetch_) fetch_next();
    take_places(wave);
    uint64_t k_tiles = 0;
    for (const Block& block : wave) k_tiles = std::max<uint64_t>(k_tiles, block.tile->k_tiles);
    multiply(wave, k_tiles);
    queue_drains(wave);
    ++waves_done_;
    if (++wave_ == grid().waves()) end_chunk();
    return true;
}

// ---- waves

MatmulEmitter::Wave MatmulEmitter::wave_at(uint64_t index) const {
    const BlockGrid g = grid();
    Wave wave;
    const auto add = [&](uint64_t array, uint64_t tile, uint64_t row_block, uint64_t blocks) {
        Block block;
        block.array = static_cast<uint32_t>(array);
        block.tile = &plan_.tiles[share_.tiles.begin + tile];
        block.tile_index = tile;
        block.row_block = row_block;
        block.chunk = chunk_;
        block.row = base::part_begin(g.rows, blocks, row_block);
        block.rows = static_cast<uint32_t>(base::part(g.rows, blocks, row_block));
        if (block.rows != 0) wave.push_back(block);
    };
    if (index < g.full() * g.blocks) {
        for (uint64_t array = 0; array < g.arrays; ++array)
            add(array, index / g.blocks * g.arrays + array, index % g.blocks, g.blocks);
        return wave;
    }
    const uint64_t first = (index - g.full() * g.blocks) * g.arrays;
    for (uint64_t i = first; i < std::min(first + g.arrays, g.rest() * g.rest_blocks); ++i)
        add(i - first, g.full() * g.arrays + i % g.rest(), i / g.rest(), g.rest_blocks);
    return wave;
}

/// The only K tile of a column stays in the array for its row blocks; in a product that was
/// searched also where arrays share it, and for the next chunk.
bool MatmulEmitter::loads_tiles(const Block& block) const {
    if (block.tile->k_tiles > 1) return true;
    const uint64_t arrays = share_.dealing.arrays, tiles = share_.tiles.size();
    const uint64_t rest = tiles % arrays, shared_from = tiles - rest;
    const bool left_over = block.tile_index >= shared_from && arrays > 1;
    if (!share_.paced) return block.row_block == 0 || left_over;
    const uint64_t turn = left_over
                              ? (block.row_block * rest + block.tile_index - shared_from) / arrays
                              : block.row_block;
    if (left_over && arrays % rest != 0) return true;
    if (turn != 0) return false;
    const bool had_it = chunk_ != 0 && tiles <= arrays && !work().weights_per_image &&
                        rows_of_chunk(chunk_ - 1) >= (left_over ? grid().rest_blocks : 1);
    return !had_it;
}

void MatmulEmitter::fetch(const Wave& wave, uint64_t first, uint64_t end) {
    for (const Block& block : wave) {
        if (!loads_tiles(block) || first >= block.tile->k_tiles) continue;
        const uint64_t offset = weights_of(block) + first * chip_.tile_bytes();
        isa::ReadWeights read;
        read.base = kDataBase;
        read.mxu = static_cast<uint8_t>(block.array);
        read.offset = static_cast<uint32_t>(offset);
        read.offset_high = fit<uint16_t>(offset >> 32, "offset of weights");
        read.tiles = static_cast<uint32_t>(std::min<uint64_t>(end, block.tile->k_tiles) - first);
        read.ahead = fit<uint16_t>(share_.weights_ahead, "weight tiles ahead");
        Step step = core_.step(isa::Unit::kWeights, node(), block.array);
        step.words = read.encode();
        if (work().weights_per_image)
            step.touches(
                {{Space::Kind::kMemory, 0, 0}, offset, offset + read.tiles * chip_.tile_bytes()});
        core_.add(step);
    }
}

uint64_t MatmulEmitter::weights_of(const Block& block) const {
    const uint64_t tile = block.tile->first_tile;
    if (!work().weights_per_image) return plan_.weight_offset + tile * chip_.tile_bytes();
    const uint64_t image = chunk().lines.begin / window().out_h;
    return core_.plan().values[kernel_.inputs[1]].memory_offset +
           (image * tiles_of(plan_) + tile) * chip_.tile_bytes();
}

/// While the first input is on its way, memory has something better to do than to fill the FIFOs.
uint64_t MatmulEmitter::tiles_ahead() const {
    const bool waits = share_.paced && share_.in != Way::kStays && share_.in != Way::kSlices;
    return waits ? kTilesAhead : UINT32_MAX;
}

void MatmulEmitter::fetch_begin(const Wave& wave) {
    if (core_.fetched_ahead != visit_) fetch(wave, 0, tiles_ahead());
    core_.fetched_ahead.reset();
    rest_to_fetch_ = tiles_ahead() == kTilesAhead;
}

/// The input of the first wave comes before these.
void MatmulEmitter::fetch_rest(const Wave& wave) {
    if (!rest_to_fetch_) return;
    rest_to_fetch_ = false;
    if (input_.last()) {
        // Nobody may wait for the weights' unit: it waits for products that come later.
        Access last = *input_.last();
        last.fleeting = true;
        for (const Block& block : wave)
            core_.fence(isa::Unit::kWeights, block.array, {last}, node());
    }
    fetch(wave, kTilesAhead, UINT32_MAX);
    fetch_next();
}

/// One wave ahead; further would be no use, the FIFO being short, and could fill the queue of the
/// weight unit.
void MatmulEmitter::fetch_next() {
    if (wave_ + 1 < grid().waves()) return fetch(wave_at(wave_ + 1), 0, UINT32_MAX);
    if (chunk_ + 1 < share_.chunks.size()) {
        ++chunk_;
        fetch(wave_at(0), 0, UINT32_MAX);
        --chunk_;
        return;
    }
    if ((!core_.layer_sync() || core_.plan().mode == PlanMode::kSearch) && core_.next_visit)
        fetch_first_wave(core_, *core_.next_visit);
}

void MatmulEmitter::take_places(Wave& wave) {
    uint64_t slot = share_.out_area +
                    waves_done_ % share_.out_places * share_.dealing.arrays * share_.out_piece;
    for (Block& block : wave) {
        block.accumulators = core_.take_accumulators(block.array, block.rows, share_.dealing.ring);
        block.place = slot;
        slot += block.rows * block.tile->n_len * work().out_element_bytes;
    }
}

// ---- products

void MatmulEmitter::multiply(const Wave& wave, uint64_t k_tiles) {
    if (share_.in == Way::kSlices) {
        drain_all();
        multiply_slices(wave, k_tiles);
        store_late();
    } else if (share_.paced) {
        multiply_paced(wave, k_tiles);
        store_late();
    } else {
        multiply_tiles(wave, 0, k_tiles, input_address());
    }
}

/// Results of the wave before are drained as the first parts of this one need their accumulators.
void MatmulEmitter::multiply_paced(const Wave& wave, uint64_t k_tiles) {
    const uint64_t next_end =
        wave_ + 1 < grid().waves() ? input_end(wave_at(wave_ + 1)) : input_end(wave);
    for (uint64_t k = 0; k < k_tiles; ++k) {
        bool more = true;
        for (size_t p = 0; more; ++p) {
            more = false;
            for (const Block& block : wave) {
                if (k >= block.tile->k_tiles) continue;
                const auto parts = parts_of_tile(block, k);
                if (p >= parts.size()) continue;
                more = more || p + 1 < parts.size();
                if (k == 0) drain_before(block.array, parts[p]);
                set_window_of(block);
                emit_matmul(block, k, address_of(block), 0, parts[p]);
            }
        }
        if (k == 0) {
            fetch_rest(wave);
            drain_all();
        }
        pace(k, k_tiles, next_end);
    }
}

/// Asks for more of the input, as far as the products have come.
void MatmulEmitter::pace(uint64_t k_tile, uint64_t k_tiles, uint64_t next_end) {
    if (input_.empty()) return;
    input_.approach(next_end, 1.0 / static_cast<double>(k_tiles - k_tile));
    const uint64_t waves = grid().waves();
    const double done = (static_cast<double>(wave_) +
                         static_cast<double>(k_tile + 1) / static_cast<double>(k_tiles)) /
                        static_cast<double>(waves);
    // All that a chunk of another image has in common with this one is the place.
    if (share_.in == Way::kWhole && wave_ + 1 == waves)
        input_.approach(UINT64_MAX, 1.0 / static_cast<double>(k_tiles - k_tile));
    input_.look_ahead(std::min(1.0, done * kAhead));
}

uint64_t MatmulEmitter::input_end(const Wave& wave) const {
    if (share_.in != Way::kWhole && share_.in != Way::kChunks) return 0;
    uint64_t end = 0;
    const isa::Geometry g = chunk_window(window(), chunk(), window().channels);
    for (const Block& block : wave) {
        isa::Matmul m;
        m.ub_addr = input_address();
        m.row_start = static_cast<uint32_t>(block.row);
        m.rows = static_cast<uint16_t>(block.rows);
        end = std::max(end, window_bytes(g, m, static_cast<uint32_t>(element_bytes())).end);
    }
    return end;
}

void MatmulEmitter::multiply_tiles(const Wave& wave, uint64_t first, uint64_t end,
                                   uint32_t address) {
    const bool sliced = share_.in == Way::kSlices;
    for (uint64_t k = first; k < end; ++k)
        for (const Block& block : wave) {
            if (k >= block.tile->k_tiles) continue;
            if (!sliced) set_window_of(block);
            multiply(block, k, sliced ? address : address_of(block), sliced ? first : 0);
        }
}

void MatmulEmitter::set_window_of(const Block& block) {
    const MatmulGroup& group = work().groups[block.tile->group];
    core_.use_window(chunk_window(window(), chunk(), group.channels), node());
}

uint32_t MatmulEmitter::address_of(const Block& block) const {
    const MatmulGroup& group = work().groups[block.tile->group];
    return static_cast<uint32_t>(input_address() + group.in_channel * element_bytes());
}

std::vector<MatmulEmitter::Part> MatmulEmitter::parts_of_tile(const Block& block,
                                                              uint64_t k_tile) const {
    return parts_of(block, k_tile != 0 && k_tile + 1 != block.tile->k_tiles);
}

std::vector<MatmulEmitter::Part> MatmulEmitter::parts_of(const Block& block, bool whole) const {
    const bool brief = share_.chunks.size() * grid().waves() <= kBriefWaves;
    const uint32_t pipeline = share_.paced && brief ? chip_.mxu.pipeline : 1;
    const auto latency = static_cast<uint32_t>(base::divide_up(chip_.mxu.rows, pipeline) +
                                               base::divide_up(chip_.mxu.cols, pipeline));
    const uint32_t least = std::max(kLeastPartRows, latency);
    const uint32_t most = share_.dealing.ring || share_.paced ? kRingParts : kMostParts;
    const uint32_t count =
        whole || work().passes != 1 ? 1 : std::clamp(block.rows / least, 1u, most);
    const uint32_t end = chip_.mxu.accumulator_rows;
    std::vector<Part> parts;
    uint32_t row = 0;
    for (uint32_t i = 0; i < count; ++i) {
        auto rows = static_cast<uint32_t>(base::part(block.rows, count, i));
        while (rows != 0) {
            const uint32_t at = (block.accumulators + row) % end;
            const uint32_t now = std::min(rows, end - at);
            parts.push_back({row, now, at});
            row += now;
            rows -= now;
        }
    }
    return parts;
}

void MatmulEmitter::multiply(const Block& block, uint64_t k_tile, uint32_t address,
                             uint64_t k_origin) {
    for (const Part& part : parts_of_tile(block, k_tile))
        emit_matmul(block, k_tile, address, k_origin, part);
}

void MatmulEmitter::emit_matmul(const Block& block, uint64_t k_tile, uint32_t address,
                                uint64_t k_origin, const Part& part) {
    const MatmulGroup& group = work().groups[block.tile->group];
    const uint64_t k_start = k_tile * chip_.mxu.rows;
    isa::Matmul m;
    m.mxu = static_cast<uint8_t>(block.array);
    m.ub_addr = address;
    m.row_start = fit<uint32_t>(block.row + part.row - wave_rows_.begin, "output positions");
    m.rows = fit<uint16_t>(part.rows, "rows of a block");
    m.acc_addr = fit<uint16_t>(part.accumulators, "accumulator rows");
    m.k_start = static_cast<uint32_t>(k_start - k_origin * chip_.mxu.rows);
    m.k_len = fit<uint16_t>(std::min<uint64_t>(chip_.mxu.rows, group.k - k_start), "array rows");
    const Range read =
        window_bytes(core_.window_in_use(), m, static_cast<uint32_t>(element_bytes()));
    if (share_.paced) input_.need(read.end);
    for (uint32_t pass = 0; pass < work().passes; ++pass) {
        // Passes after the first one are the other half of wide activations: no further products.
        m.n_len = static_cast<uint16_t>(
            pass == 0 ? group.useful_columns(block.tile->n_start, block.tile->n_len) : 0);
        m.new_weights = pass == 0 && part.row == 0 && loads_tiles(block);
        m.accumulate = k_tile != 0 || pass != 0;
        Step step = core_.step(isa::Unit::kMxu, node(), block.array);
        step.words = m.encode();
        step.source.m_start =
            static_cast<uint32_t>(chunk().lines.begin * window().out_w + block.row + part.row);
        step.source.n_start = group.out_channel + block.tile->n_start;
        step.source.k_start = static_cast<uint32_t>(k_start);
        step.touches(core_.buffer(read.begin, read.size()));
        core_.add(
            step.touches(core_.accumulators(block.array, part.accumulators, part.rows, true)));
    }
}

}  // namespace tandem::compiler
