// SPDX-License-Identifier: Apache-2.0
// Where tests find the files of the repository, and room for files of their own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tandem::testbench {

/// Empty if the variable is not set.
inline std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

inline std::filesystem::path source_dir() {
    const std::string directory = environment("TANDEM_SOURCE_DIR");
    return directory.empty() ? "." : directory;
}

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

/// A file that is there as long as the object.
class ScratchFile {
  public:
    ScratchFile(const std::string& name, const std::string& content)
        : path_(std::filesystem::path(::testing::TempDir()) /
                (std::to_string(::getpid()) + "_" + name)) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~ScratchFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace tandem::testbench
