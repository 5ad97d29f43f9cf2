// SPDX-License-Identifier: Apache-2.0
// The parameters of one module while it is constructed, and as long as it exists. Namespace
// tandem::api is what leaves the library; this does not.
#pragma once

#include <string>
#include <vector>

#include "tandem/parameters.h"

namespace tandem::modules {

class ParameterScope {
  public:
    /// `module` is its hierarchical name.
    explicit ParameterScope(std::string module);
    ~ParameterScope();
    ParameterScope(const ParameterScope&) = delete;
    ParameterScope& operator=(const ParameterScope&) = delete;

    /// The preset of a parameter, or its default.
    std::string take(const std::string& path, const std::string& default_value,
                     const std::string& unit, const std::string& description);
    /// The preset of a parameter that add() will enter in the list; null: there is none.
    const std::string* preset(const std::string& path) const;
    void add(const std::string& path, api::Parameter parameter);
    /// Throws UserError for presets of this module that nobody has taken.
    void refuse_unknown() const;

    const std::string& module() const { return module_; }
    std::string full_name(const std::string& path) const { return module_ + "." + path; }

  private:
    std::string module_;
};

}  // namespace tandem::modules
