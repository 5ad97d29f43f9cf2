// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/core_emitter.h"

#include <algorithm>

#include "arch/geometry.h"
#include "base/divide.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

namespace {

constexpr uint8_t kDataBase = 1, kInputBase = 2, kOutputBase = 3;

/// Pieces of a transfer: at least so large, and so large that the latency that each one pays is no
/// more than a fifth of its time.
constexpr uint64_t kPieceBytes = 64 * 1024, kPieceLatencies = 4, kMostPieces = 16;

constexpr uint64_t kMostRows = 65535;              ///< of a transfer, and most planes
constexpr uint64_t kRunLimit = uint64_t{1} << 31;  ///< bytes of a transfer
constexpr uint64_t kOffsetBits = 32;

}  // namespace

Step CoreEmitter::step(isa::Unit unit, int32_t node, uint32_t array) const {
    Step step;
    step.place = {core_, unit, array};
    step.source.node = node;
    step.source.round = visit.round;
    return step;
}

// ---- transfers

void CoreEmitter::begin_program() {
    if (plan_.params_stay) {
        load_params(0, plan_.params_bytes, plan_.params_base, -1);
        params_loaded_ = graph_.kernels.size();
    }
    // Small, and wanted with the first results.
    if (plan_.mode == PlanMode::kSearch) load_params_until(plan_.prefetch_kernels);
    for (const ValueId id : graph_.inputs)
        if (plan_.values[id].resident && graph_.values[id].home == Memory::kHost)
            for (uint32_t round = 0; round < plan_.values[id].places; ++round)
                load_input(id, round, -1);
}

void CoreEmitter::load_input(ValueId id, uint32_t round, int32_t node) {
    const ValuePlan& plan = plan_.values[id];
    if (round < plan.rounds)
        load_in_pieces(id, plan.part(core_, round), plan.address_in(round), node);
}

/// One round ahead of its use, within a group: behind it others may have its places.
void CoreEmitter::load_round(ValueId id, int32_t node) {
    const ValuePlan& plan = plan_.values[id];
    const uint32_t of_round = plan_.kernels[visit.kernel].rounds / plan.rounds;
    if (visit.round % of_round != 0) return;
    const uint32_t round = plan_.round_of(plan, visit), of_group = plan.rounds / plan_.groups;
    const bool first = round % of_group == 0;
    for (uint32_t ahead = first ? 0 : plan.places - 1; ahead < plan.places; ++ahead)
        if ((round + ahead) / of_group == round / of_group) load_input(id, round + ahead, node);
}

void CoreEmitter::begin_visit() {
    const size_t k = visit.kernel;
    // Each group has the parameters come anew. Those of kernels of which this core did nothing have
    // no place any more.
    const uint32_t group = visit.round / (plan_.kernels[k].rounds / plan_.groups);
    if (group != group_ && !plan_.params_stay) params_loaded_ = 0;
    group_ = group;
    params_loaded_ = std::max(params_loaded_, k);
    load_params_until(k + plan_.prefetch_kernels);
    for (const ValueId id : graph_.kernels[k].inputs) {
        const Value& value = graph_.values[id];
        const ValuePlan& plan = plan_.values[id];
        if (!value.is_input || !plan.resident || plan.first_reader != k) continue;
        const auto node = static_cast<int32_t>(k);
        // The first places' rounds of what the host gives are on their way.
        if (value.home == Memory::kDevice && visit.round == 0)
            for (uint32_t round = 0; round < plan.places; ++round) load_input(id, round, node);
        if (visit.round != 0 && plan.rounds > 1) load_round(id, node);
    }
}

/// Loads the parameters of this kernel and of all before it.
void CoreEmitter::load_params_until(size_t kernel) {
    for (; params_loaded_ < graph_.kernels.size() && params_loaded_ <= kernel; ++params_loaded_) {
        const KernelPlan& owner = plan_.kernels[params_loaded_];
        load_params(owner.params_offset, graph_.kernels[params_loaded_].params_bytes,
                    owner.params_address, static_cast<int32_t>(params_loaded_));
    }
}

void CoreEmitter::load_params(uint64_t offset, uint64_t bytes, uint32_t address, int32_t node) {
    if (bytes == 0) return;
    isa::ReadMemory read;
    read.base = kDataBase;
    read.ub_addr = address;
    read.offset = static_cast<uint32_t>(offset);
    read.bytes = fit<uint32_t>(bytes, "bytes of parameters");
    read.rows = read.planes = 1;
    Step loading = step(isa::Unit::kDmaIn, node);
    loading.words = read.encode();
    add(loading.touches(buffer(address, bytes, true)));
}

