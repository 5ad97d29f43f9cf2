// SPDX-License-Identifier: Apache-2.0
// A node of a file, as far as what is made of it has to know it.
#pragma once

#include <string>

namespace tandem::compiler {

class SourceNode {
  public:
    virtual ~SourceNode() = default;

    /// "node 3 (Conv 'name')".
    virtual std::string text() const = 0;
    virtual bool has_output(int i) const = 0;
    /// The value's name.
    virtual const std::string& output(int i) const = 0;
    /// Throws UserError.
    [[noreturn]] virtual void fail(const std::string& what, const std::string& expected,
                                   const std::string& found) const = 0;
};

}  // namespace tandem::compiler
