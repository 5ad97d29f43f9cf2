// SPDX-License-Identifier: Apache-2.0
#include "run/array_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace tandem::run {
namespace {

/// Takes a number off the front.
bool take_number(std::string_view& text, uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

bool take(std::string_view& text, char letter) {
    if (!text.starts_with(letter)) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::string ArrayPlace::to_string() const { return fmt::format("{}.{}", core, array); }

ArrayPlaces ArrayPlaces::parse(const std::string& text, const std::string& option) {
    ArrayPlaces result;
    if (text == "all") return result;
    std::string_view left = text;
    do {
        ArrayPlace place;
        if (!take_number(left, place.core) || !take(left, '.') || !take_number(left, place.array))
            throw UserError(option, "arrays", "all, or names CORE.ARRAY as in 0.0,1.3", text);
        if (!result.all() && result.contains(place))
            throw UserError(option, "arrays", "each array once", place.to_string() + " twice");
        result.places_.push_back(place);
    } while (take(left, ','));
    if (!left.empty())
        throw UserError(option, "arrays", "all, or names CORE.ARRAY as in 0.0,1.3", text);
    return result;
}

ArrayPlace ArrayPlaces::first() const {
    if (all()) return {};
    return *std::ranges::min_element(
        places_, {}, [](const ArrayPlace& place) { return std::pair(place.core, place.array); });
}

bool ArrayPlaces::contains(const ArrayPlace& place) const {
    return all() || std::ranges::find(places_, place) != places_.end();
}

void ArrayPlaces::check(uint32_t cores, uint32_t arrays, const std::string& option) const {
    for (const ArrayPlace& place : places_)
        if (place.core >= cores || place.array >= arrays)
            throw UserError(option, "arrays",
                            fmt::format("0.0 to {}.{}, which take part", cores - 1, arrays - 1),
                            place.to_string());
}

std::string ArrayPlaces::to_string() const {
    if (all()) return "all";
    std::string text;
    for (const ArrayPlace& place : places_) text += (text.empty() ? "" : ",") + place.to_string();
    return text;
}

}  // namespace tandem::run
