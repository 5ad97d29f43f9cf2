// SPDX-License-Identifier: Apache-2.0
// A JSON value against a schema of docs/: the part of JSON Schema 2020-12 that these schemas use. A
// keyword that is not known here is a logic_error, so that no rule of a schema goes unread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace tandem::testbench {

class JsonSchema {
  public:
    explicit JsonSchema(nlohmann::json root) : root_(std::move(root)) {}

    /// What does not fit, one line each; empty: all does.
    std::string mistakes(const nlohmann::json& value) {
        text_.clear();
        check(value, root_, "$");
        return text_;
    }

  private:
    using json = nlohmann::json;

    static inline const std::set<std::string> kOfObjects = {
        "required", "properties", "minProperties", "propertyNames", "additionalProperties"};
    /// For people, or read with the keyword that they belong to.
    static inline const std::set<std::string> kRemarks = {"$schema",     "$defs", "title",
                                                          "description", "then",  "else"};

    void mistake(const std::string& where, const std::string& what) {
        text_ += where + ": " + what + "\n";
    }
    static bool is(const json& value, const std::string& type) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        if (type == "boolean") return value.is_boolean();
        if (type == "null") return value.is_null();
        throw std::logic_error("schema: type " + type);
    }
    static bool matches(const std::string& text, const json& pattern) {
        return std::regex_search(text, std::regex(pattern.get<std::string>()));
    }
    bool fits(const json& value, const json& schema) const {
        JsonSchema quiet(root_);
        quiet.check(value, schema, "");
        return quiet.text_.empty();
    }

    void check(const json& value, const json& schema, const std::string& where) {
        for (const auto& [key, rule] : schema.items()) {
            if (key == "$ref") {
                check(value, root_.at(json::json_pointer(rule.get<std::string>().substr(1))),
                      where);
            } else if (key == "type") {
                bool any = false;
                for (const json& type : rule.is_array() ? rule : json::array({rule}))
                    any = any || is(value, type.get<std::string>());
                if (!any) mistake(where, "is no " + rule.dump() + " but " + value.dump());
            } else if (key == "const") {
                if (value != rule) mistake(where, value.dump() + " is not " + rule.dump());
            } else if (key == "enum") {
                if (std::find(rule.begin(), rule.end(), value) == rule.end())
                    mistake(where, value.dump() + " is none of " + rule.dump());
            } else if (key == "minimum") {
                if (value.is_number() && value < rule) mistake(where, "is below " + rule.dump());
            } else if (key == "maximum") {
                if (value.is_number() && value > rule) mistake(where, "is above " + rule.dump());
            } else if (key == "pattern") {
                if (value.is_string() && !matches(value.get<std::string>(), rule))
                    mistake(where, value.dump() + " does not match " + rule.dump());
            } else if (key == "if") {
                const char* branch = fits(value, rule) ? "then" : "else";
                if (schema.contains(branch)) check(value, schema.at(branch), where);
            } else if (key == "items") {
                for (size_t i = 0; value.is_array() && i < value.size(); ++i)
                    check(value[i], rule, where + "[" + std::to_string(i) + "]");
            } else if (kOfObjects.contains(key)) {
                if (value.is_object()) check_object(value, schema, key, rule, where);
            } else if (!kRemarks.contains(key)) {
                throw std::logic_error("schema: keyword " + key);
            }
        }
    }

    void check_object(const json& value, const json& schema, const std::string& key,
                      const json& rule, const std::string& where) {
        if (key == "required") {
            for (const json& name : rule)
                if (!value.contains(name.get<std::string>()))
                    mistake(where, "has no " + name.get<std::string>());
        } else if (key == "properties") {
            for (const auto& [name, of] : rule.items())
                if (value.contains(name)) check(value[name], of, where + "." + name);
        } else if (key == "minProperties") {
            if (value.size() < rule.get<size_t>()) mistake(where, "has too few keys");
        } else if (key == "propertyNames") {
            for (const auto& [name, of] : value.items())
                if (!matches(name, rule.at("pattern"))) mistake(where, "has a key " + name);
        } else if (key == "additionalProperties") {
            for (const auto& [name, of] : value.items()) {
                if (schema.contains("properties") && schema["properties"].contains(name)) continue;
                if (rule.is_object()) check(of, rule, where + "." + name);
                if (rule == false) mistake(where, "has an unknown key " + name);
            }
        }
    }

    const json root_;
    std::string text_;
};

}  // namespace tandem::testbench
