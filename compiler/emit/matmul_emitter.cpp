// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/matmul_emitter.h"

#include <algorithm>

#include "arch/geometry.h"
#include "base/divide.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

namespace {

constexpr uint8_t kDataBase = 1;
constexpr uint32_t kMostParts = 4, kLeastPartRows = 64;

}  // namespace

MatmulEmitter::MatmulEmitter(CoreEmitter& core, const Visit& visit)
    : core_(core),
      visit_(visit),
      kernel_(core.kernel(visit.kernel)),
      plan_(core.plan().kernels[visit.kernel]),
      share_(core.share(visit)),
      chip_(core.chip()) {}

void MatmulEmitter::fetch_first_wave(CoreEmitter& core, const Visit& visit) {
    if (core.kernel(visit.kernel).matmul() == nullptr || core.fetched_ahead == visit) return;
    MatmulEmitter emitter(core, visit);
    if (emitter.share_.chunks.empty()) return;
    emitter.fetch(emitter.wave_at(0));
    core.fetched_ahead = visit;
}

bool MatmulEmitter::advance() {
    if (chunk_ >= share_.chunks.size()) return false;
    if (wave_ == 0) begin_chunk();
    Wave wave = wave_at(wave_);
    if (waves_done_ == 0 && core_.fetched_ahead != visit_) fetch(wave);
    if (waves_done_ == 0) core_.fetched_ahead.reset();
    fetch_next();
    multiply(wave);
    drain(wave);
    if (share_.out == Way::kWaves) store(wave);
    ++waves_done_;
    if (++wave_ == waves_of_chunk()) end_chunk();
    return true;
}

uint64_t MatmulEmitter::blocks() const {
    return row_blocks(chunk_rows(), share_.tiles.size(), share_.block_rows, chip_);
}
uint64_t MatmulEmitter::waves_of_chunk() const {
    return waves(blocks(), share_.tiles.size(), chip_);
}

// ---- chunks

/// Two chunks are on their way at most: the third one takes the place of the first.
void MatmulEmitter::begin_chunk() {
    if (!begun_) {
        begun_ = true;
        if (share_.in == Way::kWhole) {
            const Range first = share_.chunks.front().input, last = share_.chunks.back().input;
            core_.load_in_pieces(kernel_.inputs[0], {first.begin, last.end}, share_.in_area,
                                 node());
        }
        if (share_.in == Way::kChunks) load_chunk(0);
        if (share_.in == Way::kSlices) {
            load_slice(0);
            load_slice(1);
        }
    }
    if (share_.in == Way::kChunks && chunk_ + 1 < share_.chunks.size()) load_chunk(chunk_ + 1);
}

void MatmulEmitter::load_chunk(size_t chunk) {
    core_.load_in_pieces(kernel_.inputs[0], share_.chunks[chunk].input,
                         static_cast<uint32_t>(share_.in_area + chunk % 2 * share_.in_piece),
                         node());
}

void MatmulEmitter::end_chunk() {
    if (share_.out == Way::kChunks) {
        // Reading the buffer takes a synchronisation here, whoever reads it.
        const uint64_t columns = out_row_bytes();
        const auto address = static_cast<uint32_t>(share_.out_area + chunk_ % 2 * share_.out_piece);
        core_.barrier({core_.buffer(address, columns * chunk_rows())}, node());
        const uint64_t row_bytes = core_.graph().values[kernel_.output].bytes / window().rows();
        const ColumnTile& first = plan_.tiles[share_.tiles.begin];
        const uint64_t channel = work().groups[first.group].out_channel + first.n_start;
        const uint64_t row = chunk().lines.begin * window().out_w;
        Transfer out{kernel_.output, row * row_bytes + channel * work().out_element_bytes,
                     columns,        chunk_rows(),
                     row_bytes,      address};
        if (columns == row_bytes) {
            out.bytes *= out.rows;
            out.rows = 1;
        }
        core_.store(out, node());
    }
    ++chunk_;
    wave_ = 0;
}

uint32_t MatmulEmitter::input_address() const {
    switch (share_.in) {
        case Way::kStays:
            return core_.address_of(kernel_.inputs[0], chunk().input.begin);
        case Way::kWhole:
            return static_cast<uint32_t>(share_.in_area + chunk().input.begin -
                                         share_.chunks.front().input.begin);
        default:
            return static_cast<uint32_t>(share_.in_area + chunk_ % 2 * share_.in_piece);
    }
}

// ---- waves

