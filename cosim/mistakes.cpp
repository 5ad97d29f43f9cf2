// SPDX-License-Identifier: Apache-2.0
#include "cosim/mistakes.h"

#include <fmt/format.h>

#include <cstring>

#include "cosim/other_arithmetic.h"

namespace tandem::cosim {
namespace {

using Bytes = std::vector<std::byte>;

/// The model's arithmetic.
struct Right {
    engine::MxuShape shape;
    std::shared_ptr<ArrayArithmetic> arithmetic;

    /// What is committed, if these are the column sums.
    PortRow finish(const WitnessedRow& row, const PortRow& base, const PortRow& sums) const {
        if (!row.at.accumulate) return sums;
        PortRow result = base;
        arithmetic->add(result, sums);
        return result;
    }
    /// The data as committed, if what stood there at the other edge is right.
    PortRow at_another_edge(const WitnessedRow& row, const PortRow& base,
                            const PortRow& other) const {
        const PortRow right = finish(row, base, row.sums);
        return !right.empty() && other == right ? row.data : PortRow();
    }
};

class Mistakes {
  public:
    explicit Mistakes(const engine::MxuShape& shape)
        : shape_(shape), by_{shape, std::make_shared<ArrayArithmetic>(shape)} {}

    std::vector<Mistake> list() {
        wiring();
        tiles();
        operands();
        accumulators();
        rows_before_and_after();
        if (shape_.dtype == arch::Dtype::kInt8)
            integers();
        else
            floats();
        single_rows();
        return std::move(all_);
    }

  private:
    /// Which weight stands in PE(r, c): element (row, column) of the tile.
    using Place = std::function<std::pair<uint32_t, uint32_t>(uint32_t r, uint32_t c)>;
    using Change = std::function<Bytes(const WitnessedRow&)>;  ///< empty: not known

    void add(std::string text, bool always,
             std::function<PortRow(const WitnessedRow&, const PortRow&)> row) {
        all_.push_back({std::move(text), always, std::move(row)});
    }

    void add_weights(std::string text, bool always, Change weights) {
        add(std::move(text), always,
            [by = by_, weights = std::move(weights)](const WitnessedRow& row, const PortRow& base) {
                const Bytes tile = weights(row);
                if (tile.empty()) return PortRow();
                return by.finish(row, base, by.arithmetic->sums(row.at.activations, tile));
            });
    }
    void add_activations(std::string text, bool always, Change activations) {
        add(std::move(text), always,
            [by = by_, activations = std::move(activations)](const WitnessedRow& row,
                                                             const PortRow& base) {
                const Bytes elements = activations(row);
                if (elements.empty() || row.tile == nullptr) return PortRow();
                return by.finish(row, base, by.arithmetic->sums(elements, row.tile->data));
            });
    }
    /// Weights at other places, always.
    void add_places(std::string text, const Place& place) {
        add_weights(std::move(text), true, [shape = shape_, place](const WitnessedRow& row) {
            const size_t width = shape.element_bytes();
            Bytes tile(shape.tile_bytes());
            for (uint32_t r = 0; r < shape.rows; ++r)
                for (uint32_t c = 0; c < shape.cols; ++c) {
                    const auto [from_r, from_c] = place(r, c);
                    std::memcpy(&tile[(size_t{r} * shape.cols + c) * width],
                                &row.tile->data[(size_t{from_r} * shape.cols + from_c) * width],
                                width);
                }
            return tile;
        });
    }

    void wiring() {
        const uint32_t rows = shape_.rows, cols = shape_.cols;
        add_places(
            "with the columns mirrored: column c has the sum of the column as far from the other "
            "side",
            [cols](uint32_t r, uint32_t c) { return std::pair(r, cols - 1 - c); });
        add_places(
            "with the weights upside down: the beats of a tile (row Rows-1 comes first), or the "
            "activations, were taken in reverse",
            [rows](uint32_t r, uint32_t c) { return std::pair(rows - 1 - r, c); });
        add_places(
            "with the weights upside down and the columns mirrored",
            [rows, cols](uint32_t r, uint32_t c) { return std::pair(rows - 1 - r, cols - 1 - c); });
        if (rows == cols)
            add_places("with the weights transposed",
                       [](uint32_t r, uint32_t c) { return std::pair(c, r); });
        add_places("with the columns moved by one: column c has the sum of column c+1",
                   [cols](uint32_t r, uint32_t c) { return std::pair(r, (c + 1) % cols); });
        add_places("with the columns moved by one: column c has the sum of column c-1",
                   [cols](uint32_t r, uint32_t c) { return std::pair(r, (c + cols - 1) % cols); });
        add_places("with the tile moved by one row: PE row r has the weights of row r+1",
                   [rows](uint32_t r, uint32_t c) { return std::pair((r + 1) % rows, c); });
        add_places("with the tile moved by one row: PE row r has the weights of row r-1",
                   [rows](uint32_t r, uint32_t c) { return std::pair((r + rows - 1) % rows, c); });
        add("with the bytes of each sum in reverse", true,
            [by = by_](const WitnessedRow& row, const PortRow& base) {
                PortRow result = by.finish(row, base, row.sums);
                for (int32_t& sum : result)
                    sum = static_cast<int32_t>(__builtin_bswap32(static_cast<uint32_t>(sum)));
                return result;
            });
    }

