// SPDX-License-Identifier: Apache-2.0
// Files that a command is about to write: looked at before any work is done.
#pragma once

#include <string>
#include <vector>

namespace tandem::tools {

struct NamedFile {
    std::string option;  ///< by which the user gave it
    std::string path;    ///< empty: not given
};

/// Throws UserError when an output is an input or another output, or cannot be written. Leaves no
/// file behind that was not there.
void check_output_files(const std::vector<NamedFile>& outputs,
                        const std::vector<NamedFile>& inputs);

}  // namespace tandem::tools
