// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tpu_v1/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tandem::tpu_v1 {
namespace {

/// Letters on the screen: UTF-8's following bytes take no place.
size_t width(const std::string& text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

}  // namespace

std::string Table::to_string() const {
    std::vector<size_t> widths(rows_.front().size(), 3);
    for (const auto& row : rows_)
        for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    std::string text;
    for (size_t r = 0; r < rows_.size(); ++r) {
        for (size_t i = 0; i < rows_[r].size(); ++i) {
            const std::string pad(widths[i] - width(rows_[r][i]), ' ');
            text += i == 0 ? "| " + rows_[r][i] + pad : " | " + pad + rows_[r][i];
        }
        text += " |\n";
        if (r != 0) continue;
        for (size_t i = 0; i < widths.size(); ++i)
            text += i == 0 ? "|" + std::string(widths[i] + 2, '-')
                           : "|" + std::string(widths[i] + 1, '-') + ":";
        text += "|\n";
    }
    return text + "\n";
}

std::string paragraph(const std::string& text) {
    constexpr size_t kMost = 150;
    std::istringstream words(text);
    std::string all, line, word;
    while (words >> word) {
        if (!line.empty() && width(line) + 1 + width(word) > kMost) {
            all += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return all + line + "\n\n";
}

std::string grouped(double number) {
    std::string digits = fmt::format("{:.0f}", number);
    if (std::abs(number) < 10000) return digits;
    for (size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) digits.insert(at -= 3, " ");
    return digits;
}

}  // namespace tandem::tpu_v1
