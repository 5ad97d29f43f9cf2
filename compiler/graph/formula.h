// SPDX-License-Identifier: Apache-2.0
// What ELEMENTWISE computes for each element, as a text: "select(a < 0, exp(a) - 1, a) * 2". a, b
// and c are elements of the node's inputs; numbers take the type of what they are combined with.
// + - * / < == and calls. There are two types, int32 (also truth: 0, 1) and float, never mixed:
// float(i), truncate(f) and round(f) (half to even) convert.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::compiler {

enum class FormulaOp : uint8_t {
    kOperand,
    kNumber,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kLess,
    kEqual,
    kMinimum,
    kMaximum,
    kSelect,
    kFloat,
    kTruncate,
    kRound,
    kFloor,
    kSqrt,
    kRsqrt,
    kExp,
    kLog,
    kTanh,
    kSigmoid,
    kErf,
    kShiftLeft,
};

struct FormulaTerm {
    FormulaOp op = FormulaOp::kNumber;
    bool is_float = false;
    uint8_t operand = 0;           ///< of kOperand: 0 to 2
    double number = 0;             ///< of kNumber
    std::array<uint32_t, 3> of{};  ///< terms in front of it
    uint8_t count = 0;             ///< of `of`
    bool operator==(const FormulaTerm&) const = default;
};

/// Terms stand behind those that they are made of; the last one is the result. Equal ones stand
/// once.
struct Formula {
    std::vector<FormulaTerm> terms;

    bool is_float() const { return terms.back().is_float; }
};

/// `floats`: of each operand, whether it is a float. Throws std::invalid_argument, "expected ...,
/// found ...", for a text that is no formula, or one of operands that there are not.
Formula parse_formula(std::string_view text, std::span<const bool> floats);

/// `text` with its operands replaced: operand i by `operands[i]`, which are formulas.
std::string substituted(std::string_view text, std::span<const std::string> operands);

/// A number in a formula: the shortest that reads back as the same fp32, or a whole one.
std::string formula_number(float value);
std::string formula_number(int64_t value);

}  // namespace tandem::compiler
