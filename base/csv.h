// SPDX-License-Identifier: Apache-2.0
// Tables of cells separated by commas, as tools write them: byte-order marks, blank lines, spaces
// around cells, empty cells at the end. Quotes have no meaning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem::base {

struct CsvRow {
    size_t line;  ///< counted from 1
    /// Without the spaces around them; the last one is not empty, there is at least one.
    std::vector<std::string> cells;
};

/// All rows that are not empty. Throws UserError when the file cannot be read.
std::vector<CsvRow> read_csv(const std::filesystem::path& file);

/// The cells of one row, with the heading for messages. All functions throw UserError.
class RowReader {
  public:
    /// Keeps references.
    RowReader(const std::filesystem::path& file, const CsvRow& heading, const CsvRow& row)
        : file_(file), heading_(heading), row_(row) {}

    std::string where() const;  ///< "file.csv:12"
    std::string text(size_t column) const;
    /// A whole number from `low` to 2^32 - 1.
    uint64_t number(size_t column, uint64_t low = 1) const;
    /// Empty when the row ends before it.
    std::string cell(size_t column) const;

    [[noreturn]] void fail(size_t column, const std::string& expected) const;
    /// The mistake is none of one cell.
    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const;

  private:
    const std::filesystem::path& file_;
    const CsvRow& heading_;
    const CsvRow& row_;
};

}  // namespace tandem::base
