// SPDX-License-Identifier: Apache-2.0
// Parameters of Tandem's SystemC modules by hierarchical name, "tpu.mxu.rows": presets before the
// modules are constructed, a list of all of them afterwards. The form of a CCI broker
// (docs/recipes/parameters_and_cci.md).
#ifndef TANDEM_PARAMETERS_H
#define TANDEM_PARAMETERS_H

#include <string>
#include <vector>

namespace tandem::api {

/// One parameter of a module that exists. A module reads its parameters once, when it is
/// constructed: all are immutable from then on.
struct Parameter {
    std::string name;           ///< of the module, a dot, of the parameter
    std::string value;          ///< as a preset writes it: "16", "700 MHz", "true"
    std::string default_value;  ///< without a preset: what the constructor or the chip file says
    std::string unit;           ///< units that a value may have, smallest first; empty: none
    std::string description;    ///< one line
    bool is_preset = false;     ///< the value comes from a preset
    bool is_immutable = true;
};

class Parameters {
  public:
    /// For a module that is yet to be constructed; it takes the place of what its constructor is
    /// given. Throws std::runtime_error when a module of that name exists already. A value or name
    /// that the module does not know is refused by its constructor.
    void set_preset(const std::string& name, const std::string& value);
    /// Of all modules, in the order of construction.
    std::vector<Parameter> list() const;
    /// Presets that no module has asked for: of modules that do not exist (yet).
    std::vector<std::string> unused_presets() const;
    /// list() as a table: name, value, default where it differs, unit, description.
    std::string table() const;
};

/// Those of the process.
Parameters& parameters();

}  // namespace tandem::api

#endif
