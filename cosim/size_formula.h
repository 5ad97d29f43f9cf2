// SPDX-License-Identifier: Apache-2.0
// Numbers that depend on the size of an array, as its declaration writes them:
// "ceil(rows / 4) + cols + 1".
//
//   sum     = term, then any of + term, - term
//   term    = factor, then any of * factor
//   factor  = number | rows | cols | pipeline | - factor | ( sum ) | ceil(sum / sum)
//           | floor(sum / sum) | log2ceil(sum) | max(sum, sum) | min(sum, sum)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/mxu_engine.h"

namespace tandem::cosim {

class SizeFormula {
  public:
    /// What is wrong with a text.
    struct Mistake {
        size_t column;  ///< from 1
        std::string expected, found;
    };

    SizeFormula() = default;
    explicit SizeFormula(std::string text) : text_(std::move(text)) {}
    const std::string& text() const { return text_; }

    /// Nothing: it is a formula.
    std::optional<Mistake> mistake() const;
    /// Of a text without mistake. Nothing: a division by zero, a logarithm of what is not positive,
    /// or a number beyond 10^9 on the way.
    std::optional<int64_t> value(const engine::MxuShape& shape) const;

    static constexpr size_t kLongest = 200;  ///< characters

  private:
    std::string text_ = "1";
};

}  // namespace tandem::cosim
