// SPDX-License-Identifier: Apache-2.0
#include "base/pipe.h"

#include <unistd.h>

#include <cerrno>

namespace tandem::base {

std::string read_all(int pipe) {
    std::string text;
    char piece[65536];
    for (;;) {
        const ssize_t got = read(pipe, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(piece, static_cast<size_t>(got));
    }
}

}  // namespace tandem::base
