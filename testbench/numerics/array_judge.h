// SPDX-License-Identifier: Apache-2.0
// Every sum that a bf16 array commits, by MPFR: seeded operands go in through its ports, laid out
// so that the hard cases of product and sum (testbench/numerics/operands.h) meet in its PEs, in its
// columns and in its accumulators. The model takes no part in it.
//
// An operand of a column is a product of bf16, so fp32 operands are put together from three bf16 of
// 8 bits each; below 2^-102 the last of these are flushed, which the oracle sees as the array does.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cosim/array_library.h"
#include "engine/mxu_engine.h"
#include "testbench/numerics/array_driver.h"
#include "testbench/numerics/mpfr_oracle.h"
#include "testbench/numerics/operands.h"

namespace tandem::testbench {

/// Where the operands of a case meet.
enum class Meeting : uint8_t {
    kProduct,      ///< in one PE: a product alone
    kColumn,       ///< in a column: a partial sum and a product
    kAccumulator,  ///< in an accumulator row: what stands there and a column's sum
    kGroup,        ///< four products of a group (or, without --sum4, one after another)
    kChain,        ///< a whole column of operands, row by row
};
inline constexpr std::size_t kMeetings = 5;
const char* name_of(Meeting meeting);

struct ArrayVerdict {
    struct Counts {
        uint64_t results = 0, mismatches = 0;
        /// By the oracle; rounded: in one of its additions.
        uint64_t exact = 0, rounded = 0, zero = 0, infinite = 0, not_a_number = 0;
    };
    Counts by_meeting[kMeetings];
    std::vector<std::string> shown;  ///< the first mismatches, in words
    std::string stopped;             ///< why it ended early; empty: it did not
    uint64_t edges = 0;

    Counts all() const;
};

class ArrayJudge {
  public:
    ArrayJudge(const engine::MxuShape& shape, std::shared_ptr<cosim::ArrayLibrary> library,
               uint64_t seed);

    /// At least so many results, unless the array does not take its work or does not commit it.
    ArrayVerdict run(uint64_t results);

  private:
    using Words = std::vector<uint16_t>;
    /// A row on its way to its commit.
    struct Row {
        Meeting meeting;
        uint32_t address;
        bool accumulate;
        std::shared_ptr<const Words> tile;
        Words activations;
    };

    void judge_all(uint64_t results);
    void products();
    void columns();
    void accumulators();
    void groups();
    void chains();

    void load(Words tile);
    void push(Meeting meeting, const Words& activations, uint32_t address, bool accumulate);
    void judge(uint32_t address, std::span<const uint32_t> found);
    static void count(ArrayVerdict::Counts& counts, uint32_t expected, bool rounded);
    std::string describe(const Row& row, uint32_t column, uint32_t found, uint32_t expected) const;

    Words empty_tile() const { return Words(size_t{shape_.rows} * shape_.cols); }
    Words only(uint32_t first, uint32_t count, uint16_t value) const;
    uint32_t any_address() { return random_.below(shape_.accumulator_rows); }
    Fp32Pair sum_pair() { return sums_.make(sums_.class_of(sum_count_++)); }

    const engine::MxuShape shape_;
    ArrayDriver driver_;
    MpfrOracle oracle_;
    SplitMix random_;
    ProductOperands products_;
    SumOperands sums_;
    Sum4Operands quads_;
    uint64_t product_count_ = 0, sum_count_ = 0, quad_count_ = 0;
    std::shared_ptr<const Words> tile_;
    bool swap_ = false;  ///< with the next row
    /// As the array has shown them: every sum is judged by itself, also behind a wrong one. Empty:
    /// not written.
    std::vector<std::vector<uint32_t>> accumulators_;
    std::vector<bool> written_;  ///< by all rows that were pushed
    std::deque<Row> rows_;
    ArrayVerdict verdict_;
};

}  // namespace tandem::testbench
