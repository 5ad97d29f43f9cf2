// SPDX-License-Identifier: Apache-2.0
// Reading a YAML file strictly: a key that nobody knows, that is missing or that stands twice is
// the user's mistake, and is told with file, key, line, what was expected and what was found.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/quantity.h"

namespace tandem::base {

/// Throws UserError when the file cannot be read or is no YAML.
YAML::Node load_yaml(const std::filesystem::path& file);

/// One mapping of a file. All functions throw UserError.
class YamlSection {
  public:
    /// `known` are the keys that it may have; it must have those that are read.
    YamlSection(std::string file, std::string path, const YAML::Node& node,
                std::vector<std::string> known);

    std::string text(const std::string& key) const;
    /// A number with a unit, in the unit of its dimension.
    uint64_t number(const std::string& key, Dimension dimension, uint64_t low, uint64_t high) const;
    uint32_t count(const std::string& key, uint32_t low, uint32_t high,
                   Dimension dimension = Dimension::kPlain) const;
    /// A number that may be negative.
    int64_t integer(const std::string& key, int64_t low, int64_t high) const;
    bool flag(const std::string& key) const;
    /// A list of texts, at least one; `expected` says of what.
    std::vector<std::string> list(const std::string& key, const std::string& expected) const;
    YamlSection section(const std::string& key, std::vector<std::string> known) const;

    /// Some keys may be left out.
    bool has(const std::string& key) const { return static_cast<bool>(node_[key]); }
    bool is_mapping(const std::string& key) const { return has(key) && node_[key].IsMap(); }

    /// For messages: path and line of the key, or of the mapping that lacks it.
    std::string where(const std::string& key) const;
    [[noreturn]] void fail(const std::string& key, const std::string& expected,
                           const std::string& found) const;

  private:
    YAML::Node child(const std::string& key) const;
    /// A figure is a scalar, or a mapping {value, source, note} that says where it comes from.
    YAML::Node value(const std::string& key) const;
    std::string path_of(const std::string& key) const {
        return path_.empty() ? key : path_ + "." + key;
    }

    std::string file_;
    std::string path_;
    YAML::Node node_;
    std::vector<std::string> known_;
};

}  // namespace tandem::base
