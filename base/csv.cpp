// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace tandem::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// What stands before the separator, which is taken away too.
std::string_view take(std::string_view& text, char separator) {
    const size_t end = text.find(separator);
    const std::string_view taken = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return taken;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\r";
    const size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    while (!line.empty()) cells.emplace_back(trimmed(take(line, ',')));
    while (!cells.empty() && cells.back().empty()) cells.pop_back();
    return cells;
}

}  // namespace

std::vector<CsvRow> read_csv(const std::filesystem::path& file) {
    const std::vector<uint8_t> bytes = read_file(file);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
        text.remove_prefix(kByteOrderMark.size());
    std::vector<CsvRow> rows;
    for (size_t line = 1; !text.empty(); ++line) {
        CsvRow row{line, cells_of(take(text, '\n'))};
        if (!row.cells.empty()) rows.push_back(std::move(row));
    }
    return rows;
}

std::string RowReader::where() const {
    return fmt::format("{}:{}", file_.filename().string(), row_.line);
}

std::string RowReader::cell(size_t column) const {
    return column < row_.cells.size() ? row_.cells[column] : std::string{};
}

std::string RowReader::text(size_t column) const {
    if (cell(column).empty()) fail(column, "a text");
    return cell(column);
}

uint64_t RowReader::number(size_t column, uint64_t low) const {
    const std::string found = cell(column);
    const char* const last = found.data() + found.size();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), last, value);
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    if (error != std::errc{} || end != last || value < low || value > kMost)
        fail(column, fmt::format("a whole number from {} to {}", low, kMost));
    return value;
}

void RowReader::fail(size_t column, const std::string& expected) const {
    const std::string found = cell(column);
    std::string name = fmt::format("column {}", column + 1);
    if (column < heading_.cells.size()) name += " (" + heading_.cells[column] + ")";
    fail(name, expected, found.empty() ? "nothing" : '"' + found + '"');
}

void RowReader::fail(const std::string& what, const std::string& expected,
                     const std::string& found) const {
    throw UserError(fmt::format("{}:{}", file_.string(), row_.line), what, expected, found);
}

}  // namespace tandem::base
