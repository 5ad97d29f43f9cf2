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
    std::ifstream in(file, std::ios::binary);
    if (!in) throw UserError(file.string() + ": cannot be read: " + std::strerror(errno));
    // A pipe does not know its size.
    const auto size = std::filesystem::file_size(file, error);
    std::vector<uint8_t> bytes;
    if (!error) bytes.reserve(size);
    char piece[1 << 16];
    errno = 0;
    do {
        in.read(piece, sizeof piece);
        bytes.insert(bytes.end(), piece, piece + in.gcount());
    } while (in);
    if (in.bad())
        throw UserError(file.string() + ": cannot be read to its end: " + std::strerror(errno));
    return bytes;
}

std::string read_text(const std::filesystem::path& file) {
    const auto bytes = read_file(file);
    return {bytes.begin(), bytes.end()};
}

}  // namespace tandem::base