CoreEmitter::Far CoreEmitter::far(const Transfer& t, bool writes) const {
    const Value& value = graph_.values[t.value];
    const ValuePlan& plan = plan_.values[t.value];
    const bool at_home = value.is_input || (value.is_output && writes && !t.copy);
    if (at_home && value.home == Memory::kHost) return {plan.host_offset + t.offset, true, {}};
    const uint64_t first = plan.memory_offset + t.offset;
    if (value.is_input) return {first, false, {}};
    // Bands of columns go for their rows as a whole: who reads one of these rows waits for all of
    // its bands, and the bands of a row, however many, are one piece for the synchroniser.
    const uint64_t begin = t.rows > 1 ? first - t.offset % t.stride : first;
    const uint64_t plane = t.rows > 1 ? begin + t.rows * t.stride : first + t.bytes;
    // Neighbouring bands are the planes of what is stored; of what is gathered they are lines.
    const uint64_t end = std::min(plane + (writes ? 0 : (t.planes - 1) * t.plane_stride),
                                  plan.memory_offset + value.bytes);
    return {first, false,
            Access{{Space::Kind::kMemory, 0, 0}, begin, end, writes, writes && !plan.shares_place}};
}

/// An application may say how many bytes come from the host and go there.
uint64_t CoreEmitter::stated_bytes(ValueId id, uint64_t bytes) const {
    const Value& value = graph_.values[id];
    const uint64_t stated = value.is_input ? graph_.host_input_bytes : graph_.host_output_bytes;
    if (value.home != Memory::kHost || stated == 0 || !(value.is_input || value.is_output))
        return bytes;
    const auto product = static_cast<unsigned __int128>(bytes) * stated;
    return std::max<uint64_t>(static_cast<uint64_t>(product / std::max<uint64_t>(value.bytes, 1)),
                              1);
}

void CoreEmitter::load(const Transfer& t, int32_t node) { transfer(t, true, node); }
void CoreEmitter::store(const Transfer& t, int32_t node) {
    transfer(t, false, node);
    if (!plan_.values[t.value].copied) return;
    Transfer copy = t;
    copy.copy = true;
    transfer(copy, false, node);
}

/// As many instructions as its fields ask for.
void CoreEmitter::transfer(const Transfer& t, bool in, int32_t node) {
    if (t.bytes == 0 || t.rows == 0) return;
    if (t.planes > 1) {
        if (t.rows <= kMostRows && t.planes <= kMostRows &&
            t.bytes * t.rows * t.planes <= kRunLimit)
            return move(t, in, node);
        for (uint64_t plane = 0; plane < t.planes; ++plane) {
            Transfer one = t;
            one.planes = 1;
            one.offset = t.offset + plane * t.plane_stride;
            one.address = static_cast<uint32_t>(t.address + plane * t.bytes * t.rows);
            transfer(one, in, node);
        }
        return;
    }
    const uint64_t most_rows =
        t.bytes >= kRunLimit ? 1 : std::min<uint64_t>(kMostRows, kRunLimit / t.bytes);
    for (uint64_t row = 0; row < t.rows; row += most_rows) {
        const uint64_t rows = std::min(most_rows, t.rows - row);
        for (uint64_t at = 0; at < t.bytes; at += kRunLimit) {
            Transfer piece = t;
            piece.bytes = std::min(kRunLimit, t.bytes - at);
            piece.rows = rows;
            piece.offset = t.offset + row * t.stride + at;
            piece.address = static_cast<uint32_t>(t.address + row * t.bytes + at);
            move(piece, in, node);
        }
    }
}

void CoreEmitter::move(const Transfer& t, bool in, int32_t node) {
    const Far place = far(t, !in);
    Step moving = step(in ? isa::Unit::kDmaIn : isa::Unit::kDmaOut, node);
    const auto fill = [&](auto op) {
        op.base = place.host ? (in ? kInputBase : kOutputBase) : kDataBase;
        op.ub_addr = t.address;
        op.offset = static_cast<uint32_t>(place.offset);
        op.offset_high = fit<uint16_t>(place.offset >> kOffsetBits, "offset of a transfer");
        op.bytes = static_cast<uint32_t>(place.host ? stated_bytes(t.value, t.bytes) : t.bytes);
        op.rows = static_cast<uint16_t>(t.rows);
        op.planes = fit<uint16_t>(t.planes, "planes of a transfer");
        op.plane_stride = t.planes > 1 ? fit<uint32_t>(t.plane_stride, "bytes between planes") : 0;
        op.row_stride = t.rows > 1 ? fit<uint32_t>(t.stride, "bytes between rows") : 0;
        moving.words = op.encode();
    };
    if (in)
        place.host ? fill(isa::ReadHost{}) : fill(isa::ReadMemory{});
    else
        place.host ? fill(isa::WriteHost{}) : fill(isa::WriteMemory{});
    moving.touches(buffer(t.address, t.bytes * t.rows * t.planes, in));
    if (place.memory) moving.touches(*place.memory);
    add(moving);
}

