// SPDX-License-Identifier: Apache-2.0
#include "tools/output_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace tandem::tools {
namespace {

namespace fs = std::filesystem;

/// A device may well be given twice.
bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (fs::exists(a, error) && !fs::is_regular_file(a, error)) return false;
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

/// Empty: it can be written. Leaves no file behind that was not there.
std::string why_not_writable(const std::string& path) {
    std::error_code error;
    const bool exists = fs::exists(path, error);
    if (!std::ofstream(path, std::ios::app)) return std::strerror(errno);
    if (!exists) fs::remove(path, error);
    return {};
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
        if (const std::string reason = why_not_writable(output.path); !reason.empty())
            throw UserError(
                fmt::format("{}: {} cannot be written: {}", output.option, output.path, reason));
        others.push_back(output);
    }
}

}  // namespace tandem::tools
