// SPDX-License-Identifier: Apache-2.0
#include "cosim/pe_oracle.h"

#include <algorithm>
#include <array>

#include "arch/bf16.h"

namespace tandem::cosim {
namespace {

uint32_t container(const void* place, uint32_t bytes) {
    uint32_t value = 0;
    std::memcpy(&value, place, std::min<uint32_t>(bytes, sizeof value));
    return value;
}

}  // namespace

PeTable pe_table(const TandemArrayInfo& info,
                 const std::function<TandemPeRegisters(uint32_t row, uint32_t col)>& pe) {
    PeTable table{{}, info.element_bytes, info.psum_bytes, info.tag_bytes};
    for (uint32_t r = 0; r < info.rows; ++r)
        for (uint32_t c = 0; c < info.cols; ++c) table.pes.push_back(pe(r, c));
    return table;
}

PeOracle::PeOracle(engine::MxuShape shape, std::span<const std::byte> active,
                   std::span<const std::byte> shadow)
    : shape_(shape) {
    // Tiles that are there at the start have been accepted long ago.
    if (!active.empty()) swaps_.push_back({0, new_tile(active)});
    if (!shadow.empty()) tiles_.push_back(new_tile(shadow));
}

PeOracle::Element PeOracle::element(const std::byte* data, size_t index) const {
    if (shape_.dtype == arch::Dtype::kInt8) return static_cast<int8_t>(data[index]);
    uint16_t bits = 0;
    std::memcpy(&bits, data + 2 * index, sizeof bits);
    return bits;
}

std::vector<PeOracle::Element> PeOracle::elements(const std::byte* data, size_t count) const {
    std::vector<Element> found(count);
    for (size_t i = 0; i < count; ++i) found[i] = element(data, i);
    return found;
}

std::shared_ptr<PeOracle::Tile> PeOracle::new_tile(std::span<const std::byte> data) const {
    const size_t count = size_t{shape_.rows} * shape_.cols;
    auto tile = std::make_shared<Tile>();
    tile->data = data.empty() ? std::vector<Element>(count) : elements(data.data(), count);
    tile->accepted.assign(shape_.rows, data.empty() ? kNever : 0);
    return tile;
}

void PeOracle::weight_row(Cycle edge, uint32_t row, const std::byte* data) {
    if (!tile_open_) tiles_.push_back(new_tile({}));
    Tile& tile = *tiles_.back();
    for (uint32_t c = 0; c < shape_.cols; ++c) tile.data[index(row, c)] = element(data, c);
    tile.accepted[row] = edge;
    tile_open_ = row != 0;
    load_tags_.push_back({edge, row});
}

void PeOracle::activation_row(Cycle edge, const std::byte* data, bool swap) {
    if (swap && !tiles_.empty()) swaps_.push_back({edge, tiles_.back()});
    if (swap) swap_tags_.push_back(edge);
    const auto tile = swaps_.empty() ? nullptr : swaps_.back().tile;
    rows_.push_back({edge, elements(data, shape_.rows), tile, std::vector<uint32_t>(shape_.cols)});
}

std::optional<PeMismatch> PeOracle::check(Cycle edge, const PeTable& table) {
    std::optional<PeMismatch> found;
    for (Row& row : rows_) {
        const auto mismatch = check_row(row, edge, table);
        if (!found) found = mismatch;
    }
    if (!found) found = check_tags(edge, table);
    if (!found) found = check_planes(edge, table);
    forget(edge);
    return found;
}

void PeOracle::forget(Cycle edge) {
    const Cycle depth = Cycle{shape_.rows} + shape_.cols;
    const auto gone = [&](Cycle accepted) { return accepted + depth <= edge; };
    while (!rows_.empty() && gone(rows_.front().edge)) rows_.pop_front();
    while (swaps_.size() > 1 && gone(swaps_[1].edge)) swaps_.pop_front();
    while (tiles_.size() > 1 && tiles_[1]->accepted[0] != kNever && gone(tiles_[1]->accepted[0]))
        tiles_.pop_front();
    while (!swap_tags_.empty() && gone(swap_tags_.front())) swap_tags_.pop_front();
    while (!load_tags_.empty() && gone(load_tags_.front().edge)) load_tags_.pop_front();
}

/// The last row of the band of row r: its sums are in registers.
uint32_t PeOracle::band_end(uint32_t r) const {
    return std::min(r / shape_.pipeline * shape_.pipeline + shape_.pipeline, shape_.rows) - 1;
}

uint32_t PeOracle::product(const Row& row, uint32_t r, uint32_t c) const {
    return bf16::product(static_cast<uint16_t>(row.data[r]),
                         static_cast<uint16_t>(row.tile->data[index(r, c)]));
}

/// The partial sum of column c with the products of rows `first` to `last` added.
uint32_t PeOracle::add_rows(const Row& row, uint32_t c, uint32_t first, uint32_t last) const {
    uint32_t sum = row.partial[c];
    if (shape_.dtype == arch::Dtype::kInt8) {
        for (uint32_t r = first; r <= last; ++r)
            sum += static_cast<uint32_t>(row.data[r] * row.tile->data[index(r, c)]);
    } else if (!shape_.sum4) {
        for (uint32_t r = first; r <= last; ++r) sum = bf16::sum(sum, product(row, r, c));
    } else {
        for (uint32_t r = first; r <= last; r += 4) {
            std::array<uint32_t, 4> group{};
            for (uint32_t i = 0; i < 4 && r + i <= last; ++i) group[i] = product(row, r + i, c);
            sum = bf16::sum(sum, bf16::sum4(group));
        }
    }
    return sum;
}

std::optional<uint32_t> PeOracle::expected_psum(Cycle edge, uint32_t r, uint32_t c) const {
    if (r != band_end(r)) return std::nullopt;  // no register there
    for (const Row& row : rows_)
        if (row.tile != nullptr && row.edge + shape_.row_delay(r) + shape_.col_delay(c) + 1 == edge)
            return add_rows(row, c, r / shape_.pipeline * shape_.pipeline, r);
    return std::nullopt;
}

std::optional<uint32_t> PeOracle::expected(PeRegister which, Cycle edge, uint32_t r,
                                           uint32_t c) const {
    const Cycle right = shape_.col_delay(c), delay = shape_.row_delay(r) + right;
    const auto bits = [](std::optional<Element> element) {
        return element ? std::optional(static_cast<uint32_t>(*element)) : std::nullopt;
    };
    const bool has_tags = c % shape_.pipeline == 0;
    switch (which) {
        case PeRegister::kActivation:
            for (const Row& row : rows_)
                if (has_tags && row.edge + delay == edge) return static_cast<uint32_t>(row.data[r]);
            return std::nullopt;
        case PeRegister::kWeight:
            return bits(expected_weight(edge, r, c));
        case PeRegister::kShadow:
            return bits(expected_shadow(edge, r, c));
        case PeRegister::kPsum:
            return expected_psum(edge, r, c);
        case PeRegister::kSwap:
            if (!has_tags) return std::nullopt;
            return std::ranges::any_of(swap_tags_, [&](Cycle at) { return at + delay == edge; });
        case PeRegister::kLoad:
            if (!has_tags) return std::nullopt;
            return std::ranges::any_of(load_tags_, [&](const Beat& beat) {
                return beat.edge + r + right == edge && beat.row >= r;
            });
    }
    return std::nullopt;
}

std::optional<PeMismatch> PeOracle::compare(PeRegister which, uint32_t r, uint32_t c, Cycle edge,
                                            uint32_t expected, const PeTable& table) const {
    if (table.pes.empty()) return std::nullopt;
    const TandemPeRegisters& pe = table.pes[index(r, c)];
    const void* place = nullptr;
    uint32_t bytes = table.element_bytes;
    switch (which) {
        case PeRegister::kActivation:
            place = pe.activation;
            break;
        case PeRegister::kWeight:
            place = pe.weight;
            break;
        case PeRegister::kShadow:
            place = pe.shadow;
            break;
        case PeRegister::kPsum:
            place = pe.psum, bytes = table.psum_bytes;
            break;
        case PeRegister::kSwap:
            place = pe.swap, bytes = table.tag_bytes;
            break;
        case PeRegister::kLoad:
            place = pe.load, bytes = table.tag_bytes;
            break;
    }
    if (place == nullptr) return std::nullopt;
    const uint32_t bits = bits_of(which, shape_.dtype);
    const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    const uint32_t actual = container(place, bytes) & mask;
    if (actual == (expected & mask)) [[likely]]
        return std::nullopt;
    const auto shown = [&](uint32_t value) -> int64_t {
        if (shape_.dtype == arch::Dtype::kBf16 || bits == 1) return value;
        return bits == 8 ? int64_t{static_cast<int8_t>(value)} : static_cast<int32_t>(value);
    };
    return PeMismatch{which, r, c, edge, shown(expected & mask), shown(actual)};
}

std::optional<PeMismatch> PeOracle::check_row(Row& row, Cycle edge, const PeTable& table) {
    std::optional<PeMismatch> found;
    const uint32_t k = shape_.pipeline;
    const Cycle age = edge - row.edge;
    // The bands of rows that activations reach now, and whose sums are complete now.
    const auto first_row = [&](uint32_t c, Cycle delay) -> uint32_t {
        const Cycle passed = delay + shape_.col_delay(c);
        if (age < passed || (age - passed) * k >= shape_.rows) return shape_.rows;
        return static_cast<uint32_t>(age - passed) * k;
    };
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        const uint32_t arrived = first_row(c, 0);
        if (arrived < shape_.rows && c % k == 0)
            for (uint32_t r = arrived; r <= band_end(arrived) && !found; ++r)
                found = compare(PeRegister::kActivation, r, c, edge,
                                static_cast<uint32_t>(row.data[r]), table);
        const uint32_t summed = row.tile == nullptr ? shape_.rows : first_row(c, 1);
        if (summed == shape_.rows) continue;
        const uint32_t last = band_end(summed);
        row.partial[c] = add_rows(row, c, summed, last);
        if (!found) found = compare(PeRegister::kPsum, last, c, edge, row.partial[c], table);
    }
    return found;
}

