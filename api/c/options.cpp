// SPDX-License-Identifier: Apache-2.0
#include "api/c/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "run/paths.h"

namespace tandem::c_api {
namespace {

constexpr uint64_t kMostSets = 10'000;

}  // namespace

uint64_t checked_size(uint64_t size, uint64_t known, const void* bytes, const char* what) {
    if (size < sizeof size || size > kLongestStruct || size % sizeof size != 0)
        throw UserError(what, "size", fmt::format("sizeof({}), {} bytes", what, known),
                        std::to_string(size));
    const auto* begin = static_cast<const unsigned char*>(bytes);
    for (uint64_t at = known; at < size; ++at)
        if (begin[at] != 0)
            throw UserError(what, "size",
                            fmt::format("{} bytes, or zeros behind them: this library is {}", known,
                                        TANDEM_VERSION),
                            fmt::format("a newer struct of {} bytes", size));
    return std::min(size, known);
}

void need(const void* pointer, const char* what) {
    if (pointer == nullptr) throw UserError(what, "argument", "a pointer", "NULL");
}

std::string one_of(const char* name, std::initializer_list<const char*> names, const char* what) {
    if (name == nullptr) return *names.begin();
    if (std::ranges::none_of(names, [&](const char* each) { return std::strcmp(each, name) == 0; }))
        throw UserError(what, "name", fmt::format("{}", fmt::join(names, ", ")), text_of(name));
    return name;
}

uint32_t number(uint64_t value, uint64_t most, uint32_t otherwise, const char* what,
                uint64_t least) {
    if (value == 0) return otherwise;
    if (value < least || value > most)
        throw UserError(what, "value", fmt::format("{} to {}", least, most), std::to_string(value));
    return static_cast<uint32_t>(value);
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

double checked_seconds(double seconds) {
    if (!(seconds >= 0) || std::isinf(seconds))
        throw UserError("timeout_seconds", "value", "0 (none) or more", std::to_string(seconds));
    return seconds;
}

Chip chip_of(const tandem_chip* chip) {
    const tandem_chip mine = taken(chip, "tandem_chip");
    Chip found;
    found.name = mine.name == nullptr ? "test_16x16" : mine.name;
    if (mine.set_count > kMostSets)
        throw UserError("tandem_chip", "set_count", fmt::format("at most {}", kMostSets),
                        std::to_string(mine.set_count));
    if (mine.set_count != 0) need(mine.sets, "tandem_chip.sets");
    for (uint64_t i = 0; i < mine.set_count; ++i) {
        need(mine.sets[i], "tandem_chip.sets");
        found.sets.emplace_back(mine.sets[i]);
    }
    found.config = arch::find_chip(found.name, run::chips_dir(), found.sets);
    return found;
}

}  // namespace tandem::c_api
