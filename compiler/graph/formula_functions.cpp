// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/formula_functions.h"

#include <algorithm>
#include <iterator>

namespace tandem::compiler {
namespace {

using enum FormulaOp;

constexpr FormulaFunction kFunctions[] = {
    {"add", kAdd, "nn", 'n'},
    {"subtract", kSubtract, "nn", 'n'},
    {"multiply", kMultiply, "nn", 'n'},
    {"divide", kDivide, "ff", 'f'},
    {"less", kLess, "nn", 'i'},
    {"equal", kEqual, "nn", 'i'},
    {"min", kMinimum, "nn", 'n'},
    {"max", kMaximum, "nn", 'n'},
    {"select", kSelect, "inn", 'n'},
    {"float", kFloat, "i", 'f'},
    {"truncate", kTruncate, "f", 'i'},
    {"round", kRound, "f", 'i'},
    {"floor", kFloor, "f", 'f'},
    {"sqrt", kSqrt, "f", 'f'},
    {"rsqrt", kRsqrt, "f", 'f'},
    {"exp", kExp, "f", 'f'},
    {"log", kLog, "f", 'f'},
    {"tanh", kTanh, "f", 'f'},
    {"sigmoid", kSigmoid, "f", 'f'},
    {"erf", kErf, "f", 'f'},
    {"shift_left", kShiftLeft, "ii", 'i'},
};

struct Typed {
    char type;  ///< of the arguments: f, i, n either
    DerivedFunction function;
};

constexpr Typed kDerived[] = {
    {'n', {"abs", 1, "max(x, -x)"}},
    {'n', {"square", 1, "x * x"}},
    {'n', {"sign", 1, "select(x < 0, -1, select(0 < x, 1, x))"}},
    {'n', {"clip", 3, "min(max(x, y), z)"}},
    // truth
    {'i', {"not", 1, "x == 0"}},
    {'i', {"truth", 1, "not(x == 0)"}},
    {'f', {"truth", 1, "not(x == 0)"}},
    {'i', {"and", 2, "x * y"}},
    {'i', {"or", 2, "max(x, y)"}},
    {'i', {"xor", 2, "not(x == y)"}},
    {'n', {"less_equal", 2, "or(x < y, x == y)"}},
    {'f', {"is_nan", 1, "not(x == x)"}},
    // whole numbers
    {'f', {"ceil", 1, "-floor(-x)"}},
    {'f', {"trunc", 1, "select(x < 0, ceil(x), floor(x))"}},
    // From 2^23 on a float is whole.
    {'f', {"nearest", 1, "select(abs(x) < 8388608, float(round(x)), x)"}},
    {'f', {"div", 2, "x / y"}},
    // The quotient of large numbers as floats may be off; what is left says by how much.
    {'i',
     {"div", 2, "settled_quotient(x, y, better_quotient(x, y, truncate(float(x) / float(y))))"}},
    {'i', {"better_quotient", 3, "z + truncate(float(x - z * y) / float(y))"}},
    {'i', {"settled_quotient", 3, "z - select((x - z * y) * sign(x) < 0, sign(x) * sign(y), 0)"}},
    {'f', {"remainder", 2, "x - floor(x / y) * y"}},
    {'f', {"fmod", 2, "x - trunc(x / y) * y"}},
    {'i', {"fmod", 2, "x - div(x, y) * y"}},
    {'i', {"remainder", 2, "floored_rest(x - div(x, y) * y, y)"}},
    {'i', {"floored_rest", 2, "select(sign(x) * y < 0, x + y, x)"}},
    {'i', {"shift_right", 2, "truncate(floor(float(x) / float(shift_left(1, y))))"}},
    // powers
    {'f', {"reciprocal", 1, "1 / x"}},
    {'f',
     {"power", 2,
      "select(x == 0, select(y == 0, 1.0, select(y < 0, infinity, 0.0)), signed_power(x, y, exp(y "
      "* log(abs(x)))))"}},
    {'f',
     {"signed_power", 3,
      "select(x < 0, select(y == floor(y), select(floor(y * 0.5) * 2 == y, z, -z), nan), z)"}},
    {'i', {"power", 2, "round(power(float(x), float(y)))"}},
    // hyperbolic, and their inverses
    {'f',
     {"sinh", 1,
      "select(abs(x) < 0.5, x * (1 + square(x) * (0.16666667 + square(x) * 0.008333334)), (exp(x) "
      "- exp(-x)) * 0.5)"}},
    {'f', {"cosh", 1, "(exp(x) + exp(-x)) * 0.5"}},
    {'f', {"asinh", 1, "select(x < 0, -positive_asinh(-x), positive_asinh(x))"}},
    {'f', {"positive_asinh", 1, "log_of_one_and(x + square(x) / (1 + sqrt(square(x) + 1)))"}},
    {'f', {"acosh", 1, "log(x + sqrt(square(x) - 1))"}},
    {'f', {"atanh", 1, "(log_of_one_and(x) - log_of_one_and(-x)) * 0.5"}},
    // log(1 + x), in full precision also next to 0.
    {'f', {"log_of_one_and", 1, "select(1 + x == 1, x, log(1 + x) * (x / ((1 + x) - 1)))"}},
    // circular: whole turns taken off in three pieces
    {'f', {"sin", 1, "sin_of_turned(x, floor(x * 0.31830987 + 0.5))"}},
    {'f',
     {"sin_of_turned", 2,
      "sin_near(((x - y * 3.140625) - y * 0.0009670258) - y * 6.277114e-7) * (1 - 2 * (y - 2 * "
      "floor(y * 0.5)))"}},
    {'f', {"sin_near", 1, "sin_series(x, square(x))"}},
    {'f',
     {"sin_series", 2,
      "x * (1 + y * (-0.16666667 + y * (0.008333333 + y * (-0.0001984127 + y * (0.0000027557319 - "
      "y * 0.000000025052108)))))"}},
    {'f', {"cos", 1, "sin(x + 1.5707964)"}},
    {'f', {"tan", 1, "sin(x) / cos(x)"}},
    // atan x = 2 atan(x / (1 + sqrt(1 + x^2))), twice, then the series
    {'f', {"atan", 1, "4 * atan_series(half_angle(half_angle(x)))"}},
    {'f', {"half_angle", 1, "x / (1 + sqrt(1 + square(x)))"}},
    {'f',
     {"atan_series", 1,
      "x * (1 - square(x) * (0.33333333 - square(x) * (0.2 - square(x) * (0.14285715 - square(x) * "
      "(0.11111111 - square(x) * 0.090909094)))))"}},
    {'f', {"asin", 1, "2 * atan(x / (1 + sqrt(1 - square(x))))"}},
    {'f', {"acos", 1, "1.5707964 - asin(x)"}},
    // activations
    {'n', {"relu", 1, "max(x, 0)"}},
    {'f', {"softplus", 1, "max(x, 0) + log_of_one_and(exp(-abs(x)))"}},
    {'f', {"exp_minus_one", 1, "select(abs(x) < 0.001, x + square(x) * 0.5, exp(x) - 1)"}},
    {'f', {"elu", 2, "select(x < 0, y * exp_minus_one(x), x)"}},
    {'f', {"hard_sigmoid", 3, "clip(y * x + z, 0, 1)"}},
    {'f', {"hard_swish", 1, "x * min(max(x + 3, 0), 6) / 6"}},
};

}  // namespace

const FormulaFunction* find_formula_function(std::string_view name) {
    const auto* const found = std::ranges::find(kFunctions, name, &FormulaFunction::name);
    return found == std::end(kFunctions) ? nullptr : found;
}

const DerivedFunction* find_derived_function(std::string_view name, bool floats) {
    const auto* const found = std::ranges::find_if(kDerived, [&](const Typed& typed) {
        return typed.function.name == name && (typed.type == 'n' || (typed.type == 'f') == floats);
    });
    return found == std::end(kDerived) ? nullptr : &found->function;
}

}  // namespace tandem::compiler
