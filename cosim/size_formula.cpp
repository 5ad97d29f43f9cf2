// SPDX-License-Identifier: Apache-2.0
#include "cosim/size_formula.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string_view>

namespace tandem::cosim {
namespace {

constexpr int64_t kLargest = 1'000'000'000;
constexpr int kDeepest = 20;

/// Reads a formula and works it out on the way.
class Reader {
  public:
    Reader(std::string_view text, const engine::MxuShape& shape) : text_(text), shape_(shape) {}

    int64_t all() {
        const int64_t result = sum();
        if (!at_end()) fail("+, -, * or the end");
        return result;
    }
    bool defined() const { return defined_; }

  private:
    [[noreturn]] void fail(const std::string& expected) {
        const size_t at = std::min(at_, text_.size());
        const std::string_view rest = text_.substr(at, word_length(at));
        throw SizeFormula::Mistake{at + 1, expected,
                                   rest.empty() ? "the end" : '"' + std::string(rest) + '"'};
    }
    /// Of a name or number, or of what stands there.
    size_t word_length(size_t at) const {
        size_t length = 0;
        while (at + length < text_.size() &&
               std::isalnum(static_cast<unsigned char>(text_[at + length])) != 0)
            ++length;
        return std::max<size_t>(length, 1);
    }
    bool at_end() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ == text_.size();
    }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void need(char c) {
        if (!take(c)) fail(std::string(1, c));
    }

    int64_t checked(int64_t value) {
        if (value >= -kLargest && value <= kLargest) return value;
        defined_ = false;
        return 1;
    }

    int64_t sum() {
        int64_t result = term();
        for (;;) {
            if (take('+'))
                result = checked(result + term());
            else if (take('-'))
                result = checked(result - term());
            else
                return result;
        }
    }
    int64_t term() {
        int64_t result = factor();
        while (take('*')) result = checked(result * factor());
        return result;
    }
    int64_t factor() {
        static const std::string expected =
            "a number, rows, cols, pipeline, ceil(a / b), floor(a / b), log2ceil(a), max(a, b), "
            "min(a, b) or (";
        if (depth_ == kDeepest) fail("at most 20 parentheses and signs inside each other");
        ++depth_;
        int64_t result = 0;
        if (take('-')) {
            result = -factor();
        } else if (take('(')) {
            result = sum();
            need(')');
        } else {
            if (at_end()) fail(expected);
            const size_t length = word_length(at_);
            const std::string_view word = text_.substr(at_, length);
            const auto known = named(word, length);
            if (!known) fail(expected);
            result = *known;
        }
        --depth_;
        return result;
    }
    std::optional<int64_t> named(std::string_view word, size_t length) {
        if (std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; })) {
            if (length > 9) fail("a number of at most 9 digits");
            at_ += length;
            return std::stoll(std::string(word));
        }
        if (word == "rows" || word == "cols" || word == "pipeline") {
            at_ += length;
            return word == "rows" ? shape_.rows : word == "cols" ? shape_.cols : shape_.pipeline;
        }
        if (word != "ceil" && word != "floor" && word != "log2ceil" && word != "max" &&
            word != "min")
            return std::nullopt;
        at_ += length;
        need('(');
        const int64_t a = sum();
        int64_t result = 0;
        if (word == "log2ceil") {
            result = log2ceil(a);
        } else if (word == "max" || word == "min") {
            need(',');
            const int64_t b = sum();
            result = word == "max" ? std::max(a, b) : std::min(a, b);
        } else {
            need('/');
            result = quotient(a, sum(), word == "ceil");
        }
        need(')');
        return result;
    }

    int64_t log2ceil(int64_t value) {
        if (value >= 1) return std::bit_width(static_cast<uint64_t>(value - 1));
        defined_ = false;
        return 1;
    }
    int64_t quotient(int64_t a, int64_t b, bool up) {
        if (b == 0) {
            defined_ = false;
            return 1;
        }
        const int64_t down = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
        return down + (up && a % b != 0 ? 1 : 0);
    }

    const std::string_view text_;
    const engine::MxuShape& shape_;
    size_t at_ = 0;
    int depth_ = 0;
    bool defined_ = true;
};

}  // namespace

std::optional<SizeFormula::Mistake> SizeFormula::mistake() const {
    if (text_.size() > kLongest)
        return Mistake{1, "at most 200 characters", std::to_string(text_.size())};
    try {
        Reader(text_, {.rows = 1, .cols = 1, .accumulator_rows = 1}).all();
    } catch (const Mistake& mistake) {
        return mistake;
    }
    return std::nullopt;
}

std::optional<int64_t> SizeFormula::value(const engine::MxuShape& shape) const {
    Reader reader(text_, shape);
    const int64_t result = reader.all();
    if (!reader.defined()) return std::nullopt;
    return result;
}

}  // namespace tandem::cosim
