// SPDX-License-Identifier: Apache-2.0
// Numbers with units as they stand in configuration files: "34 GB/s", "64 KiB", "700 MHz".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::base {

enum class Dimension {
    kBytes,
    kBytesPerSecond,
    kBytesPerCycle,
    kHertz,
    kPicoseconds,
    kCycles,
    kPercent,
    kOpsPerSecond,
    kOpsPerByte,
    kPlain
};

/// The value in the base unit of the dimension (bytes, bytes/s, bytes/cycle, Hz, ps, cycles, %,
/// ops/s, ops/byte, 1), or nothing when the text is no number with a unit of that dimension.
/// Decimal and binary prefixes are distinct: kB, MB, GB are powers of ten, KiB, MiB, GiB powers of
/// two. An operation is one of integers (OPS) or of floating point (FLOPS).
std::optional<uint64_t> parse_quantity(std::string_view text, Dimension dimension);

/// As parse_quantity reads it back, in the largest unit that leaves a whole number: 1500000000 Hz
/// is "1500 MHz".
std::string format_quantity(uint64_t value, Dimension dimension);

/// Units of the dimension, smallest first; empty for plain numbers.
std::string unit_names(Dimension dimension);

/// Told what was expected and what was found; must throw.
using Refuse = std::function<void(const std::string& expected, const std::string& found)>;

/// parse_quantity, with everything but a value from `low` to `high` refused.
uint64_t quantity_between(const std::string& text, Dimension dimension, uint64_t low, uint64_t high,
                          const Refuse& refuse);

/// What parse_quantity wants, for error messages: e.g. `a size such as "64 KiB"`.
std::string expected_form(Dimension dimension);

}  // namespace tandem::base
