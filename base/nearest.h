// SPDX-License-Identifier: Apache-2.0
// What a user may have meant by a name that nobody knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::base {

/// Insertions, deletions, replacements and swaps of neighbours that make one text of the other.
size_t edit_distance(std::string_view a, std::string_view b);

/// The first of the candidates with the least distance; nothing when all are too far off to have
/// been meant. A name without a dot is compared with the last part of a dotted candidate, too:
/// "count" may mean "mxu.count".
std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string>& candidates);

/// " (nearest: mxu.count)", or nothing.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tandem::base
