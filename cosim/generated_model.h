// SPDX-License-Identifier: Apache-2.0
// What Verilator made of a top module: its ports, and the members of the model class.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>

namespace tandem::cosim {

class GeneratedModel {
  public:
    struct Port {
        std::string direction;  ///< input, output, inout
        unsigned bits;
    };
    struct Member {
        unsigned bits;
        unsigned elements;  ///< of an array; 0: no array
    };

    /// Reads PREFIX.h and PREFIX___024root.h in `folder`.
    GeneratedModel(const std::filesystem::path& folder, const std::string& prefix);

    const std::map<std::string, Port>& ports() const { return ports_; }
    /// Null: there is none of this name, perhaps because it was optimised away.
    const Member* find(const std::string& name) const;
    /// After a register was written from outside, this model can recompute what depends on it.
    bool settles() const { return settles_; }

  private:
    std::map<std::string, Port> ports_;
    std::unordered_map<std::string, Member> members_;
    bool settles_ = false;
};

}  // namespace tandem::cosim
