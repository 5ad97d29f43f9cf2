// SPDX-License-Identifier: Apache-2.0
#include "cosim/hint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "cosim/mistakes.h"

namespace tandem::cosim {
namespace {

constexpr size_t kMostWrong = 64, kMostTold = 2;

/// A row whose value can be judged.
struct Judged {
    const WitnessedRow* row;
    PortRow right;
    std::vector<uint32_t> wrong;  ///< columns
};

/// The accumulator row before a commit: as the array showed it, as it should have been. What goes
/// wrong inside shows in one of them, whether the array keeps what it commits or not.
std::vector<const PortRow*> bases(const WitnessedRow& row) {
    if (row.base == row.expected_base) return {&row.base};
    return {&row.base, &row.expected_base};
}

std::vector<uint32_t> differences(const PortRow& a, const PortRow& b) {
    std::vector<uint32_t> columns;
    for (uint32_t c = 0; c < a.size(); ++c)
        if (a[c] != b[c]) columns.push_back(c);
    return columns;
}

class RowHints {
  public:
    explicit RowHints(const Witness& witness) : shape_(witness.shape()), arithmetic_(shape_) {
        for (const WitnessedRow& row : witness.rows()) judge(row);
    }

    std::string text() {
        if (wrong_.empty()) return {};
        std::vector<std::string> told = explained();
        if (told.empty()) told = seen();
        if (told.empty()) return column_text();
        return fmt::format("{}{}", columns_alone() ? column_text() + ", and comes out " : subject(),
                           fmt::join(told, "; or "));
    }

  private:
    void judge(const WitnessedRow& row) {
        if (row.sums.empty() || wrong_.size() == kMostWrong) return;
        Judged best{&row, {}, {}};
        for (const PortRow* base : bases(row)) {
            PortRow right = row.sums;
            if (row.at.accumulate) {
                right = *base;
                arithmetic_.add(right, row.sums);
            }
            if (right.empty()) continue;
            auto wrong = differences(right, row.data);
            if (best.right.empty() || wrong.size() < best.wrong.size())
                best = {&row, std::move(right), std::move(wrong)};
        }
        if (best.right.empty()) return;
        for (const uint32_t column : best.wrong)
            if (std::ranges::find(columns_, column) == columns_.end()) columns_.push_back(column);
        (best.wrong.empty() ? right_ : wrong_).push_back(std::move(best));
    }

    /// Some columns are always right, and few are wrong.
    bool columns_alone() const { return one_column() && wrong_.size() > 1; }
    bool one_column() const { return columns_.size() == 1 && shape_.cols > 1; }

    /// Nothing: cannot be said.
    std::optional<bool> explains(const Mistake& mistake, const Judged& judged) const {
        std::optional<bool> result;
        for (const PortRow* base : bases(*judged.row)) {
            const PortRow row = mistake.row(*judged.row, *base);
            if (row.empty()) continue;
            const bool same = columns_alone() ? row[columns_[0]] == judged.row->data[columns_[0]]
                                              : row == judged.row->data;
            if (same) return true;
            result = false;
        }
        return result;
    }

    bool explains_all(const Mistake& mistake) const {
        size_t explained = 0, unknown = 0;
        for (const Judged& judged : wrong_) {
            const auto same = explains(mistake, judged);
            if (!same.value_or(true)) return false;
            ++(same ? explained : unknown);
        }
        if (explained == 0 || explained < unknown) return false;
        if (!mistake.always) return true;
        return std::ranges::all_of(
            right_, [&](const Judged& judged) { return explains(mistake, judged).value_or(true); });
    }

    std::vector<std::string> explained() const {
        std::vector<std::string> told;
        if (!telling()) return told;
        bool always = false;
        for (const bool wanted : {true, false})
            for (const Mistake& mistake : mistakes(shape_)) {
                if (mistake.always != wanted || (always && !wanted)) continue;
                if (told.size() == kMostTold || !explains_all(mistake)) continue;
                always = always || mistake.always;
                told.push_back(mistake.text);
            }
        return told;
    }

    /// A few equal numbers can come about in many ways.
    bool telling() const {
        std::vector<int32_t> values;
        for (const Judged& judged : wrong_)
            for (const uint32_t column : judged.wrong) {
                const int32_t value = judged.row->data[column];
                if (value != 0 && std::ranges::find(values, value) == values.end())
                    values.push_back(value);
                if (values.size() > 1) return true;
            }
        return false;
    }

    template <class Predicate>
    bool all_wrong(const Predicate& predicate) const {
        return std::ranges::all_of(wrong_, [&](const Judged& judged) {
            return std::ranges::all_of(judged.wrong, [&](uint32_t column) {
                return predicate(static_cast<uint32_t>(judged.right[column]),
                                 static_cast<uint32_t>(judged.row->data[column]));
            });
        });
    }

