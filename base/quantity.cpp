// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace tandem::base {
namespace {

using Units = std::vector<std::pair<std::string_view, double>>;

/// The base unit first; where two have one size, the one that is written comes first.
const Units& units_of(Dimension dimension) {
    static const std::map<Dimension, Units> units = {
        {Dimension::kBytes,
         {{"B", 1},
          {"kB", 1e3},
          {"KiB", 1024.0},
          {"MB", 1e6},
          {"MiB", 1048576.0},
          {"GB", 1e9},
          {"GiB", 1073741824.0}}},
        {Dimension::kBytesPerSecond,
         {{"B/s", 1},
          {"kB/s", 1e3},
          {"MB/s", 1e6},
          {"MiB/s", 1048576.0},
          {"GB/s", 1e9},
          {"GiB/s", 1073741824.0},
          {"TB/s", 1e12}}},
        {Dimension::kBytesPerCycle, {{"B/cycle", 1}, {"KiB/cycle", 1024.0}}},
        {Dimension::kHertz, {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}},
        {Dimension::kPicoseconds, {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}}},
        {Dimension::kCycles, {{"cycles", 1}, {"cycle", 1}}},
        {Dimension::kPercent, {{"%", 1}}},
        {Dimension::kOpsPerSecond,
         {{"OPS", 1},
          {"FLOPS", 1},
          {"GOPS", 1e9},
          {"GFLOPS", 1e9},
          {"TOPS", 1e12},
          {"TFLOPS", 1e12},
          {"POPS", 1e15},
          {"PFLOPS", 1e15}}},
        {Dimension::kOpsPerByte, {{"ops/byte", 1}}},
        {Dimension::kPlain, {{"", 1}}},
    };
    return units.at(dimension);
}

}  // namespace

std::optional<uint64_t> parse_quantity(std::string_view text, Dimension dimension) {
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
    std::string_view unit(rest, static_cast<size_t>(text.data() + text.size() - rest));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    for (const auto& [name, factor] : units_of(dimension)) {
        if (name != unit) continue;
        const double value = number * factor;
        // 1.001 kB is 1001 bytes, though no double is 1.001.
        const double whole = std::round(value);
        if (value > 9.0e18 || std::abs(value - whole) > whole * 1e-12) return std::nullopt;
        return static_cast<uint64_t>(whole);
    }
    return std::nullopt;
}

std::string format_quantity(uint64_t value, Dimension dimension) {
    std::pair<std::string_view, uint64_t> best = {"", 0};
    for (const auto& [name, factor] : units_of(dimension)) {
        const auto size = static_cast<uint64_t>(factor);
        const bool whole = value % size == 0 && (value != 0 || size == 1);
        if (whole && size > best.second) best = {name, size};
    }
    return fmt::format("{}{}{}", value / best.second, best.first.empty() ? "" : " ", best.first);
}

std::string unit_names(Dimension dimension) {
    std::string names;
    for (const auto& [name, factor] : units_of(dimension)) {
        if (!names.empty()) names += ", ";
        names += name;
    }
    return names;
}

uint64_t quantity_between(const std::string& text, Dimension dimension, uint64_t low, uint64_t high,
                          const Refuse& refuse) {
    const auto value = parse_quantity(text, dimension);
    if (!value) refuse(expected_form(dimension), '"' + text + '"');
    if (*value < low || *value > high)
        refuse(fmt::format("a value from {} to {}", format_quantity(low, dimension),
                           format_quantity(high, dimension)),
               text);
    return *value;
}

std::string expected_form(Dimension dimension) {
    switch (dimension) {
        case Dimension::kBytes:
            return "a whole number of bytes such as \"64 KiB\" or \"2 GB\"";
        case Dimension::kBytesPerSecond:
            return "a bandwidth such as \"34 GB/s\"";
        case Dimension::kBytesPerCycle:
            return "a width such as \"256 B/cycle\"";
        case Dimension::kHertz:
            return "a frequency such as \"700 MHz\"";
        case Dimension::kPicoseconds:
            return "a time such as \"120 ns\"";
        case Dimension::kCycles:
            return "a number of cycles such as \"8 cycles\"";
        case Dimension::kPercent:
            return "a percentage such as \"90 %\"";
        case Dimension::kOpsPerSecond:
            return "a rate of operations such as \"92 TOPS\" or \"275 TFLOPS\"";
        case Dimension::kOpsPerByte:
            return "an intensity such as \"225 ops/byte\"";
        case Dimension::kPlain:
            return "a whole number without a unit";
    }
    return {};
}

}  // namespace tandem::base
