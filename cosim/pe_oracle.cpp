// SPDX-License-Identifier: Apache-2.0
#include "cosim/pe_oracle.h"

#include <algorithm>

namespace tandem::cosim {
namespace {

/// Element `index` of a register plane, sign-extended from its low `bits` bits.
int64_t element(const void* plane, size_t index, uint32_t bytes, uint32_t bits) {
    uint32_t raw = 0;
    const auto* at = static_cast<const uint8_t*>(plane) + index * bytes;
    for (uint32_t i = 0; i < bits / 8; ++i) raw |= uint32_t{at[i]} << (8 * i);
    return bits == 8 ? int64_t{static_cast<int8_t>(raw)} : int64_t{static_cast<int32_t>(raw)};
}

}  // namespace

PeOracle::PeOracle(mxu::MxuShape shape, const std::vector<int8_t>& active,
                   const std::vector<int8_t>& shadow)
    : shape_(shape) {
    // Tiles that are there at the start have been accepted long ago.
    if (!active.empty()) swaps_.push_back({0, new_tile(active)});
    if (!shadow.empty()) tiles_.push_back(new_tile(shadow));
}

std::shared_ptr<PeOracle::Tile> PeOracle::new_tile(const std::vector<int8_t>& data) const {
    auto tile = std::make_shared<Tile>();
    tile->data = data;
    tile->data.resize(size_t{shape_.rows} * shape_.cols);
    tile->accepted.assign(shape_.rows, data.empty() ? kNever : 0);
    return tile;
}

void PeOracle::weight_row(Cycle edge, uint32_t row, const int8_t* data) {
    if (!tile_open_) tiles_.push_back(new_tile({}));
    Tile& tile = *tiles_.back();
    std::copy_n(data, shape_.cols,
                tile.data.begin() + static_cast<ptrdiff_t>(size_t{row} * shape_.cols));
    tile.accepted[row] = edge;
    tile_open_ = row != 0;
}

void PeOracle::activation_row(Cycle edge, const int8_t* data, bool swap) {
    if (swap && !tiles_.empty()) swaps_.push_back({edge, tiles_.back()});
    const auto tile = swaps_.empty() ? nullptr : swaps_.back().tile;
    rows_.push_back({edge, {data, data + shape_.rows}, tile, std::vector<int32_t>(shape_.cols)});
}

std::optional<PeMismatch> PeOracle::check(Cycle edge, const TandemArrayState& state) {
    std::optional<PeMismatch> found;
    for (Row& row : rows_) {
        const auto mismatch = check_row(row, edge, state);
        if (!found) found = mismatch;
    }
    if (!found) found = check_planes(edge, state);
    const Cycle depth = Cycle{shape_.rows} + shape_.cols;
    while (!rows_.empty() && rows_.front().edge + depth <= edge) rows_.pop_front();
    while (swaps_.size() > 1 && swaps_[1].edge + depth <= edge) swaps_.pop_front();
    while (tiles_.size() > 1 && tiles_[1]->accepted[0] != kNever &&
           tiles_[1]->accepted[0] + depth <= edge)
        tiles_.pop_front();
    return found;
}

std::optional<int32_t> PeOracle::expected_psum(Cycle edge, uint32_t r, uint32_t c) const {
    for (const Row& row : rows_)
        if (row.tile != nullptr && row.edge + r + c + 1 == edge)
            return static_cast<int32_t>(
                static_cast<uint32_t>(row.partial[c]) +
                static_cast<uint32_t>(row.data[r] * row.tile->data[size_t{r} * shape_.cols + c]));
    return std::nullopt;
}

std::optional<PeMismatch> PeOracle::check_row(Row& row, Cycle edge, const TandemArrayState& state) {
    std::optional<PeMismatch> found;
    const Cycle age = edge - row.edge;
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        if (age >= c && age - c < shape_.rows) {
            const auto r = static_cast<uint32_t>(age - c);
            const int64_t actual =
                element(state.activation, index(r, c), state.activation_bytes, 8);
            if (!found && actual != row.data[r])
                found = {PeRegister::kActivation, r, c, edge, row.data[r], actual};
        }
        if (row.tile != nullptr && age >= c + 1 && age - c - 1 < shape_.rows) {
            const auto r = static_cast<uint32_t>(age - c - 1);
            const int32_t product = row.data[r] * row.tile->data[size_t{r} * shape_.cols + c];
            row.partial[c] = static_cast<int32_t>(static_cast<uint32_t>(row.partial[c]) +
                                                  static_cast<uint32_t>(product));
            const int64_t actual = element(state.psum, index(r, c), state.psum_bytes, 32);
            if (!found && actual != row.partial[c])
                found = {PeRegister::kPsum, r, c, edge, row.partial[c], actual};
        }
    }
    return found;
}

std::optional<PeMismatch> PeOracle::check_planes(Cycle edge, const TandemArrayState& state) {
    for (uint32_t r = 0; r < shape_.rows; ++r)
        for (uint32_t c = 0; c < shape_.cols; ++c) {
            const auto weight = expected_weight(edge, r, c);
            const int64_t actual = element(state.weight, index(r, c), state.weight_bytes, 8);
            if (weight && actual != *weight)
                return PeMismatch{PeRegister::kWeight, r, c, edge, *weight, actual};
            const auto shadow = expected_shadow(edge, r, c);
            const int64_t actual_shadow = element(state.shadow, index(r, c), state.weight_bytes, 8);
            if (shadow && actual_shadow != *shadow)
                return PeMismatch{PeRegister::kShadow, r, c, edge, *shadow, actual_shadow};
        }
    return std::nullopt;
}

std::optional<int8_t> PeOracle::expected_weight(Cycle edge, uint32_t r, uint32_t c) const {
    for (auto swap = swaps_.rbegin(); swap != swaps_.rend(); ++swap)
        if (swap->edge + r + c <= edge) return swap->tile->data[size_t{r} * shape_.cols + c];
    return std::nullopt;
}

// The last weight row that came by: the smallest row number >= r of the newest tile that reached
// here.
std::optional<int8_t> PeOracle::expected_shadow(Cycle edge, uint32_t r, uint32_t c) const {
    for (auto tile = tiles_.rbegin(); tile != tiles_.rend(); ++tile)
        for (uint32_t k = r; k < shape_.rows; ++k) {
            const Cycle accepted = (*tile)->accepted[k];
            if (accepted != kNever && accepted + r + c <= edge)
                return (*tile)->data[size_t{k} * shape_.cols + c];
        }
    return std::nullopt;
}

}  // namespace tandem::cosim
