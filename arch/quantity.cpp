// SPDX-License-Identifier: Apache-2.0
#include "arch/quantity.h"

#include <charconv>
#include <cmath>
#include <map>

namespace tandem::arch {
namespace {

const std::map<std::string_view, double>& units_of(Dimension dimension) {
    static const std::map<Dimension, std::map<std::string_view, double>> units = {
        {Dimension::kBytes,
         {{"B", 1},
          {"kB", 1e3},
          {"MB", 1e6},
          {"GB", 1e9},
          {"KiB", 1024.0},
          {"MiB", 1048576.0},
          {"GiB", 1073741824.0}}},
        {Dimension::kBytesPerSecond,
         {{"B/s", 1},
          {"kB/s", 1e3},
          {"MB/s", 1e6},
          {"GB/s", 1e9},
          {"TB/s", 1e12},
          {"MiB/s", 1048576.0},
          {"GiB/s", 1073741824.0}}},
        {Dimension::kBytesPerCycle, {{"B/cycle", 1}, {"KiB/cycle", 1024.0}}},
        {Dimension::kHertz, {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}},
        {Dimension::kPicoseconds, {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}}},
        {Dimension::kCycles, {{"cycles", 1}, {"cycle", 1}}},
        {Dimension::kPercent, {{"%", 1}}},
        {Dimension::kOpsPerSecond,
         {{"GOPS", 1e9},
          {"TOPS", 1e12},
          {"POPS", 1e15},
          {"GFLOPS", 1e9},
          {"TFLOPS", 1e12},
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
    const auto& units = units_of(dimension);
    const auto found = units.find(unit);
    if (found == units.end()) return std::nullopt;
    const double value = number * found->second;
    // 1.001 kB is 1001 bytes, though no double is 1.001.
    const double whole = std::round(value);
    if (value > 9.0e18 || std::abs(value - whole) > whole * 1e-12) return std::nullopt;
    return static_cast<uint64_t>(whole);
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

}  // namespace tandem::arch
