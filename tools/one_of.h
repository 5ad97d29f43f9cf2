// SPDX-License-Identifier: Apache-2.0
// What an option may say, as one of several words.
#pragma once

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "base/nearest.h"

namespace tandem::tools {

/// Like CLI::IsMember, with an error that names the nearest word.
class OneOf : public CLI::Validator {
  public:
    OneOf(std::vector<std::string> words)
        : CLI::Validator(fmt::format("{{{}}}", fmt::join(words, ","))) {
        func_ = [words = std::move(words)](std::string& found) {
            if (std::ranges::find(words, found) != words.end()) return std::string{};
            return fmt::format("expected one of {}, found \"{}\"{}", fmt::join(words, ", "), found,
                               base::nearest_hint(found, words));
        };
    }
};

}  // namespace tandem::tools
