// SPDX-License-Identifier: Apache-2.0
#include "cosim/save_file.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace tandem::cosim {
namespace {

// Trace flags of a GTKWave save file.
constexpr unsigned kOpenGroup = 0x800200, kOpenGroupEnd = 0x1000200;
constexpr unsigned kClosedGroup = 0xc00200, kClosedGroupEnd = 0x1401200;

unsigned flags(WaveFormat format) {
    switch (format) {
        case WaveFormat::kHex:
            return 0x22;
        case WaveFormat::kBinary:
            return 0x28;
        case WaveFormat::kDecimal:
            return 0x24;
        case WaveFormat::kSigned:
            return 0x420;
        case WaveFormat::kText:
            return 0x820;
        case WaveFormat::kFiltered:
            return 0x4022;  // hexadecimal, through a program
    }
    return 0;
}

}  // namespace

void SaveFile::begin_group(const std::string& name, bool open) {
    group_name_ = name;
    group_is_open_ = open;
}

void SaveFile::end_group() {
    const std::string body = std::exchange(group_, {});
    if (body.empty()) return;
    text_ += fmt::format("@{:x}\n-{}\n{}@{:x}\n-{}\n", group_is_open_ ? kOpenGroup : kClosedGroup,
                         group_name_, body, group_is_open_ ? kOpenGroupEnd : kClosedGroupEnd,
                         group_name_);
}

void SaveFile::head(WaveFormat format, WaveColour colour) {
    group_ += fmt::format("@{:x}\n", flags(format));
    if (format == WaveFormat::kFiltered) group_ += fmt::format("^>1 {}\n", filter_);
    if (colour != WaveColour::kPlain)
        group_ += fmt::format("[color] {}\n", static_cast<unsigned>(colour));
}

bool SaveFile::signal(const std::string& name, uint32_t bits, WaveFormat format,
                      const std::string& alias, WaveColour colour) {
    if (!has(name)) return false;
    head(format, colour);
    if (!alias.empty()) group_ += fmt::format("+{{{}}} ", alias);
    group_ += name + (bits > 1 ? fmt::format("[{}:0]", bits - 1) : "") + "\n";
    return true;
}

bool SaveFile::lane(const std::string& name, uint32_t all, uint32_t first, uint32_t bits,
                    WaveFormat format, const std::string& alias, WaveColour colour) {
    if (!has(name)) return false;
    if (all == bits) return signal(name, all, format, alias, colour);
    head(format, colour);
    // Its bits one by one, the most significant one first, numbered from that of the signal.
    group_ += fmt::format("#{{{}}}", alias);
    for (uint32_t bit = first + bits; bit-- != first;)
        fmt::format_to(std::back_inserter(group_), " ({}){}[{}:0]", all - 1 - bit, name, all - 1);
    group_ += "\n";
    return true;
}

}  // namespace tandem::cosim
