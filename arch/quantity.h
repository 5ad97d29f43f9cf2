// SPDX-License-Identifier: Apache-2.0
// Numbers with units as they stand in configuration files: "34 GB/s", "64 KiB", "700 MHz".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::arch {

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

/// What parse_quantity wants, for error messages: e.g. `a size such as "64 KiB"`.
std::string expected_form(Dimension dimension);

}  // namespace tandem::arch
