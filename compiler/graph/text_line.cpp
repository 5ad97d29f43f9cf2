// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/text_line.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "compiler/graph/text_format.h"

namespace tandem::compiler {

namespace {

std::string shown(std::string_view text) {
    constexpr size_t kMostShown = 40;
    if (text.empty()) return "nothing";
    return '"' + std::string(text.substr(0, kMostShown)) +
           (text.size() > kMostShown ? "...\"" : "\"");
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (size_t first = 0; first <= text.size();) {
        const size_t comma = std::min(text.find(',', first), text.size());
        parts.push_back(text.substr(first, comma - first));
        first = comma + 1;
    }
    return parts;
}

}  // namespace

void TextLine::fail(const std::string& what, const std::string& expected,
                    const std::string& found) const {
    throw UserError(file_ + ":" + std::to_string(number_), what, expected, found);
}

void TextLine::skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
}

std::string TextLine::word(const std::string& what) {
    skip_spaces();
    const size_t length = std::min(rest_.find(' '), rest_.size());
    if (length == 0) fail(what, "a word", "nothing");
    std::string found(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return found;
}

std::string TextLine::quoted(const std::string& what) {
    skip_spaces();
    if (!rest_.starts_with('"')) fail(what, "a text in quotes", shown(rest_));
    std::string text;
    for (size_t i = 1; i < rest_.size(); ++i) {
        if (rest_[i] == '"') {
            rest_.remove_prefix(i + 1);
            return text;
        }
        if (rest_[i] != '\\') {
            text += rest_[i];
            continue;
        }
        const std::string_view escape = rest_.substr(i + 1, 3);
        if (escape.starts_with('"') || escape.starts_with('\\')) {
            text += escape[0];
            i += 1;
            continue;
        }
        const size_t high = escape.size() == 3 ? kHexDigits.find(escape[1]) : escape.npos;
        const size_t low = escape.size() == 3 ? kHexDigits.find(escape[2]) : escape.npos;
        if (!escape.starts_with('x') || high == escape.npos || low == escape.npos)
            fail(what, "\\\", \\\\ or \\x and two digits", shown(rest_.substr(i)));
        text += static_cast<char>(high * 16 + low);
        i += 3;
    }
    fail(what, "a closing quote", "the end of the line");
}

template <class Number>
Number TextLine::number_in(std::string_view text, const std::string& what) const {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        fail(what, std::is_floating_point_v<Number> ? "a number" : "a whole number", shown(text));
    return value;
}

template <class Number>
std::vector<Number> TextLine::numbers_in(std::string_view text, const std::string& what) const {
    std::vector<Number> values;
    for (const std::string_view part : split(text)) values.push_back(number_in<Number>(part, what));
    return values;
}

template int32_t TextLine::number_in(std::string_view, const std::string&) const;
template uint32_t TextLine::number_in(std::string_view, const std::string&) const;
template int64_t TextLine::number_in(std::string_view, const std::string&) const;
template uint64_t TextLine::number_in(std::string_view, const std::string&) const;
template float TextLine::number_in(std::string_view, const std::string&) const;
template std::vector<int32_t> TextLine::numbers_in(std::string_view, const std::string&) const;
template std::vector<int64_t> TextLine::numbers_in(std::string_view, const std::string&) const;
template std::vector<float> TextLine::numbers_in(std::string_view, const std::string&) const;

uint64_t TextLine::number(const std::string& what, uint64_t most) {
    const auto value = number_in<uint64_t>(word(what), what);
    if (value > most) fail(what, "at most " + std::to_string(most), std::to_string(value));
    return value;
}

std::vector<TensorId> TextLine::ids_in(std::string_view text, const std::string& what,
                                       size_t count) const {
    std::vector<TensorId> ids;
    for (const std::string_view part : split(text)) {
        if (!part.starts_with('%')) fail(what, "tensors as in %3,%4", shown(text));
        const auto id = number_in<TensorId>(part.substr(1), what);
        if (id >= count) fail(what, "a tensor of the lines above", std::string(part));
        ids.push_back(id);
    }
    return ids;
}

std::vector<TensorId> TextLine::ids(const std::string& what, size_t count) {
    return ids_in(word(what), what, count);
}

std::map<std::string, std::string, std::less<>> TextLine::pairs() {
    std::map<std::string, std::string, std::less<>> found;
    for (skip_spaces(); !rest_.empty(); skip_spaces()) {
        const size_t equals = std::min({rest_.find('='), rest_.find(' '), rest_.size()});
        const std::string key(rest_.substr(0, equals));
        if (equals == 0 || equals == rest_.size() || rest_[equals] != '=')
            fail("key", "key=value", shown(rest_));
        rest_.remove_prefix(equals + 1);
        const std::string value = rest_.starts_with('"') ? quoted(key) : word(key);
        if (!found.emplace(key, value).second) fail(key, "the key once", "it twice");
    }
    return found;
}

void TextLine::end() {
    skip_spaces();
    if (!rest_.empty()) fail("line", "its end", shown(rest_));
}

}  // namespace tandem::compiler