    /// What all wrong numbers have in common.
    std::vector<std::string> seen() const {
        if (all_wrong([](uint32_t, uint32_t is) { return is == 0; }) && wrong_.size() > 1)
            return {"with zeros"};
        for (uint32_t bit = 0; bit < 32; ++bit)
            if (wrong_.size() > 3 &&
                all_wrong([&](uint32_t right, uint32_t is) { return (right ^ is) == 1u << bit; }))
                return {stuck_text(bit)};
        if (shape_.dtype == arch::Dtype::kInt8) {
            const auto is_end = [](uint32_t, uint32_t is) {
                return is == 0x7fffffff || is == 0x80000000;
            };
            if (all_wrong(is_end)) return {"saturated: sums wrap around modulo 2^32"};
            return {};
        }
        const auto nan = [](uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
        if (all_wrong([&](uint32_t right, uint32_t is) { return nan(right) && nan(is); }))
            return {"with another NaN than 0x7fc00000"};
        if (all_wrong([](uint32_t right, uint32_t is) { return ((right | is) << 1) == 0; }))
            return {"with a zero of the other sign"};
        if (all_wrong(
                [](uint32_t right, uint32_t is) { return right - is == 1 || is - right == 1; }))
            return {"with numbers of the next fp32: rounded otherwise"};
        return {};
    }
    std::string stuck_text(uint32_t bit) const {
        const auto is = [&](uint32_t value) {
            return all_wrong([&](uint32_t, uint32_t bits) { return (bits >> bit & 1) == value; });
        };
        return fmt::format("with bit {} {}", bit, is(0) ? "at 0" : is(1) ? "at 1" : "inverted");
    }

    std::string subject() const {
        if (wrong_.size() == 1) return "the wrong row comes out ";
        const size_t all = wrong_.size() + right_.size();
        if (right_.empty()) return fmt::format("all {} rows come out ", all);
        return fmt::format("the wrong rows ({} of {}) come out ", wrong_.size(), all);
    }
    std::string column_text() const {
        if (!one_column()) return {};
        return fmt::format("column {} of {} alone is wrong, in {} row{}", columns_[0], shape_.cols,
                           wrong_.size(), wrong_.size() == 1 ? "" : "s");
    }

    const engine::MxuShape shape_;
    ArrayArithmetic arithmetic_;
    std::vector<Judged> wrong_, right_;
    std::vector<uint32_t> columns_;  ///< wrong in some row
};

}  // namespace

std::string hint_of_rows(const Witness& witness) { return RowHints(witness).text(); }

std::string hint_of_reads(const Witness& witness) {
    std::vector<const WitnessedRead*> wrong;
    bool changed = false;
    size_t judged = 0;
    for (const WitnessedRead& read : witness.reads()) {
        if (read.expected.empty()) continue;
        ++judged;
        changed = changed || read.changed;
        if (read.data != read.expected) wrong.push_back(&read);
    }
    if (wrong.empty())
        return changed ? "a result changes while it waits for res_ready_i" : std::string();
    const auto all = [&](PortRow WitnessedRead::*other) {
        return std::ranges::all_of(wrong, [&](const WitnessedRead* read) {
            return !(read->*other).empty() && read->data == read->*other;
        });
    };
    const std::string subject =
        wrong.size() == 1 ? "the wrong read gives "
                          : fmt::format("the wrong reads ({} of {}) give ", wrong.size(), judged);
    if (all(&WitnessedRead::stale))
        return subject + "the row as it stood before it was committed last";
    if (all(&WitnessedRead::data_before)) return subject + "the row of the read before";
    if (all(&WitnessedRead::below)) return subject + "the accumulator row one below";
    if (all(&WitnessedRead::above)) return subject + "the accumulator row one above";
    return {};
}

namespace {

std::string off_text(int64_t off) {
    const auto edges = static_cast<uint64_t>(off < 0 ? -off : off);
    return fmt::format("{} edge{} {}", edges, edges == 1 ? "" : "s", off < 0 ? "early" : "late");
}

}  // namespace

std::string difference_of_times(const Witness& witness, uint64_t declared) {
    if (!witness.wrong_handshake().empty()) return witness.wrong_handshake();
    const auto off = [&](const WitnessedRow& row) {
        return static_cast<int64_t>(row.committed - row.accepted) - static_cast<int64_t>(declared);
    };
    const auto& rows = witness.rows();
    const auto late = std::ranges::find_if(rows, [&](const auto& row) { return off(row) != 0; });
    if (late != rows.end()) {
        const bool all =
            std::ranges::all_of(rows, [&](const auto& row) { return off(row) == off(*late); });
        if (all && rows.size() > 1)
            return fmt::format(
                "all {} rows so far commit {}: declared {}, measured {}; is the declaration right?",
                rows.size(), off_text(off(*late)), declared, late->committed - late->accepted);
        return fmt::format(
            "the row accepted at edge {} (address {}) commits {}: at edge {}, not {}",
            late->accepted, late->at.address, off_text(off(*late)), late->committed,
            late->accepted + declared);
    }
    const auto moved =
        std::ranges::find_if(rows, [](const auto& row) { return row.address != row.at.address; });
    if (moved != rows.end())
        return fmt::format("the row accepted at edge {} commits at edge {} to address {}, not {}",
                           moved->accepted, moved->committed, moved->address, moved->at.address);
    if (!witness.commits_without_row().empty())
        return fmt::format("a commit at edge {} without an activation row",
                           witness.commits_without_row().front());
    const auto& flights = witness.in_flight();
    if (!flights.empty() && witness.edge() > flights.front().accepted + declared)
        return fmt::format(
            "the row accepted at edge {} (address {}) is not committed: expected at edge {}, "
            "nothing until edge {}",
            flights.front().accepted, flights.front().at.address,
            flights.front().accepted + declared, witness.edge());
    return {};
}

}  // namespace tandem::cosim
