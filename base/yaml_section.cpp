// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"

namespace tandem::base {
namespace {

std::string kind(const YAML::Node& node) {
    if (node.IsSequence()) return "a list";
    if (node.IsMap()) return "a mapping";
    return node.IsScalar() ? '"' + node.as<std::string>() + '"' : "nothing";
}

}  // namespace

YAML::Node load_yaml(const std::filesystem::path& file) {
    const std::vector<uint8_t> bytes = read_file(file);
    try {
        return YAML::Load(std::string(bytes.begin(), bytes.end()));
    } catch (const YAML::Exception& error) {
        throw UserError(file.string(), fmt::format("line {}", error.mark.line + 1),
                        "well-formed YAML", error.msg);
    }
}

YamlSection::YamlSection(std::string file, std::string path, const YAML::Node& node,
                         std::vector<std::string> known)
    : file_(std::move(file)), path_(std::move(path)), node_(node), known_(std::move(known)) {
    if (!node_.IsMap())
        throw UserError(file_, path_.empty() ? "top level" : path_, "a mapping", kind(node_));
    std::set<std::string> keys;
    for (const auto& entry : node_) {
        if (!entry.first.IsScalar())
            throw UserError(file_, fmt::format("line {}", entry.first.Mark().line + 1),
                            "a key that is a text", kind(entry.first));
        const auto key = entry.first.as<std::string>();
        if (std::find(known_.begin(), known_.end(), key) == known_.end())
            fail(key,
                 fmt::format("one of: {}{}", fmt::join(known_, ", "), nearest_hint(key, known_)),
                 "an unknown key");
        if (!keys.insert(key).second) fail(key, "the key once", "the key twice");
    }
}

std::string YamlSection::text(const std::string& key) const {
    const YAML::Node node = value(key);
    if (!node.IsScalar()) fail(key, "a text", kind(node));
    return node.as<std::string>();
}

uint64_t YamlSection::number(const std::string& key, Dimension dimension, uint64_t low,
                             uint64_t high) const {
    return quantity_between(
        text(key), dimension, low, high,
        [&](const std::string& expected, const std::string& found) { fail(key, expected, found); });
}

uint32_t YamlSection::count(const std::string& key, uint32_t low, uint32_t high,
                            Dimension dimension) const {
    return static_cast<uint32_t>(number(key, dimension, low, high));
}

int64_t YamlSection::integer(const std::string& key, int64_t low, int64_t high) const {
    const std::string found = text(key);
    const char* const last = found.data() + found.size();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), last, value);
    if (error != std::errc{} || end != last || value < low || value > high)
        fail(key, fmt::format("a whole number from {} to {}", low, high), '"' + found + '"');
    return value;
}

bool YamlSection::flag(const std::string& key) const {
    const std::string found = text(key);
    if (found != "true" && found != "false") fail(key, "true or false", '"' + found + '"');
    return found == "true";
}

std::vector<std::string> YamlSection::list(const std::string& key,
                                           const std::string& expected) const {
    const YAML::Node node = child(key);
    if (!node.IsSequence() || node.size() == 0) fail(key, "a list of " + expected, kind(node));
    std::vector<std::string> texts;
    for (const auto& entry : node) {
        if (!entry.IsScalar()) fail(key, expected, kind(entry));
        texts.push_back(entry.as<std::string>());
    }
    return texts;
}

YamlSection YamlSection::section(const std::string& key, std::vector<std::string> known) const {
    return YamlSection(file_, path_of(key), child(key), std::move(known));
}

std::string YamlSection::where(const std::string& key) const {
    // Where the key stands, or else where the mapping begins.
    YAML::Mark mark = node_.Mark();
    for (const auto& entry : node_)
        if (entry.first.IsScalar() && entry.first.as<std::string>() == key)
            mark = entry.first.Mark();
    return path_of(key) + (mark.is_null() ? "" : fmt::format(" (line {})", mark.line + 1));
}

void YamlSection::fail(const std::string& key, const std::string& expected,
                       const std::string& found) const {
    throw UserError(file_, where(key), expected, found);
}

YAML::Node YamlSection::child(const std::string& key) const {
    const YAML::Node node = node_[key];
    if (!node) fail(key, "the key", "nothing");
    return node;
}

YAML::Node YamlSection::value(const std::string& key) const {
    const YAML::Node node = child(key);
    if (!node.IsMap()) return node;
    return YamlSection(file_, path_of(key), node, {"value", "source", "note"}).child("value");
}

}  // namespace tandem::base
