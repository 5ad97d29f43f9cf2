// SPDX-License-Identifier: Apache-2.0
// One line of a graph text as words, strings and key=value pairs. All functions throw UserError
// that names file and line.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

class TextLine {
  public:
    /// Keeps references.
    TextLine(const std::string& file, size_t number, std::string_view text)
        : file_(file), number_(number), rest_(text) {}

    /// What the line is about: its first word.
    std::string word(const std::string& what);
    std::string quoted(const std::string& what);
    uint64_t number(const std::string& what, uint64_t most = std::numeric_limits<uint32_t>::max());
    /// "%3,%4"; each below `count`.
    std::vector<TensorId> ids(const std::string& what, size_t count);
    /// The rest of the line: "key=value" or key="quoted value", each key once.
    std::map<std::string, std::string, std::less<>> pairs();
    void end();

    // Read numbers from a text, not from what comes next.
    template <class Number>
    Number number_in(std::string_view text, const std::string& what) const;
    template <class Number>
    std::vector<Number> numbers_in(std::string_view text, const std::string& what) const;
    std::vector<TensorId> ids_in(std::string_view text, const std::string& what,
                                 size_t count) const;

    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const;

  private:
    void skip_spaces();

    const std::string& file_;
    size_t number_;
    std::string_view rest_;
};

}  // namespace tandem::compiler
