// SPDX-License-Identifier: Apache-2.0
// The way to a terminal. Names come from models, files and command lines: what would steer the
// terminal, or is no UTF-8, is shown as \x1b instead; line feeds are ours.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tandem::base {

/// Safe to show.
std::string printable(std::string_view text);

/// On standard output. Never throws; what is lost is told by output_is_lost().
void print_text(std::string_view text);
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
    print_text(fmt::format(format, std::forward<Args>(args)...));
}

/// On standard error. Never throws.
void tell_text(std::string_view text);
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
    tell_text(fmt::format(format, std::forward<Args>(args)...));
}

/// Before anything is opened: a closed standard stream must not become somebody's file.
void hold_standard_streams();

/// Everything printed has to be out: why some of it is not; empty: it is.
std::string output_is_lost();

}  // namespace tandem::base
