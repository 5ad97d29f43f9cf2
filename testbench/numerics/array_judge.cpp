// SPDX-License-Identifier: Apache-2.0
#include "testbench/numerics/array_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tandem::testbench {
namespace {

constexpr size_t kShownMismatches = 10;
constexpr uint16_t kOne = 0x3f80, kMinusOne = 0xbf80, kSignBit = 0x8000;
constexpr uint32_t kPieces = 3;  // bf16 that make up an fp32
constexpr uint32_t kRowsPerTile = 8;

uint16_t bf16_of(uint32_t bits) { return static_cast<uint16_t>(bits >> 16); }

/// Bits 7..0 of `value` times 2^exponent of fp32 (biased, of bit 7), as a bf16; what bf16 has no
/// exponent for is zero.
uint16_t piece(uint32_t sign, int exponent, uint32_t value) {
    if (value == 0) return 0;
    while ((value & 0x80) == 0) {
        value <<= 1;
        --exponent;
    }
    if (exponent < 1) return 0;
    return static_cast<uint16_t>(sign << 15 | static_cast<uint32_t>(exponent) << 7 |
                                 (value & 0x7f));
}

/// Their sum is the number, from the left exactly; zero, infinity and NaN are the first one.
std::array<uint16_t, kPieces> pieces_of(uint32_t bits) {
    const int exponent = static_cast<int>(bits >> 23 & 0xff);
    const uint32_t sign = bits >> 31, significand = (bits & 0x7fffff) | 0x800000;
    if (exponent == 0) return {bf16_of(bits), 0, 0};
    if (exponent == 255) {
        const bool nan = (bits & 0x7fffff) != 0;  // may stand in bits that bf16 has not
        return {static_cast<uint16_t>(bf16_of(bits) | (nan ? 0x40 : 0)), 0, 0};
    }
    return {piece(sign, exponent, significand >> 16),
            piece(sign, exponent - 8, significand >> 8 & 0xff),
            piece(sign, exponent - 16, significand & 0xff)};
}

}  // namespace

const char* name_of(Meeting meeting) {
    static constexpr const char* kNames[kMeetings] = {"product in a PE", "sum in a column",
                                                      "sum in an accumulator", "group of four",
                                                      "chain of a column"};
    return kNames[static_cast<size_t>(meeting)];
}

ArrayVerdict::Counts ArrayVerdict::all() const {
    Counts sum;
    for (const Counts& c : by_meeting) {
        sum.results += c.results;
        sum.mismatches += c.mismatches;
        sum.exact += c.exact;
        sum.rounded += c.rounded;
        sum.zero += c.zero;
        sum.infinite += c.infinite;
        sum.not_a_number += c.not_a_number;
    }
    return sum;
}

ArrayJudge::ArrayJudge(const engine::MxuShape& shape, std::shared_ptr<cosim::ArrayLibrary> library,
                       uint64_t seed)
    : shape_(shape),
      driver_(shape, std::move(library),
              [this](uint32_t address, std::span<const uint32_t> row) { judge(address, row); }),
      random_(seed * 0x9e3779b97f4a7c15 + 0x5bd1),
      products_(seed),
      sums_(seed),
      quads_(seed),
      accumulators_(shape.accumulator_rows),
      written_(shape.accumulator_rows) {}

ArrayVerdict ArrayJudge::run(uint64_t results) {
    try {
        judge_all(results);
    } catch (const ArrayFault& fault) {
        verdict_.stopped = fault.what();
    }
    verdict_.edges = driver_.edges();
    return verdict_;
}

void ArrayJudge::judge_all(uint64_t results) {
    while (verdict_.all().results < results) {
        products();
        columns();
        accumulators();
        groups();
        chains();
        driver_.drain();
        if (!rows_.empty())
            throw ArrayFault(fmt::format("{} accepted rows were not committed though busy_o is low",
                                         rows_.size()));
    }
}

// ---- operands ----------------------------------------------------------------------------------