    void tiles() {
        add_weights("with the tile before: the swap came too late, or not at all", false,
                    [](const WitnessedRow& row) {
                        return row.tile_before == nullptr ? Bytes() : row.tile_before->data;
                    });
        add_weights("with the next tile: the swap came too early", false,
                    [](const WitnessedRow& row) {
                        return row.tile->next == nullptr ? Bytes() : row.tile->next->data;
                    });
        add_weights("with weights that stood at the port one edge before their beats", true,
                    [](const WitnessedRow& row) { return row.tile->early; });
        add_weights("with weights that stood at the port one edge after their beats", true,
                    [](const WitnessedRow& row) { return row.tile->late; });
        add_weights("with weights that stood at the port one edge before their beats", false,
                    [](const WitnessedRow& row) { return row.tile->early; });
        add_weights("with weights that stood at the port one edge after their beats", false,
                    [](const WitnessedRow& row) { return row.tile->late; });
    }

    void operands() {
        for (const bool always : {true, false}) {
            add_activations("with the activations of the row before: an operand too old", always,
                            [](const WitnessedRow& row) { return row.row_before; });
            add_activations(
                "with activations that stood at the port one edge before: taken too early", always,
                [](const WitnessedRow& row) { return row.early.activations; });
            add_activations(
                "with activations that stood at the port one edge after: taken too late", always,
                [](const WitnessedRow& row) { return row.late.activations; });
        }
    }

    void accumulators() {
        const auto sum_with = [by = by_](const WitnessedRow& row, const PortRow& base) {
            PortRow result = base;
            by.arithmetic->add(result, row.sums);
            return result;
        };
        for (const bool always : {true, false}) {
            add("added to the accumulator row, which it should replace", always,
                [sum_with, by = by_](const WitnessedRow& row, const PortRow& base) {
                    if (row.at.accumulate) return by.finish(row, base, row.sums);
                    return sum_with(row, base);
                });
            add("in place of the accumulator row, to which it should be added", always,
                [](const WitnessedRow& row, const PortRow&) { return row.sums; });
        }
        add("with act_accumulate_i the other way round", true,
            [sum_with](const WitnessedRow& row, const PortRow& base) {
                return row.at.accumulate ? row.sums : sum_with(row, base);
            });
        add("added to the accumulator row as it stood before the last commit to it", false,
            [sum_with](const WitnessedRow& row, const PortRow&) {
                return row.at.accumulate ? sum_with(row, row.base_before) : PortRow();
            });
        add("added to the accumulator row of the address one edge before", false,
            [sum_with](const WitnessedRow& row, const PortRow&) {
                const bool known = row.at.accumulate && !row.early.activations.empty();
                return known ? sum_with(row, row.base_of_early) : PortRow();
            });
        add("added to the accumulator row of the address one edge after", false,
            [sum_with](const WitnessedRow& row, const PortRow&) {
                const bool known = row.at.accumulate && !row.late.activations.empty();
                return known ? sum_with(row, row.base_of_late) : PortRow();
            });
        add("as the accumulator row was: nothing was added", false,
            [](const WitnessedRow& row, const PortRow& base) {
                return row.at.accumulate ? base : PortRow();
            });
        add("with its sum added twice", false,
            [sum_with](const WitnessedRow& row, const PortRow& base) {
                return row.at.accumulate ? sum_with(row, sum_with(row, base))
                                         : sum_with(row, row.sums);
            });
    }

