// SPDX-License-Identifier: Apache-2.0
// Where tests find the files of the repository, and room for files of their own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tandem::testbench {

inline std::filesystem::path source_dir() {
    const char* const directory = std::getenv("TANDEM_SOURCE_DIR");
    return directory != nullptr ? directory : ".";
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