/// One row of the tile alone, and one activation alone: nothing else is infinite or NaN.
void ArrayJudge::products() {
    const uint32_t row = random_.below(shape_.rows);
    Words tile = empty_tile(), activations;
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        const Bf16Pair pair = products_.make(products_.class_of(product_count_++));
        tile[size_t{row} * shape_.cols + c] = pair.b;
        activations.push_back(pair.a);
    }
    load(std::move(tile));
    for (uint32_t i = 0; i < std::min(kRowsPerTile, shape_.cols); ++i) {
        const uint16_t a =
            activations[shape_.cols <= kRowsPerTile ? i : random_.below(shape_.cols)];
        push(Meeting::kProduct, only(row, 1, a), any_address(), false);
    }
}

/// The pieces of one operand, and the other one, as far as 8 bits go, as the next product.
void ArrayJudge::columns() {
    const uint32_t pieces = std::min(kPieces, shape_.rows - 1);
    const uint32_t first = random_.below(shape_.rows - pieces);
    Words tile = empty_tile();
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        const Fp32Pair pair = sum_pair();
        const auto parts = pieces_of(pair.a);
        for (uint32_t i = 0; i < pieces; ++i) tile[size_t{first + i} * shape_.cols + c] = parts[i];
        tile[size_t{first + pieces} * shape_.cols + c] = pieces_of(pair.b)[0];
    }
    load(std::move(tile));
    for (uint32_t i = 0; i < kRowsPerTile; ++i) {
        Words activations = only(first, pieces + 1, i % 2 == 0 ? kOne : kMinusOne);
        // The last rows give the second operand other bits, or another sign.
        if (i == 2) activations[first + pieces] ^= kSignBit;
        if (i >= 3) activations[first + pieces] |= static_cast<uint16_t>(random_.bits(7));
        push(Meeting::kColumn, activations, any_address(), false);
    }
}

/// Both operands in full, as far as the column is long enough for the pieces of both.
void ArrayJudge::accumulators() {
    std::vector<std::array<uint16_t, 2 * kPieces>> parts;
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        const Fp32Pair pair = sum_pair();
        const auto a = pieces_of(pair.a), b = pieces_of(pair.b);
        parts.push_back({a[0], a[1], a[2], b[0], b[1], b[2]});
    }
    const uint32_t address = any_address();
    // Pieces that one activation row adds up: an operand, or in an array of few rows one of them.
    const uint32_t together = shape_.rows >= kPieces ? kPieces : 1;
    Words last;
    for (uint32_t at = 0; at < 2 * kPieces; at += together) {
        const uint32_t first = random_.below(shape_.rows - together + 1);
        Words tile = empty_tile();
        for (uint32_t i = 0; i < together; ++i)
            for (uint32_t c = 0; c < shape_.cols; ++c)
                tile[size_t{first + i} * shape_.cols + c] = parts[c][at + i];
        load(std::move(tile));
        last = only(first, together, kOne);
        push(Meeting::kAccumulator, last, address, at != 0);
    }
    // Once more the second operand, with either sign.
    const uint32_t again = random_.below(3);
    for (uint32_t i = 0; i < again; ++i) {
        push(Meeting::kAccumulator, last, address, true);
        for (uint16_t& a : last)
            if (a != 0) a ^= kSignBit;
    }
}

void ArrayJudge::groups() {
    const uint32_t count = std::min<uint32_t>(4, shape_.rows);
    const uint32_t first = random_.below((shape_.rows - count) / 4 + 1) * 4;
    Words tile = empty_tile();
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        const Fp32Group group = quads_.make(quads_.class_of(quad_count_++));
        for (uint32_t i = 0; i < count; ++i)
            tile[size_t{first + i} * shape_.cols + c] = pieces_of(group[i])[0];
    }
    load(std::move(tile));
    for (uint32_t i = 0; i < kRowsPerTile; ++i) {
        Words activations = only(first, count, kOne);
        for (uint32_t k = 0; k < count && i != 0; ++k) {  // 16 significant bits
            uint16_t& a = activations[first + k];
            a = static_cast<uint16_t>(a | random_.bits(7) | (i >= 4 ? random_.bits(1) << 15 : 0));
        }
        push(Meeting::kGroup, activations, any_address(), i % 4 == 3);
    }
}

