// SPDX-License-Identifier: Apache-2.0
// A node of a file, as far as what is made of it has to know it.
#pragma once

#include <string>

#include "base/error.h"
#include "base/terminal.h"

namespace tandem::compiler {

class SourceNode {
  public:
    explicit SourceNode(const std::string& file) : file_(file) {}
    virtual ~SourceNode() = default;

    /// "node 3 (Conv 'name')".
    virtual std::string text() const = 0;
    virtual bool has_output(int i) const = 0;
    /// The value's name.
    virtual const std::string& output(int i) const = 0;
    /// Throws UserError.
    [[noreturn]] void fail(const std::string& what, const std::string& expected,
                           const std::string& found) const {
        throw UserError(file_, text() + ": " + base::printable(what), expected,
                        base::printable(found));
    }

  protected:
    const std::string& file_;
};

}  // namespace tandem::compiler
