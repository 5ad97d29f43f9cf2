// SPDX-License-Identifier: Apache-2.0
// A file that stands there whole, or not at all: what was there before stays until everything is
// written. Devices, pipes and what /dev and /proc name are written in place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::base {

class OutputFile {
  public:
    /// Throws UserError "PATH: cannot be written: REASON".
    explicit OutputFile(const std::filesystem::path& path);
    /// Without commit() nothing is left of it.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Never throws: what goes wrong is told by commit().
    void write(std::string_view bytes);
    /// The file takes its place. Throws UserError when some of it could not be written.
    void commit();

  private:
    void open_beside();
    void flush();
    /// Gives a part without a name one in the same folder.
    bool name_part();
    [[noreturn]] void fail() const;

    const std::filesystem::path path_;
    std::filesystem::path target_;  ///< behind symbolic links
    std::filesystem::path part_;    ///< empty: has no name, or is the file itself
    bool in_place_ = false;
    int file_ = -1;
    int error_ = 0;  ///< the first one
    std::string buffer_;
};

/// Whole files. Throw UserError when they cannot be written completely.
void write_file(const std::filesystem::path& file, std::string_view text);
void write_file(const std::filesystem::path& file, const std::vector<uint8_t>& bytes);

/// A device, a pipe, what /dev and /proc name: what was written there stays.
bool is_written_in_place(const std::filesystem::path& file);

/// Empty: it can be written. Writes nothing.
std::string why_not_writable(const std::filesystem::path& file);

/// Of a file that a library writes by name: under this one, until it is whole.
std::filesystem::path part_of(const std::filesystem::path& file);
/// It is: takes the place of `file`. False: it cannot.
bool take_place(const std::filesystem::path& file);

}  // namespace tandem::base
