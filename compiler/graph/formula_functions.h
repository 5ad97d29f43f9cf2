// SPDX-License-Identifier: Apache-2.0
// The functions of formulas: what a step of the vector unit's chain does, and what is made of
// those.
#pragma once

#include <string_view>

#include "compiler/graph/formula.h"

namespace tandem::compiler {

/// One step of a chain. Kinds of arguments and result: f float, i int32, n either, all alike.
struct FormulaFunction {
    std::string_view name;
    FormulaOp op;
    std::string_view arguments;
    char result;
};

/// Null: none of that name.
const FormulaFunction* find_formula_function(std::string_view name);

/// Its body is a formula of x, y and z.
struct DerivedFunction {
    std::string_view name;
    size_t arguments;
    std::string_view body;
};

/// Null: none of that name for arguments of that type.
const DerivedFunction* find_derived_function(std::string_view name, bool floats);

}  // namespace tandem::compiler