MatmulEmitter::Wave MatmulEmitter::wave_at(uint64_t index) const {
    const uint64_t arrays = chip_.mxu.count, tiles = share_.tiles.size(), parts = blocks();
    const uint64_t full = tiles / arrays, rest = tiles % arrays;
    Wave wave;
    const auto add = [&](uint64_t array, uint64_t tile, uint64_t row_block) {
        Block block;
        block.array = static_cast<uint32_t>(array);
        block.tile = &plan_.tiles[share_.tiles.begin + tile];
        block.tile_index = tile;
        block.row_block = row_block;
        block.row = base::part_begin(chunk_rows(), parts, row_block);
        block.rows = static_cast<uint32_t>(base::part(chunk_rows(), parts, row_block));
        if (block.rows != 0) wave.push_back(block);
    };
    if (index < full * parts) {
        for (uint64_t array = 0; array < arrays; ++array)
            add(array, index / parts * arrays + array, index % parts);
        return wave;
    }
    const uint64_t first = (index - full * parts) * arrays;
    for (uint64_t i = first; i < std::min(first + arrays, rest * parts); ++i)
        add(i - first, full * arrays + i % rest, i / rest);
    return wave;
}

/// The only K tile of a column stays in the array for its row blocks.
bool MatmulEmitter::loads_tiles(const Block& block) const {
    const uint64_t shared_from = share_.tiles.size() / chip_.mxu.count * chip_.mxu.count;
    const bool left_over = block.tile_index >= shared_from && chip_.mxu.count > 1;
    return block.tile->k_tiles > 1 || block.row_block == 0 || left_over;
}