double CoreEmitter::bytes_under_way(ValueId id, bool host) const {
    const bool cmem = plan_.values[id].in_cmem;
    const uint64_t latency = host   ? chip_.host.latency_ps
                             : cmem ? chip_.cmem.latency_ps
                                    : chip_.memory.latency_ps;
    const uint64_t bandwidth = host   ? chip_.host.bytes_per_second
                               : cmem ? chip_.cmem.bytes_per_second
                                      : chip_.memory.bytes_per_second;
    return static_cast<double>(latency) * 1e-12 * static_cast<double>(bandwidth) * kPieceLatencies;
}

uint64_t CoreEmitter::pieces_of(uint64_t bytes, ValueId id, bool host) const {
    const uint64_t least =
        std::max<uint64_t>(kPieceBytes, static_cast<uint64_t>(bytes_under_way(id, host)));
    return std::clamp<uint64_t>(bytes / least, 1, kMostPieces);
}

uint64_t CoreEmitter::piece_bytes(ValueId id) const {
    const Value& value = graph_.values[id];
    const bool host = (value.is_input || value.is_output) && value.home == Memory::kHost;
    // So many that the far side's latency is hidden behind the others that are under way.
    return std::max(kPieceBytes,
                    static_cast<uint64_t>(bytes_under_way(id, host) / chip_.dma.in_flight));
}

void CoreEmitter::load_in_pieces(ValueId value, const Range& range, uint32_t address,
                                 int32_t node) {
    if (range.empty()) return;
    const bool host = graph_.values[value].is_input && graph_.values[value].home == Memory::kHost;
    uint64_t pieces = pieces_of(range.size(), value, host);
    // Two rounds of an input may be asked for at once: both have to have room in the engine's
    // queue, or nothing behind them is issued.
    if (plan_.values[value].places > 1)
        pieces = std::min<uint64_t>(pieces, std::max(1u, chip_.sequencer.queue_entries / 2));
    for (uint64_t i = 0; i < pieces; ++i) {
        const uint64_t at = base::part_begin(range.size(), pieces, i);
        load({value, range.begin + at, base::part(range.size(), pieces, i), 1, 0,
              static_cast<uint32_t>(address + at)},
             node);
    }
}

void CoreEmitter::store_in_pieces(ValueId value, const Range& range, uint32_t address,
                                  int32_t node) {
    if (range.empty()) return;
    const bool host = graph_.values[value].home == Memory::kHost && graph_.values[value].is_output;
    const uint64_t pieces = pieces_of(range.size(), value, host);
    for (uint64_t i = 0; i < pieces; ++i) {
        const uint64_t at = base::part_begin(range.size(), pieces, i);
        store({value, range.begin + at, base::part(range.size(), pieces, i), 1, 0,
               static_cast<uint32_t>(address + at)},
              node);
    }
}

uint32_t CoreEmitter::address_of(ValueId value, uint64_t byte) const {
    const ValuePlan& plan = plan_.values[value];
    return static_cast<uint32_t>(plan_.address(plan, visit) +
                                 (byte - plan_.part(plan, core_, visit).begin));
}

Access CoreEmitter::part(ValueId value, bool writes) const {
    const ValuePlan& plan = plan_.values[value];
    if (plan.resident)
        return buffer(plan_.address(plan, visit), plan_.part(plan, core_, visit).size(), writes);
    if (graph_.values[value].is_input) return buffer(0, 0);  // nothing writes it
    return {{Space::Kind::kMemory, 0, 0},
            plan.memory_offset,
            plan.memory_offset + graph_.values[value].bytes,
            writes,
            writes};
}

// ---- order

