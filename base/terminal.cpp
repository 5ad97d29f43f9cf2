// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace tandem::base {
namespace {

int lost = 0;  // the error number of what could not be printed first

/// Bytes of the well-formed character at the beginning, and what it is; 0: there is none.
size_t character(std::string_view text, uint32_t& code) {
    const auto first = static_cast<uint8_t>(text[0]);
    const size_t bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || bytes > text.size()) return 0;
    code = bytes == 1 ? first : first & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<uint8_t>(text[i]);
        if ((next & 0xc0) != 0x80) return 0;
        code = code << 6 | (next & 0x3fu);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    return code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

/// Controls, and the marks that change the direction of what follows.
bool steers(uint32_t code) {
    return (code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0) || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        uint32_t code = 0;
        const size_t bytes = character(text, code);
        const std::string_view taken = text.substr(0, bytes == 0 ? 1 : bytes);
        if (bytes != 0 && !steers(code))
            shown += taken;
        else
            for (const char byte : taken)
                shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(byte));
        text.remove_prefix(taken.size());
    }
    return shown;
}

void print_text(std::string_view text) {
    const std::string shown = printable(text);
    errno = 0;
    if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() && lost == 0)
        lost = errno;
}

void tell_text(std::string_view text) {
    const std::string shown = printable(text);
    (void)std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void hold_standard_streams() {
    // The wrong way round, so that a use of them still fails.
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0)
            (void)!::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

std::string output_is_lost() {
    errno = 0;
    if (std::fflush(stdout) != 0 && lost == 0) lost = errno;
    if (lost == 0 && std::ferror(stdout) == 0) return {};
    return lost != 0 ? std::strerror(lost) : "error";
}

}  // namespace tandem::base
