// SPDX-License-Identifier: Apache-2.0
// Texts with a few characters gone, added or changed.
#pragma once

#include <string>
#include <string_view>

#include "testbench/support/seeded.h"

namespace tandem::testbench {

/// One to four changes; new characters are some of `characters`.
inline std::string damaged(std::string text, Seeded& random, std::string_view characters) {
    for (uint64_t change = 1 + random.below(4); change != 0; --change) {
        const size_t at = random.below(text.size());
        const char character = characters[random.below(characters.size())];
        switch (random.below(3)) {
            case 0:
                text.erase(at, 1);
                break;
            case 1:
                text.insert(at, 1, character);
                break;
            default:
                text[at] = character;
        }
    }
    return text;
}

}  // namespace tandem::testbench