/// Exponents of a few binades, so that every row counts; now and then anything.
void ArrayJudge::chains() {
    const auto ordinary = [this](int spread) {
        const int exponent = 127 + random_.between(-spread, spread);
        return static_cast<uint16_t>(random_.bits(1) << 15 | static_cast<uint32_t>(exponent) << 7 |
                                     random_.bits(7));
    };
    const int spread = random_.between(0, 12);
    const bool wild = random_.below(8) == 0;
    Words tile = empty_tile();
    for (uint16_t& w : tile) w = ordinary(spread);
    if (wild)
        tile[random_.below(static_cast<uint32_t>(tile.size()))] =
            static_cast<uint16_t>(random_.bits(16));
    load(std::move(tile));
    const uint32_t address = any_address();
    for (uint32_t i = 0; i < kRowsPerTile; ++i) {
        Words activations(shape_.rows);
        for (uint16_t& a : activations) a = random_.below(8) == 0 ? uint16_t{0} : ordinary(spread);
        push(Meeting::kChain, activations, address, i != 0);
    }
}

ArrayJudge::Words ArrayJudge::only(uint32_t first, uint32_t count, uint16_t value) const {
    Words activations(shape_.rows);
    std::fill_n(activations.begin() + first, count, value);
    return activations;
}

// ---- what the array has to make of them
// ----------------------------------------------------------

void ArrayJudge::load(Words tile) {
    driver_.load(tile);
    tile_ = std::make_shared<const Words>(std::move(tile));
    swap_ = true;
}

void ArrayJudge::push(Meeting meeting, const Words& activations, uint32_t address,
                      bool accumulate) {
    accumulate = accumulate && written_[address];
    written_[address] = true;
    rows_.push_back({meeting, address, accumulate, tile_, activations});
    driver_.push(activations, std::exchange(swap_, false), address, accumulate);
}

void ArrayJudge::judge(uint32_t address, std::span<const uint32_t> found) {
    if (rows_.empty()) throw ArrayFault("a commit without a row");
    const Row row = std::move(rows_.front());
    rows_.pop_front();
    if (address != row.address)
        throw ArrayFault(
            fmt::format("cmt_addr_o is {} for a row that goes to {}", address, row.address));
    ArrayVerdict::Counts& counts = verdict_.by_meeting[static_cast<size_t>(row.meeting)];
    Words weights(shape_.rows);
    for (uint32_t c = 0; c < shape_.cols; ++c) {
        for (uint32_t r = 0; r < shape_.rows; ++r)
            weights[r] = (*row.tile)[size_t{r} * shape_.cols + c];
        const uint32_t sum = oracle_.column_sum(row.activations, weights, shape_.sum4);
        bool rounded = oracle_.inexact();
        const uint32_t before = row.accumulate ? accumulators_[address][c] : 0;
        const uint32_t expected = oracle_.commit(before, sum, row.accumulate);
        rounded = rounded || (row.accumulate && oracle_.inexact());
        count(counts, expected, rounded);
        if (found[c] == expected) continue;
        ++counts.mismatches;
        if (verdict_.shown.size() < kShownMismatches)
            verdict_.shown.push_back(describe(row, c, found[c], expected));
    }
    accumulators_[address].assign(found.begin(), found.end());
}

void ArrayJudge::count(ArrayVerdict::Counts& counts, uint32_t expected, bool rounded) {
    ++counts.results;
    const uint32_t magnitude = expected & 0x7fffffff;
    uint64_t& kind = expected == MpfrOracle::kNan ? counts.not_a_number
                     : magnitude == 0x7f800000    ? counts.infinite
                     : magnitude == 0             ? counts.zero
                     : rounded                    ? counts.rounded
                                                  : counts.exact;
    ++kind;
}

std::string ArrayJudge::describe(const Row& row, uint32_t column, uint32_t found,
                                 uint32_t expected) const {
    std::string text =
        fmt::format("{}, column {}: {:08x}, expected {:08x}\n    = ", name_of(row.meeting), column,
                    found, expected);
    if (row.accumulate) text += fmt::format("{:08x} + ", accumulators_[row.address][column]);
    text += "activation x weight:";
    for (uint32_t r = 0; r < shape_.rows; ++r) {
        const uint16_t a = row.activations[r], w = (*row.tile)[size_t{r} * shape_.cols + column];
        if (a != 0 && w != 0) text += fmt::format("  row {} {:04x} x {:04x}", r, a, w);
    }
    return text;
}

}  // namespace tandem::testbench
