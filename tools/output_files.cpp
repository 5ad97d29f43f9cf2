// SPDX-License-Identifier: Apache-2.0
#include "tools/output_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/output_file.h"

namespace tandem::tools {
namespace {

namespace fs = std::filesystem;

/// A device may well be given twice.
bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (fs::exists(a, error) && !fs::is_regular_file(a, error)) return false;
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

}  // namespace

void check_output_files(const std::vector<NamedFile>& outputs,
                        const std::vector<NamedFile>& inputs) {
    std::vector<NamedFile> others = inputs;
    for (const NamedFile& output : outputs) {
        if (output.path.empty()) continue;
        for (const NamedFile& other : others)
            if (!other.path.empty() && is_same_file(output.path, other.path))
                throw UserError(output.option, "file", "another one than that of " + other.option,
                                output.path);
        if (const std::string reason = base::why_not_writable(output.path); !reason.empty())
            throw UserError(
                fmt::format("{}: {} cannot be written: {}", output.option, output.path, reason));
        others.push_back(output);
    }
}

}  // namespace tandem::tools