void MatmulEmitter::fetch(const Wave& wave) {
    for (const Block& block : wave) {
        if (!loads_tiles(block)) continue;
        const uint64_t offset = weights_of(block);
        isa::ReadWeights read;
        read.base = kDataBase;
        read.mxu = static_cast<uint8_t>(block.array);
        read.offset = static_cast<uint32_t>(offset);
        read.offset_high = fit<uint16_t>(offset >> 32, "offset of weights");
        read.tiles = block.tile->k_tiles;
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

/// One wave ahead; further would be no use, the FIFO being short, and could fill the queue of the
/// weight unit.
void MatmulEmitter::fetch_next() {
    if (wave_ + 1 < waves_of_chunk()) return fetch(wave_at(wave_ + 1));
    if (chunk_ + 1 < share_.chunks.size()) {
        ++chunk_;
        fetch(wave_at(0));
        --chunk_;
        return;
    }
    if (!core_.layer_sync() && core_.next_visit) fetch_first_wave(core_, *core_.next_visit);
}

std::vector<uint32_t> MatmulEmitter::split_rows(uint32_t rows) const {
    const uint32_t least = std::max(kLeastPartRows, chip_.mxu.rows + chip_.mxu.cols);
    const uint32_t parts = std::clamp(rows / least, 1u, kMostParts);
    std::vector<uint32_t> sizes;
    for (uint32_t i = 0; i < parts; ++i)
        sizes.push_back(static_cast<uint32_t>(base::part(rows, parts, i)));
    return sizes;
}

void MatmulEmitter::multiply(Wave& wave) {
    uint64_t k_tiles = 0, slot = 0;
    for (Block& block : wave) {
        block.accumulators = core_.take_accumulators(block.array, block.rows);
        block.slot = slot;
        slot += block.rows * block.tile->n_len * work().out_element_bytes;
        k_tiles = std::max<uint64_t>(k_tiles, block.tile->k_tiles);
    }
    if (share_.in == Way::kSlices) return multiply_slices(wave, k_tiles);
    multiply_tiles(wave, 0, k_tiles, input_address());
}

void MatmulEmitter::multiply_tiles(const Wave& wave, uint64_t first, uint64_t end,
                                   uint32_t address) {
    const bool sliced = share_.in == Way::kSlices;
    for (uint64_t k = first; k < end; ++k)
        for (const Block& block : wave) {
            if (k >= block.tile->k_tiles) continue;
            const MatmulGroup& group = work().groups[block.tile->group];
            if (!sliced) core_.use_window(chunk_window(window(), chunk(), group.channels), node());
            const uint64_t channel = sliced ? 0 : group.in_channel * element_bytes();
            multiply(block, k, static_cast<uint32_t>(address + channel), sliced ? first : 0);
        }
}

/// Parts of the first tile wait only for the activations that they need, parts of the last one let
/// the drain begin early; in between they would be no use.
void MatmulEmitter::multiply(const Block& block, uint64_t k_tile, uint32_t address,
                             uint64_t k_origin) {
    const bool ends = (k_tile == 0 || k_tile + 1 == block.tile->k_tiles) && work().passes == 1;
    if (!ends) return emit_matmul(block, k_tile, address, k_origin, 0, block.rows);
    uint32_t row = 0;
    for (const uint32_t rows : split_rows(block.rows)) {
        emit_matmul(block, k_tile, address, k_origin, row, rows);
        row += rows;
    }
}

void MatmulEmitter::emit_matmul(const Block& block, uint64_t k_tile, uint32_t address,
                                uint64_t k_origin, uint32_t row, uint32_t rows) {
    const MatmulGroup& group = work().groups[block.tile->group];
    const uint64_t k_start = k_tile * chip_.mxu.rows;
    isa::Matmul m;
    m.mxu = static_cast<uint8_t>(block.array);
    m.ub_addr = address;
    m.row_start = fit<uint32_t>(block.row + row - wave_rows_.begin, "output positions");
    m.rows = fit<uint16_t>(rows, "rows of a block");
    m.acc_addr = fit<uint16_t>(block.accumulators + row, "accumulator rows");
    m.k_start = static_cast<uint32_t>(k_start - k_origin * chip_.mxu.rows);
    m.k_len = fit<uint16_t>(std::min<uint64_t>(chip_.mxu.rows, group.k - k_start), "array rows");
    for (uint32_t pass = 0; pass < work().passes; ++pass) {
        // Passes after the first one are the other half of wide activations: no further products.
        m.n_len =
            static_cast<uint16_t>(pass == 0 ? std::min(block.tile->n_len, group.useful_n) : 0);
        m.new_weights = pass == 0 && row == 0 && loads_tiles(block);
        m.accumulate = k_tile != 0 || pass != 0;
        const Range read =
            window_bytes(core_.window_in_use(), m, static_cast<uint32_t>(element_bytes()));
        Step step = core_.step(isa::Unit::kMxu, node(), block.array);
        step.words = m.encode();
        step.source.m_start =
            static_cast<uint32_t>(chunk().lines.begin * window().out_w + block.row + row);
        step.source.n_start = group.out_channel + block.tile->n_start;
        step.source.k_start = static_cast<uint32_t>(k_start);
        step.touches(core_.buffer(read.begin, read.size()));
        core_.add(step.touches(core_.accumulators(block.array, m.acc_addr, rows, true)));
    }
}

// ---- slices of K

uint64_t MatmulEmitter::slices_of_wave() const {
    return base::divide_up(base::divide_up(window().channels, chip_.mxu.rows), share_.slice_tiles);
}
uint64_t MatmulEmitter::slice_elements(uint64_t slice) const {
    const uint64_t most = share_.slice_tiles * chip_.mxu.rows;
    return std::min(most, window().channels - slice * most);
}

/// Rows that the blocks of a wave read together.
Range MatmulEmitter::rows_of(const Wave& wave) {
    Range rows{wave.front().row, 0};
    for (const Block& block : wave) {
        rows.begin = std::min(rows.begin, block.row);
        rows.end = std::max(rows.end, block.row + block.rows);
    }
    return rows;
}

/// Two slices are on their way or in use at a time.
void MatmulEmitter::multiply_slices(const Wave& wave, uint64_t k_tiles) {
    wave_rows_ = rows_of(wave);
    for (uint64_t slice = 0; slice < slices_of_wave(); ++slice, ++slices_used_) {
        const uint64_t first = slice * share_.slice_tiles;
        use_slice_window(slice);
        multiply_tiles(wave, first, std::min(first + share_.slice_tiles, k_tiles),
                       static_cast<uint32_t>(share_.in_area + slices_used_ % 2 * share_.in_piece));
        load_slice(slices_used_ + 2);
    }
}

void MatmulEmitter::load_slice(uint64_t slice) {
    const uint64_t wave = slice / slices_of_wave();
    if (wave >= waves_of_chunk()) return;
    const Range rows = rows_of(wave_at(wave));
    const uint64_t row_bytes = window().pixel_bytes(), of_wave = slice % slices_of_wave();
    Transfer t{kernel_.inputs[0],
               (chunk().lines.begin * window().out_w + rows.begin) * row_bytes +
                   of_wave * share_.slice_tiles * chip_.row_bytes(),
               slice_elements(of_wave) * element_bytes(),
               rows.size(),
               row_bytes,
               static_cast<uint32_t>(share_.in_area + slice % 2 * share_.in_piece)};
    core_.load(t, node());
}

/// The rows of a slice stand in the buffer one behind the other.
void MatmulEmitter::use_slice_window(uint64_t slice) {
    isa::Geometry g = isa::kSinglePixel;
    g.channels = fit<uint16_t>(slice_elements(slice), "elements of a slice");
    g.pixel_stride = fit<uint16_t>(slice_elements(slice) * element_bytes(), "bytes of a slice");
    g.image_stride = g.pixel_stride;
    g.pad_value = window().pad_value;
    core_.use_window(g, node());
}

}  // namespace tandem::compiler
