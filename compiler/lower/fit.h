// SPDX-License-Identifier: Apache-2.0
// Numbers into the narrow fields of instructions.
#pragma once

#include <concepts>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace tandem::compiler {

/// `value` as T; throws std::out_of_range, naming `what`, when it does not fit.
template <std::integral T, std::integral From>
T fit(From value, const char* what) {
    if (!std::in_range<T>(value))
        throw std::out_of_range(std::string(what) + " of at most " +
                                std::to_string(std::numeric_limits<T>::max()) + ", found " +
                                std::to_string(value));
    return static_cast<T>(value);
}

}  // namespace tandem::compiler
