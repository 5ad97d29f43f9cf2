// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace tandem::base {

std::vector<uint8_t> read_file(const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw UserError(file.string(), "path", "a file", "a directory");
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) throw UserError(file.string() + ": cannot be read: " + std::strerror(errno));
    std::vector<uint8_t> bytes(static_cast<size_t>(in.tellg()));
    in.seekg(0);
    if (!bytes.empty() &&
        !in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
        throw UserError(file.string() + ": cannot be read to its end");
    return bytes;
}

void write_file(const std::filesystem::path& file, const std::vector<uint8_t>& bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) throw UserError(file.string() + ": cannot be written: " + std::strerror(errno));
}

}  // namespace tandem::base