std::optional<PeMismatch> PeOracle::check_tags(Cycle edge, const PeTable& table) const {
    const size_t depth = size_t{shape_.rows} + shape_.cols + 1;
    std::vector<uint8_t> swapped(depth, 0);  // by the edges since then
    std::vector<uint32_t> loaded(depth, 0);  // 1 + tile row of the beat
    for (const Cycle at : swap_tags_)
        if (edge - at < depth) swapped[edge - at] = 1;
    for (const Beat& beat : load_tags_)
        if (edge - beat.edge < depth) loaded[edge - beat.edge] = beat.row + 1;
    for (uint32_t r = 0; r < shape_.rows; ++r)
        for (uint32_t c = 0; c < shape_.cols; c += shape_.pipeline) {
            const Cycle right = shape_.col_delay(c);
            auto found =
                compare(PeRegister::kSwap, r, c, edge, swapped[shape_.row_delay(r) + right], table);
            if (!found)
                found = compare(PeRegister::kLoad, r, c, edge, loaded[r + right] > r, table);
            if (found) return found;
        }
    return std::nullopt;
}

std::optional<PeMismatch> PeOracle::check_planes(Cycle edge, const PeTable& table) const {
    for (uint32_t r = 0; r < shape_.rows; ++r)
        for (uint32_t c = 0; c < shape_.cols; ++c) {
            std::optional<PeMismatch> found;
            if (const auto weight = expected_weight(edge, r, c))
                found =
                    compare(PeRegister::kWeight, r, c, edge, static_cast<uint32_t>(*weight), table);
            if (found) return found;
            if (const auto shadow = expected_shadow(edge, r, c))
                found =
                    compare(PeRegister::kShadow, r, c, edge, static_cast<uint32_t>(*shadow), table);
            if (found) return found;
        }
    return std::nullopt;
}

std::optional<PeOracle::Element> PeOracle::expected_weight(Cycle edge, uint32_t r,
                                                           uint32_t c) const {
    const Cycle delay = shape_.row_delay(r) + shape_.col_delay(c);
    for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap)
        if (swap->edge + delay <= edge) return swap->tile->data[index(r, c)];
    return std::nullopt;
}

// The last weight row that came by: the smallest row number >= r of the newest tile that reached
// here. Rows with greater numbers came earlier.
std::optional<PeOracle::Element> PeOracle::expected_shadow(Cycle edge, uint32_t r,
                                                           uint32_t c) const {
    const Cycle delay = r + shape_.col_delay(c);
    for (auto tile = tiles_.rbegin(); tile != tiles_.rend(); ++tile) {
        const auto& accepted = (*tile)->accepted;
        const auto here = std::partition_point(accepted.begin() + r, accepted.end(), [&](Cycle at) {
            return at == kNever || at + delay > edge;
        });
        if (here != accepted.end())
            return (*tile)->data[index(static_cast<uint32_t>(here - accepted.begin()), c)];
    }
    return std::nullopt;
}

}  // namespace tandem::cosim