    void rows_before_and_after() {
        for (const bool always : {true, false}) {
            add("as the row that was committed before it: stale, or off by one row", always,
                [](const WitnessedRow& row, const PortRow&) { return row.data_before; });
        }
        add("an edge early: cmt_data_o was right one edge before cmt_valid_o", false,
            [by = by_](const WitnessedRow& row, const PortRow& base) {
                return by.at_another_edge(row, base, row.data_early);
            });
        add("an edge late: cmt_data_o is right one edge after cmt_valid_o", false,
            [by = by_](const WitnessedRow& row, const PortRow& base) {
                return by.at_another_edge(row, base, row.data_late);
            });
    }
    void integers() {
        const auto rules = [this](std::string text, Int8Rules how) {
            add(std::move(text), true,
                [by = by_, how](const WitnessedRow& row, const PortRow& base) {
                    return by.finish(
                        row, base,
                        other_int8_sums(how, row.at.activations, row.tile->data, by.shape.cols));
                });
        };
        rules("with activations taken as unsigned", {.unsigned_activations = true});
        rules("with weights taken as unsigned", {.unsigned_weights = true});
        rules("with activations and weights taken as unsigned",
              {.unsigned_activations = true, .unsigned_weights = true});
        for (uint32_t bits = 15; bits >= 8; --bits)
            rules(fmt::format("with products of {} bits", bits), {.product_bits = bits});
        for (uint32_t bits = 31; bits >= 8; --bits) {
            each_sum(fmt::format("with sums cut to {} bits", bits),
                     [bits](int64_t sum) { return cut(sum, bits); });
            each_sum(fmt::format("with sums cut to {} bits, without their sign", bits),
                     [bits](int64_t sum) { return cut(sum, bits, false); });
        }
        for (uint32_t bits = 32; bits >= 8; bits -= 4)
            each_sum(fmt::format("with sums that saturate at {} bits, where they should wrap at 32",
                                 bits),
                     [bits](int64_t sum) { return saturate(sum, bits); });
    }
    /// The column sum, and the accumulator after it; or the column sum alone.
    void each_sum(const std::string& text, const std::function<int32_t(int64_t)>& change) {
        for (const bool accumulator : {true, false})
            add(text + (accumulator ? "" : " before they are accumulated"), true,
                [change, accumulator](const WitnessedRow& row, const PortRow& base) {
                    if (row.at.accumulate && base.empty()) return PortRow();
                    PortRow result = row.sums;
                    for (size_t c = 0; c < result.size(); ++c) {
                        const int32_t sum = accumulator ? result[c] : change(result[c]);
                        const int64_t total =
                            row.at.accumulate ? int64_t{base[c]} + sum : int64_t{sum};
                        result[c] = accumulator ? change(total) : cut(total, 32);
                    }
                    return result;
                });
    }

    void floats() {
        const auto rules = [this](std::string text, Bf16Rules how) {
            if (shape_.sum4 && how.order == SumOrder::kDown) how.order = SumOrder::kFours;
            add(std::move(text), true,
                [by = by_, how](const WitnessedRow& row, const PortRow& base) {
                    PortRow sums =
                        other_bf16_sums(how, row.at.activations, row.tile->data, by.shape.cols);
                    if (!row.at.accumulate) return sums;
                    if (base.empty()) return PortRow();
                    for (size_t c = 0; c < sums.size(); ++c)
                        sums[c] = other_bf16_sum(how, base[c], sums[c]);
                    return sums;
                });
        };
        rules("with sums truncated, not rounded to nearest", {.rounding = Rounding::kToZero});
        rules("with ties rounded away from zero, not to even",
              {.rounding = Rounding::kNearestAway});
        rules("with subnormals kept, which should be zero", {.keep_tiny = true});
        rules("with products rounded to bf16", {.products_bf16 = true});
        rules("with column sums that are rounded once, at their end", {.wide = true});
        rules("with column sums formed from the last row upwards, not from row 0 down",
              {.order = SumOrder::kUp});
        rules("with column sums formed in a tree, not from row 0 down",
              {.order = SumOrder::kTree, .starts_with_product = true});
        if (!shape_.sum4)
            rules("with column sums formed in groups of four (Sum4)", {.order = SumOrder::kFours});
        else
            add("with column sums formed product by product (without Sum4)", true,
                [by = by_](const WitnessedRow& row, const PortRow& base) {
                    return by.finish(
                        row, base,
                        other_bf16_sums({}, row.at.activations, row.tile->data, by.shape.cols));
                });
        rules(
            "with column sums that begin with the first product, not with +0: a sum of zeros keeps "
            "its sign",
            {.starts_with_product = true});
    }

    /// One PE row, wherever the columns are the same.
    void single_rows() {
        const size_t width = shape_.element_bytes();
        for (uint32_t r = 0; r < shape_.rows && shape_.rows > 1; ++r) {
            const auto lane = [r, width](Bytes elements, const Bytes& from) {
                if (from.empty()) return Bytes();
                std::memcpy(&elements[r * width], &from[r * width], width);
                return elements;
            };
            for (const bool always : {true, false}) {
                add_activations(fmt::format("without the products of PE row {}", r), always,
                                [lane](const WitnessedRow& row) {
                                    return lane(row.at.activations,
                                                Bytes(row.at.activations.size()));
                                });
                add_activations(
                    fmt::format("with an old activation in PE row {}: that of the row before", r),
                    always, [lane](const WitnessedRow& row) {
                        return lane(row.at.activations, row.row_before);
                    });
            }
            add_weights(fmt::format("with the weights of the tile before in PE row {}", r), false,
                        [r, bytes = shape_.beat_bytes()](const WitnessedRow& row) {
                            if (row.tile_before == nullptr) return Bytes();
                            Bytes tile = row.tile->data;
                            std::memcpy(&tile[r * bytes], &row.tile_before->data[r * bytes], bytes);
                            return tile;
                        });
        }
    }

    const engine::MxuShape shape_;
    const Right by_;
    std::vector<Mistake> all_;
};

}  // namespace

std::vector<Mistake> mistakes(const engine::MxuShape& shape) { return Mistakes(shape).list(); }

}  // namespace tandem::cosim
