// SPDX-License-Identifier: Apache-2.0
// What callers ask for, checked.
#pragma once

#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "arch/chip_config.h"
#include "base/error.h"
#include "tandem/tandem.h"

namespace tandem::c_api {

/// Bytes of a struct that the library reads; longer ones are of no interface that may come.
inline constexpr uint64_t kLongestStruct = 4096;

/// Throws UserError for a size that no version of a struct has. `known` is the one of this library.
uint64_t checked_size(uint64_t size, uint64_t known, const void* bytes, const char* what);

/// A struct of the caller's, of this version, or of an older and shorter one. NULL: all defaults.
template <class Options>
Options taken(const Options* options, const char* what) {
    Options mine{};
    if (options == nullptr) return mine;
    uint64_t size = 0;
    std::memcpy(&size, options, sizeof size);
    std::memcpy(&mine, options, checked_size(size, sizeof mine, options, what));
    return mine;
}

/// Throws UserError for NULL.
void need(const void* pointer, const char* what);

/// A name out of a few; NULL: the first one.
std::string one_of(const char* name, std::initializer_list<const char*> names, const char* what);

/// 0: `otherwise`.
uint32_t number(uint64_t value, uint64_t most, uint32_t otherwise, const char* what,
                uint64_t least = 1);

std::string text_of(const char* text);
double checked_seconds(double seconds);

struct Chip {
    std::string name;
    std::vector<std::string> sets;
    arch::ChipConfig config;
};
/// NULL: test_16x16.
Chip chip_of(const tandem_chip* chip);

}  // namespace tandem::c_api
