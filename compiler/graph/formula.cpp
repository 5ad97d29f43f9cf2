// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "compiler/graph/formula_functions.h"

namespace tandem::compiler {
namespace {

constexpr size_t kMostText = 16384, kMostTerms = 512, kMostDepth = 64;

[[noreturn]] void fail(const std::string& expected, const std::string& found) {
    throw std::invalid_argument("expected " + expected + ", found " + found);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A term, or a number whose type is still open.
struct Part {
    uint32_t term = 0;
    bool is_open = false;
    double number = 0;
};

class Parser {
  public:
    using Arguments = std::vector<Part>;

    Parser(std::span<const bool> floats, Formula& formula) : floats_(floats), formula_(formula) {}

    /// `arguments`: of a derived function's body, by the letters x, y, z; else operands a, b, c.
    Part parse(std::string_view text, const Arguments* arguments) {
        if (++depth_ > kMostDepth) fail("at most 64 functions within each other", "more");
        const auto outer_text = std::exchange(rest_, text);
        const auto* const outer = std::exchange(arguments_, arguments);
        const Part result = comparison();
        skip();
        if (!rest_.empty()) fail("the end of the formula", "'" + std::string(rest_) + "'");
        rest_ = outer_text, arguments_ = outer;
        --depth_;
        return result;
    }

    /// As a term; a number alone is an int32 if it is whole.
    uint32_t closed(const Part& part) {
        return part.is_open ? number(part.number, false) : part.term;
    }

  private:
    void skip() {
        while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    }
    bool take(std::string_view sign) {
        skip();
        if (!rest_.starts_with(sign)) return false;
        rest_.remove_prefix(sign.size());
        return true;
    }
    void need(std::string_view sign) {
        if (!take(sign))
            fail("'" + std::string(sign) + "'",
                 rest_.empty() ? "the end" : "'" + std::string(rest_) + "'");
    }

    Part comparison() {
        const Part left = sum();
        if (take("==")) return call("equal", {left, sum()});
        if (take("<")) return call("less", {left, sum()});
        return left;
    }
    Part sum() {
        Part left = product();
        for (;;) {
            if (take("+"))
                left = call("add", {left, product()});
            else if (take("-"))
                left = call("subtract", {left, product()});
            else
                return left;
        }
    }
    Part product() {
        Part left = factor();
        for (;;) {
            if (take("*"))
                left = call("multiply", {left, factor()});
            else if (take("/"))
                left = call("divide", {left, factor()});
            else
                return left;
        }
    }
    Part factor() {
        // A formula of nothing but signs and brackets.
        if (++depth_ > kMostDepth) fail("at most 64 expressions within each other", "more");
        const Part result = unary();
        --depth_;
        return result;
    }
    Part unary() {
        if (take("-")) {
            const Part part = factor();
            if (part.is_open) return {0, true, -part.number};
            return formula_.terms[part.term].is_float ? call("multiply", {part, {0, true, -1}})
                                                      : call("subtract", {{0, true, 0}, part});
        }
        if (take("(")) {
            const Part part = comparison();
            need(")");
            return part;
        }
        skip();
        if (!rest_.empty() && (is_digit(rest_.front()) || rest_.front() == '.')) return literal();
        return word();
    }

    Part literal() {
        double value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) fail("a number", "'" + std::string(rest_) + "'");
        const std::string_view text = rest_.substr(0, static_cast<size_t>(end - rest_.data()));
        rest_.remove_prefix(text.size());
        const bool is_real = text.find_first_of(".e") != std::string_view::npos;
        return is_real ? Part{number(value, true), false, 0} : Part{0, true, value};
    }

    Part word() {
        size_t length = 0;
        while (length < rest_.size() &&
               (is_letter(rest_[length]) || (length != 0 && is_digit(rest_[length]))))
            ++length;
        const std::string name(rest_.substr(0, length));
        if (name.empty())
            fail("an operand, a number or a function",
                 rest_.empty() ? "the end" : "'" + std::string(rest_) + "'");
        rest_.remove_prefix(length);
        if (name == "infinity")
            return {number(std::numeric_limits<double>::infinity(), true), false, 0};
        if (name == "nan")
            return {number(std::numeric_limits<double>::quiet_NaN(), true), false, 0};
        if (!take("(")) return name_of(name);
        Arguments arguments;
        do arguments.push_back(comparison());
        while (take(","));
        need(")");
        return call(name, arguments);
    }

    Part name_of(const std::string& name) {
        if (arguments_ != nullptr && name.size() == 1) {
            const auto i = static_cast<size_t>(name[0] - 'x');
            if (i < arguments_->size()) return (*arguments_)[i];
        }
        const auto i = static_cast<size_t>(name[0] - 'a');
        if (arguments_ != nullptr || name.size() != 1 || i >= floats_.size())
            fail(fmt::format("one of the {} operands a, b, c, or a function", floats_.size()),
                 "'" + name + "'");
        return {add({FormulaOp::kOperand, floats_[i], static_cast<uint8_t>(i), 0, {}, 0}), false,
                0};
    }

    uint32_t number(double value, bool is_float) {
        const bool fits =
            is_float || (std::trunc(value) == value && value >= INT32_MIN && value <= INT32_MAX);
        if (!fits) fail("an int32", fmt::format("{}", value));
        return add({FormulaOp::kNumber,
                    is_float,
                    0,
                    is_float ? static_cast<double>(static_cast<float>(value)) : value,
                    {},
                    0});
    }

    uint32_t add(const FormulaTerm& term) {
        const auto same = [&](const FormulaTerm& other) {
            return other == term && std::signbit(other.number) == std::signbit(term.number);
        };
        const auto found = std::ranges::find_if(formula_.terms, same);
        if (found != formula_.terms.end())
            return static_cast<uint32_t>(found - formula_.terms.begin());
        if (formula_.terms.size() >= kMostTerms) fail("at most 512 terms", "more");
        formula_.terms.push_back(term);
        return static_cast<uint32_t>(formula_.terms.size() - 1);
    }

    Part call(const std::string& name, const Arguments& arguments) {
        const auto need_count = [&](size_t count) {
            if (arguments.size() != count)
                fail(fmt::format("{} arguments of {}", count, name),
                     std::to_string(arguments.size()));
        };
        if (const DerivedFunction* const derived =
                find_derived_function(name, !is_int(arguments))) {
            need_count(derived->arguments);
            return parse(derived->body, &arguments);
        }
        const FormulaFunction* const function = find_formula_function(name);
        if (function == nullptr) fail("a function", "'" + name + "'");
        need_count(function->arguments.size());
        FormulaTerm term{function->op, false, 0, 0, {}, static_cast<uint8_t>(arguments.size())};
        const bool floats = !is_int(arguments, function->op == FormulaOp::kSelect ? 1 : 0);
        for (size_t i = 0; i < arguments.size(); ++i) {
            const char kind = function->arguments[i];
            const bool wanted = kind == 'f' || (kind == 'n' && floats);
            term.of[i] =
                arguments[i].is_open ? number(arguments[i].number, wanted) : arguments[i].term;
            if (formula_.terms[term.of[i]].is_float != wanted)
                fail(fmt::format("{} as argument {} of {}", wanted ? "a float" : "an int32", i + 1,
                                 name),
                     wanted ? "an int32" : "a float");
        }
        term.is_float = function->result == 'f' || (function->result == 'n' && floats);
        return {add(term), false, 0};
    }

    /// None of them is known to be a float, from the first on that matters.
    bool is_int(const Arguments& arguments, size_t first = 0) const {
        return std::none_of(
            arguments.begin() + static_cast<ptrdiff_t>(std::min(first, arguments.size())),
            arguments.end(),
            [&](const Part& part) { return !part.is_open && formula_.terms[part.term].is_float; });
    }

    std::span<const bool> floats_;
    Formula& formula_;
    std::string_view rest_;
    const Arguments* arguments_ = nullptr;
    size_t depth_ = 0;
};

/// Without those that the result does not need; the result is the last one.
Formula pruned(const Formula& formula, uint32_t result) {
    std::vector<bool> needed(formula.terms.size());
    needed[result] = true;
    for (size_t i = formula.terms.size(); i-- > 0;)
        if (needed[i])
            for (uint8_t k = 0; k < formula.terms[i].count; ++k)
                needed[formula.terms[i].of[k]] = true;
    Formula kept;
    std::vector<uint32_t> place(formula.terms.size());
    for (size_t i = 0; i <= result; ++i) {
        if (!needed[i]) continue;
        FormulaTerm term = formula.terms[i];
        for (uint8_t k = 0; k < term.count; ++k) term.of[k] = place[term.of[k]];
        place[i] = static_cast<uint32_t>(kept.terms.size());
        kept.terms.push_back(term);
    }
    return kept;
}

}  // namespace

Formula parse_formula(std::string_view text, std::span<const bool> floats) {
    if (text.size() > kMostText) fail("at most 16384 characters", std::to_string(text.size()));
    Formula formula;
    Parser parser(floats, formula);
    const Part part = parser.parse(text, nullptr);
    return pruned(formula, parser.closed(part));
}

std::string substituted(std::string_view text, std::span<const std::string> operands) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool alone =
            (i == 0 || (!is_letter(text[i - 1]) && !is_digit(text[i - 1]))) &&
            (i + 1 == text.size() || (!is_letter(text[i + 1]) && !is_digit(text[i + 1])));
        const auto operand = static_cast<size_t>(text[i] - 'a');
        if (alone && text[i] >= 'a' && operand < operands.size())
            result += operands[operand];
        else
            result += text[i];
    }
    return result;
}

std::string formula_number(float value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "(-infinity)" : "infinity";
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return value < 0 || std::signbit(value) ? "(" + text + ")" : text;
}

std::string formula_number(int64_t value) {
    return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

}  // namespace tandem::compiler
