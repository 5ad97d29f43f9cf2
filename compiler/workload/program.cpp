// SPDX-License-Identifier: Apache-2.0
#include "compiler/workload/program.h"

#include <algorithm>

#include "arch/geometry.h"
#include "compiler/cut.h"

namespace tandem::compiler {
namespace {

// Scalar registers with the arguments.
constexpr uint8_t kWeightBase = 1, kMemoryBase = 2, kHostBase = 3;

// Flags. Per array: a block stands in the accumulators; half of them is free again.
constexpr uint8_t block_done(uint32_t array) { return static_cast<uint8_t>(1 + array); }
constexpr uint8_t half_free(uint32_t array) { return static_cast<uint8_t>(17 + array); }
constexpr uint8_t kInput = 33;   ///< DMA in: a piece of the input has come
constexpr uint8_t kLayer = 34;   ///< vector unit: the layer is finished
constexpr uint8_t kFree = 35;    ///< vector unit: a chunk of the input is not needed any more
constexpr uint8_t kOutput = 36;  ///< vector unit: a piece of the output stands in the buffer
/// Per array: it has read its part of a slice of the input.
constexpr uint8_t slice_done(uint32_t array) { return static_cast<uint8_t>(37 + array); }

/// Weight offsets wrap here: an instruction has 32 bits for them, and only time counts.
constexpr uint64_t kOffsetWrap = uint64_t{1} << 31;

/// The vector unit's cheapest instruction, to carry signals.
isa::Words signal(uint8_t flag) {
    isa::SetPoolWindow carrier{.header = {}, .geometry = isa::kSinglePixel};
    carrier.header.signal_a = flag;
    return carrier.encode();
}

isa::Words wait(uint8_t flag) {
    isa::Nop nop{.header = {}};
    nop.header.wait_a = flag;
    return nop.encode();
}

/// All rows of a layer are read as one pixel as wide as the array.
isa::Words window(const arch::ChipConfig& chip) {
    isa::SetWindow window{.header = {}, .geometry = isa::kSinglePixel};
    window.geometry.channels = static_cast<uint16_t>(chip.mxu.rows);
    window.geometry.image_stride = 0;
    return window.encode();
}

}  // namespace

WorkloadProgram::WorkloadProgram(const workload::Workload& workload, const arch::ChipConfig& chip,
                                 WorkloadPlan plan)
    : workload_(workload), chip_(chip), plan_(std::move(plan)), blocks_given_(chip.mxu.count) {
    emit(window(chip_));
}

size_t WorkloadProgram::next(std::span<isa::Words> words) {
    size_t count = 0;
    while (count < words.size() && (!pending_.empty() || advance())) {
        if (pending_.empty()) continue;
        words[count++] = pending_.front();
        pending_.pop_front();
    }
    return count;
}

uint64_t WorkloadProgram::waves() const {
    uint64_t waves = 0;
    for (size_t i = 0; i < plan_.layers.size(); ++i) {
        const LayerPlan& layer = plan_.layers[i];
        if (layer.n_tiles == 0 || layer.rows == 0) continue;
        waves += workload_.layers[i].repeat * divide_up(layer.rows, layer.chunk_rows) *
                 waves_of_chunk(layer, chip_);
    }
    return waves;
}

bool WorkloadProgram::advance() {
    if (halted_) return false;
    if (layer_ == plan_.layers.size()) {
        emit(isa::Halt{}.encode());
        halted_ = true;
    } else if (layer_plan().rows == 0) {
        marks_.push_back({layer_++, made_ - 1});
    } else if (shape().m == 0) {
        elementwise();
        end_run();
    } else if (!in_run_) {
        begin_run();
    } else if (const Wave wave = wave_at(wave_); !wave.empty()) {
        if (!fetched_ahead_) fetch(wave);
        fetched_ahead_ = false;
        multiply(wave);
        drain(wave);
        ++wave_;
        if (on_wave_) on_wave_();
    } else {
        end_chunk();
    }
    return true;
}

uint64_t WorkloadProgram::chunks() const {
    return divide_up(layer_plan().rows, layer_plan().chunk_rows);
}
uint64_t WorkloadProgram::chunk_rows(uint64_t chunk) const {
    return part(layer_plan().rows, chunks(), chunk);
}
/// Chunks may differ by a row; no block is without one.
uint64_t WorkloadProgram::row_blocks(uint64_t chunk) const {
    return std::min(compiler::row_blocks(layer_plan(), chip_), chunk_rows(chunk));
}

void WorkloadProgram::begin_run() {
    in_run_ = true;
    chunk_ = wave_ = 0;
    fetched_ahead_ = !chip_.sequencer.layer_sync;
    if (fetched_ahead_) fetch(wave_at(0));
    await_layer();
    begin_chunk();
}

/// Has the sequencer wait until the vector unit is done with everything so far.
void WorkloadProgram::await_layer() {
    if (layer_pending_) {
        emit(signal(kLayer));
        emit(wait(kLayer));
    }
    layer_pending_ = false;
}

/// Asks for the input of this chunk, if that has not been done, and of the next one. Two chunks are
/// on their way at most: the third one takes the place of the first.
void WorkloadProgram::begin_chunk() {
    wave_ = 0;
    inputs_awaited_ = 0;
    if (layer_plan().input == Place::kBuffer) return;
    if (sliced()) {
        slices_asked_ = 0;
        slice_before_.clear();
        ask_slice();
        ask_slice();
        return;
    }
    const auto ask = [&](uint64_t chunk) {
        const uint64_t bytes = part(layer_plan().bytes_in, chunks(), chunk);
        const uint64_t pieces = row_blocks(chunk);
        for (uint64_t piece = 0; piece < pieces; ++piece)
            read_in(part(bytes, pieces, piece), chunk >= 2 && piece == 0 ? kFree : uint8_t{0});
    };
    if (chunk_ == 0) ask(0);
    if (chunk_ + 1 < chunks()) ask(chunk_ + 1);
}

void WorkloadProgram::end_chunk() {
    if (layer_plan().input != Place::kBuffer && chunk_ + 2 < chunks()) emit(signal(kFree));
    if (layer_plan().output != Place::kBuffer && chip_.sequencer.layer_sync) {
        // Reading the buffer takes a synchronisation here, whoever reads it.
        emit(signal(kOutput));
        emit(wait(kOutput));
        write_out(part(layer_plan().bytes_out, chunks(), chunk_), 0);
    }
    if (++chunk_ == chunks()) {
        layer_pending_ = true;
        end_run();
        return;
    }
    begin_chunk();
}

void WorkloadProgram::end_run() {
    in_run_ = false;
    if (++run_ < shape().repeat) return;
    run_ = 0;
    marks_.push_back({layer_++, made_ - 1});
}

/// Column tiles go to the arrays in turns, all row blocks of a tile to the same one, so that a
/// single tile can stay. The tiles that are left over are shared by row blocks.
WorkloadProgram::Wave WorkloadProgram::wave_at(uint64_t index) const {
    const uint64_t arrays = chip_.mxu.count, tiles = layer_plan().n_tiles,
                   parts = row_blocks(chunk_);
    const uint64_t full = tiles / arrays, rest = tiles % arrays;
    Wave wave;
    const auto add = [&](uint32_t array, uint64_t tile, uint64_t row_block) {
        const auto rows = static_cast<uint32_t>(part(chunk_rows(chunk_), parts, row_block));
        const uint64_t of_group = tiles / shape().groups;
        const auto cols = static_cast<uint32_t>(std::min<uint64_t>(
            chip_.mxu.cols, layer_plan().cols - tile % of_group * chip_.mxu.cols));
        if (rows != 0) wave.push_back({array, tile, row_block, rows, cols});
    };
    if (index < full * parts) {
        for (uint32_t array = 0; array < arrays; ++array)
            add(array, index / parts * arrays + array, index % parts);
        return wave;
    }
    const uint64_t first = (index - full * parts) * arrays;
    for (uint64_t i = first; i < std::min(first + arrays, rest * parts); ++i)
        add(static_cast<uint32_t>(i - first), full * arrays + i % rest, i / rest);
    return wave;
}

/// The only K tile of a column stays in the array for its row blocks.
bool WorkloadProgram::loads_tiles(const Block& block) const {
    const bool leftover =
        block.column_tile >= layer_plan().n_tiles / chip_.mxu.count * chip_.mxu.count;
    return layer_plan().k_tiles > 1 || block.row_block == 0 || leftover;
}

void WorkloadProgram::fetch(const Wave& wave) {
    for (const Block& block : wave) {
        if (!loads_tiles(block)) continue;
        const uint64_t tile = block.column_tile * layer_plan().k_tiles;
        const uint64_t offset = layer_plan().tile_offset + tile * chip_.tile_bytes();
        isa::ReadWeights read{.header = {},
                              .offset = static_cast<uint32_t>(offset % kOffsetWrap),
                              .tiles = static_cast<uint32_t>(layer_plan().k_tiles),
                              .base = kWeightBase};
        read.mxu = static_cast<uint8_t>(block.array);
        emit(read.encode());
    }
}

void WorkloadProgram::multiply(const Wave& wave) {
    if (sliced()) return multiply_slices(wave);
    if (layer_plan().input != Place::kBuffer)
        for (const Block& block : wave)
            for (; inputs_awaited_ <= block.row_block; ++inputs_awaited_) emit(wait(kInput));
    for (uint64_t k_tile = 0; k_tile < layer_plan().k_tiles; ++k_tile)
        for (const Block& block : wave)
            for (uint64_t pass = 0; pass < shape().passes; ++pass) multiply(block, k_tile, pass);
    for (const Block& block : wave) ++blocks_given_[block.array];
}

/// A slice's place in the buffer is free when all arrays have read the slice; two are on their way
/// or in use at a time.
void WorkloadProgram::multiply_slices(const Wave& wave) {
    for (uint64_t slice = 0; slice < slices_of_wave(); ++slice) {
        const uint64_t first = slice * layer_plan().slice_tiles;
        const uint64_t end = std::min(first + layer_plan().slice_tiles, layer_plan().k_tiles);
        const bool followed = wave_ * slices_of_wave() + slice + 2 < slices_of_layer();
        emit(wait(kInput));
        for (uint64_t k_tile = first; k_tile < end; ++k_tile)
            for (const Block& block : wave)
                for (uint64_t pass = 0; pass < shape().passes; ++pass) {
                    const bool last = k_tile + 1 == end && pass + 1 == shape().passes;
                    multiply(block, k_tile, pass,
                             last && followed ? slice_done(block.array) : uint8_t{0});
                }
        if (slices_asked_ < slices_of_layer() && !slice_before_.empty()) {
            for (const Block& block : slice_before_) emit(wait(slice_done(block.array)));
            ask_slice();
        }
        slice_before_ = wave;
    }
    for (const Block& block : wave) ++blocks_given_[block.array];
}

uint64_t WorkloadProgram::slices_of_wave() const {
    return divide_up(layer_plan().k_tiles, layer_plan().slice_tiles);
}
uint64_t WorkloadProgram::slices_of_layer() const {
    return slices_of_wave() * waves_of_chunk(layer_plan(), chip_);
}

/// All K of the rows of a wave, cut into the slices of a wave.
void WorkloadProgram::ask_slice() {
    if (slices_asked_ == slices_of_layer()) return;
    const Wave wave = wave_at(slices_asked_ / slices_of_wave());
    uint64_t rows = 0;
    for (size_t i = 0; i < wave.size(); ++i) {
        const auto same = [&](const Block& block) { return block.row_block == wave[i].row_block; };
        if (std::none_of(wave.begin(), wave.begin() + static_cast<ptrdiff_t>(i), same))
            rows += wave[i].rows;
    }
    const auto bytes = static_cast<uint64_t>(static_cast<unsigned __int128>(layer_plan().bytes_in) *
                                             rows / layer_plan().rows);
    read_in(part(bytes, slices_of_wave(), slices_asked_ % slices_of_wave()), 0);
    ++slices_asked_;
}

void WorkloadProgram::multiply(const Block& block, uint64_t k_tile, uint64_t pass, uint8_t signal) {
    const bool first = k_tile == 0 && pass == 0;
    const bool last = k_tile + 1 == layer_plan().k_tiles && pass + 1 == shape().passes;
    const uint64_t given = blocks_given_[block.array];
    isa::Matmul matmul{};
    matmul.ub_addr = inside(layer_plan().input_address, chip_.row_bytes());
    matmul.rows = static_cast<uint16_t>(block.rows);
    matmul.acc_addr = static_cast<uint16_t>(given % 2 * (chip_.mxu.accumulator_rows / 2));
    matmul.k_len = static_cast<uint16_t>(
        std::min<uint64_t>(chip_.mxu.rows, shape().k - k_tile * chip_.mxu.rows));
    // Passes after the first one are the other half of wide activations: no further products.
    matmul.n_len = static_cast<uint16_t>(pass == 0 ? block.cols : 0);
    matmul.new_weights = pass == 0 && loads_tiles(block);
    matmul.accumulate = !first;
    matmul.mxu = static_cast<uint8_t>(block.array);
    if (first && given >= 2) matmul.header.wait_a = half_free(block.array);
    if (last) matmul.header.signal_a = block_done(block.array);
    matmul.header.signal_b = signal;
    emit(matmul.encode());
}

void WorkloadProgram::drain(const Wave& wave) {
    uint64_t elements = 0;
    for (const Block& block : wave) {
        for (uint64_t pass = 0; pass < shape().passes; ++pass) activate(block, pass);
        elements += uint64_t{block.rows} * block.cols;
    }
    if (layer_plan().output == Place::kBuffer || chip_.sequencer.layer_sync) return;
    emit(signal(kOutput));
    const auto written = static_cast<unsigned __int128>(layer_plan().bytes_out) * elements;
    write_out(
        static_cast<uint64_t>(written / (layer_plan().rows * layer_plan().cols * shape().groups)),
        kOutput);
}

void WorkloadProgram::activate(const Block& block, uint64_t pass) {
    const uint64_t half = (blocks_given_[block.array] - 1) % 2;
    const auto fill = [&](auto instruction, uint32_t element_bytes) {
        instruction.ub_addr =
            inside(layer_plan().output_address, uint64_t{block.cols} * element_bytes);
        instruction.acc_addr = static_cast<uint16_t>(half * (chip_.mxu.accumulator_rows / 2));
        instruction.rows = static_cast<uint16_t>(block.rows);
        instruction.cols = static_cast<uint16_t>(block.cols);
        instruction.mxu = static_cast<uint8_t>(block.array);
        if (pass == 0) instruction.header.wait_a = block_done(block.array);
        if (pass + 1 == shape().passes) instruction.header.signal_a = half_free(block.array);
        emit(instruction.encode());
    };
    if (chip_.mxu.dtype == arch::Dtype::kBf16)
        fill(isa::ActivateFloat{}, 2);
    else
        fill(isa::Activate{}, 1);
}

/// Vector and pooling layers: everything passes the vector unit once.
void WorkloadProgram::elementwise() {
    // Without layer_sync the vector unit's own order is enough.
    if (chip_.sequencer.layer_sync) await_layer();
    const uint64_t most =
        std::min<uint64_t>(chip_.unified_buffer_bytes / 4, 65535 * chip_.vector.lanes);
    const uint64_t total = layer_plan().rows * shape().passes;
    const uint64_t pieces = divide_up(total, most);
    for (uint64_t i = 0; i < pieces; ++i) {
        const bool reads = layer_plan().input != Place::kBuffer;
        const bool writes = layer_plan().output != Place::kBuffer;
        if (reads) read_in(part(layer_plan().bytes_in, pieces, i), 0);
        isa::Header header{};
        if (reads) header.wait_a = kInput;
        if (writes) header.signal_a = kOutput;
        if (shape().kind == workload::LayerKind::kPool)
            pool(part(total, pieces, i), header);
        else
            add(part(total, pieces, i), header);
        if (writes) write_out(part(layer_plan().bytes_out, pieces, i), kOutput);
    }
    layer_pending_ = true;
}

/// Two operands for each element.
void WorkloadProgram::add(uint64_t elements, const isa::Header& header) {
    isa::Add add{};
    add.header = header;
    add.a_addr = add.b_addr = inside(layer_plan().input_address, elements);
    add.out_addr = inside(layer_plan().output_address, elements);
    add.count = static_cast<uint32_t>(elements);
    emit(add.encode());
}

/// Every input element once, as wide as the unit.
void WorkloadProgram::pool(uint64_t elements, const isa::Header& header) {
    isa::SetPoolWindow window{.header = {}, .geometry = isa::kSinglePixel};
    const auto channels = std::min<uint64_t>(chip_.vector.lanes, elements);
    window.geometry.channels = static_cast<uint16_t>(channels);
    window.geometry.out_width = static_cast<uint16_t>(divide_up(elements, channels));
    emit(window.encode());
    isa::Pool pool{};
    pool.header = header;
    pool.images = 1;
    const uint64_t bytes = window.geometry.out_width * channels;
    pool.in_addr = inside(layer_plan().input_address, bytes);
    pool.out_addr = inside(layer_plan().output_address, bytes);
    emit(pool.encode());
}

void WorkloadProgram::read_in(uint64_t bytes, uint8_t wait_for) {
    transfer(&WorkloadProgram::read_piece, bytes, wait_for, kInput);
}

void WorkloadProgram::write_out(uint64_t bytes, uint8_t wait_for) {
    transfer(&WorkloadProgram::write_piece, bytes, wait_for, 0);
}

/// As many instructions as it takes: none moves more than buffer or memory hold.
void WorkloadProgram::transfer(isa::Words (WorkloadProgram::*make)(uint64_t, const isa::Header&),
                               uint64_t bytes, uint8_t wait_for, uint8_t signal) {
    const uint64_t most = std::min(chip_.unified_buffer_bytes, chip_.memory.bytes);
    const uint64_t pieces = std::max<uint64_t>(divide_up(bytes, most), 1);
    for (uint64_t i = 0; i < pieces; ++i) {
        isa::Header header{};
        if (i == 0) header.wait_a = wait_for;
        if (i + 1 == pieces) header.signal_a = signal;
        emit((this->*make)(part(bytes, pieces, i), header));
    }
}

isa::Words WorkloadProgram::read_piece(uint64_t bytes, const isa::Header& header) {
    const uint32_t address = inside(layer_plan().input_address, bytes);
    const auto count = static_cast<uint32_t>(bytes);
    if (layer_plan().input == Place::kHost)
        return isa::ReadHost{header, address, 0, count, kHostBase}.encode();
    return isa::ReadMemory{header, address, memory_offset(bytes), count, kMemoryBase}.encode();
}

isa::Words WorkloadProgram::write_piece(uint64_t bytes, const isa::Header& header) {
    const uint32_t address = inside(layer_plan().output_address, bytes);
    const auto count = static_cast<uint32_t>(bytes);
    if (layer_plan().output == Place::kHost)
        return isa::WriteHost{header, address, 0, count, kHostBase}.encode();
    return isa::WriteMemory{header, address, memory_offset(bytes), count, kMemoryBase}.encode();
}

/// One transfer behind the other, from the beginning again at the end: so they meet all channels.
uint32_t WorkloadProgram::memory_offset(uint64_t bytes) {
    if (memory_at_ + bytes > std::min(kOffsetWrap, chip_.memory.bytes)) memory_at_ = 0;
    const uint64_t offset = memory_at_;
    memory_at_ += bytes;
    return static_cast<uint32_t>(offset);
}

/// The address, or less if `bytes` would not fit behind it: only the time of an access counts.
uint32_t WorkloadProgram::inside(uint64_t address, uint64_t bytes) const {
    const uint64_t size = chip_.unified_buffer_bytes;
    return static_cast<uint32_t>(std::min(address, size - std::min(bytes, size)));
}

}  // namespace tandem::compiler
