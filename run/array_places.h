// SPDX-License-Identifier: Apache-2.0
// Arrays of a chip by name: "core.array", both from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::run {

struct ArrayPlace {
    uint32_t core = 0, array = 0;
    bool operator==(const ArrayPlace&) const = default;
    std::string to_string() const;
};

/// Some arrays, or all.
class ArrayPlaces {
  public:
    /// All.
    ArrayPlaces() = default;
    /// "all", or a list "0.0,1.3". Throws UserError, naming `option`, for what is neither.
    static ArrayPlaces parse(const std::string& text, const std::string& option);

    /// The first in the order of cores and arrays.
    ArrayPlace first() const;
    bool all() const { return places_.empty(); }
    bool contains(const ArrayPlace& place) const;
    /// Throws UserError, naming `option`, for an array that is not among those of `cores` cores
    /// with `arrays` each.
    void check(uint32_t cores, uint32_t arrays, const std::string& option) const;
    std::string to_string() const;

  private:
    std::vector<ArrayPlace> places_;  ///< none: all
};

}  // namespace tandem::run
