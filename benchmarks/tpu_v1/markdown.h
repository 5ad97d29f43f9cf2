// SPDX-License-Identifier: Apache-2.0
// Tables that read well as Markdown and as plain text.
#pragma once

#include <string>
#include <vector>

namespace tandem::tpu_v1 {

class Table {
  public:
    explicit Table(std::vector<std::string> heading) { add(std::move(heading)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    /// First column left, the others right; ends with an empty line.
    std::string to_string() const;

  private:
    std::vector<std::vector<std::string>> rows_;
};

/// A paragraph in lines of at most 150 characters; ends with an empty line.
std::string paragraph(const std::string& text);

/// 12345678 as "12 345 678"; numbers up to 9999 as they are.
std::string grouped(double number);

}  // namespace tandem::tpu_v1