void CoreEmitter::barrier(const std::vector<Access>& reads, int32_t node) {
    constexpr size_t kMost = std::tuple_size_v<decltype(Step::accesses)>;
    for (size_t at = 0; at < reads.size(); at += kMost) {
        Step nop = step(isa::Unit::kSequencer, node);
        nop.words = isa::Nop{}.encode();
        for (size_t i = at; i < std::min(reads.size(), at + kMost); ++i) nop.touches(reads[i]);
        add(nop);
    }
}

void CoreEmitter::order_after(const std::vector<Access>& reads, int32_t node) {
    fence(isa::Unit::kDmaIn, 0, reads, node);
    for (uint32_t array = 0; array < chip_.mxu.count; ++array)
        fence(isa::Unit::kMxu, array, reads, node);
}

void CoreEmitter::fence(isa::Unit unit, uint32_t array, const std::vector<Access>& reads,
                        int32_t node) {
    Step waiting = step(unit, node, array);
    isa::Fence fence;
    fence.unit = static_cast<uint8_t>(unit);
    fence.mxu = static_cast<uint8_t>(array);
    waiting.words = fence.encode();
    for (const Access& access : reads) waiting.touches(access);
    add(waiting);
}

// ---- arrays

void CoreEmitter::use_window(const isa::Geometry& window, int32_t node) {
    if (window_ && *window_ == window) return;
    window_ = window;
    Step setting = step(isa::Unit::kMxu, node);
    setting.words = isa::SetWindow{.header = {}, .geometry = window}.encode();
    add(setting);
}

// ---- vector unit

void CoreEmitter::use_vector_state(const arch::VectorState& state, int32_t node) {
    for (const isa::Words& words : arch::changes(vector_state_, state)) {
        Step setting = step(isa::Unit::kVector, node);
        setting.words = words;
        add(setting);
    }
    vector_state_ = state;
}

uint32_t CoreEmitter::take_accumulators(uint32_t array, uint32_t rows, bool ring) {
    uint32_t& next = next_accumulator_[array];
    if (ring) {
        const uint32_t first = next % chip_.mxu.accumulator_rows;
        next = (first + rows) % chip_.mxu.accumulator_rows;
        return first;
    }
    if (next + rows > chip_.mxu.accumulator_rows) next = 0;
    const uint32_t first = next;
    next += rows;
    return first;
}

isa::Geometry chunk_window(const ImageWindow& w, const Chunk& chunk, uint32_t channels) {
    isa::Geometry g = isa::kSinglePixel;
    const ChunkImages part = chunk_images(w, chunk);
    uint64_t pixel = w.channels, taps = w.kernel_w, in_w = w.in_w;
    uint64_t read = channels;
    if (pixel * w.element_bytes > 65535 && w.one_to_one() && w.in_w == 1 && w.in_h == 1) {
        // A long row as several pixels, all taps of one window.
        for (taps = 2; taps < 256 && (pixel % taps != 0 || pixel / taps * w.element_bytes > 65535);)
            ++taps;
        read = pixel = pixel / taps;
        in_w = taps;
    }
    g.in_height = fit<uint16_t>(part.in_rows, "image height");
    g.in_width = fit<uint16_t>(in_w, "image width");
    g.pixel_stride = fit<uint16_t>(pixel * w.element_bytes, "bytes of a pixel");
    g.channels = fit<uint16_t>(read, "channels");
    g.kernel_h = fit<uint8_t>(w.kernel_h, "kernel height");
    g.kernel_w = fit<uint8_t>(taps, "kernel width");
    g.stride_h = fit<uint8_t>(w.stride_h, "vertical stride");
    g.stride_w = fit<uint8_t>(w.stride_w, "horizontal stride");
    g.dilation_h = fit<uint8_t>(w.dilation_h, "vertical dilation");
    g.dilation_w = fit<uint8_t>(w.dilation_w, "horizontal dilation");
    g.pad_top = fit<uint8_t>(part.above, "padding above");
    g.pad_left = fit<uint8_t>(w.pad_left, "padding on the left");
    g.out_height = fit<uint16_t>(part.out_rows, "output height");
    g.out_width = fit<uint16_t>(w.out_w, "output width");
    g.image_stride = fit<uint32_t>(part.in_rows * w.in_line_bytes(), "bytes of an image");
    g.pad_value = w.pad_value;
    return g;
}

Range window_bytes(const isa::Geometry& g, const isa::Matmul& matmul, uint32_t element_bytes) {
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
    return {matmul.ub_addr + begin, matmul.ub_addr + end};
}

}  // namespace tandem::compiler
