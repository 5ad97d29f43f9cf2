// SPDX-License-Identifier: Apache-2.0
// What is fuzzed: the readers of everything that a user hands to Tandem.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/support/seeded.h"

namespace tandem::fuzz {

using Bytes = std::vector<uint8_t>;

struct Target {
    std::string name;
    std::string extension;                        ///< of its files, with the dot
    bool text = false;                            ///< changed line by line, too
    std::vector<std::string> words{};             ///< that mean something to it
    std::function<std::vector<Bytes>()> seeds{};  ///< beside the corpus
    /// Changes that keep the form, in half of all inputs; empty: there are none.
    std::function<void(Bytes&, testbench::Seeded&)> change{};
    /// Reads the bytes and does with what is accepted what a command would. Returns a few words on
    /// it. Throws UserError for what is refused; anything else is a fault. Empty: a command alone.
    std::function<std::string(const Bytes&)> run{};
    /// Words after "tandem" that read the same; "FILE" is a file with the bytes, "TEXT" the bytes,
    /// "LINES" a word for each line. Empty: no command takes it alone.
    std::vector<std::string> command{};
    bool may_take_long = false;  ///< the command; then it is ended, and all is well
};

const std::vector<Target>& targets();

// Of the files beside this one.
Target model_target();
Target onnx_target();
Target onnx_tensor_target();
Target dump_target();
Target program_target();
Target chip_target();
Target set_target();
Target table_target();
Target application_target();
Target filelist_target();
Target declaration_target();
Target injection_target();
Target stream_target();
Target arrays_target();
Target tensor_target();
Target options_target();
Target capi_target();
Target gdb_target();

/// What Tandem itself did must hold; thrown where it does not.
class Broken : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};
inline void require(bool holds, const std::string& what) {
    if (!holds) throw Broken(what);
}

std::string text_of(const Bytes& bytes);
Bytes bytes_of(std::string_view text);
Bytes read(const std::filesystem::path& file);
void write(const std::filesystem::path& file, const Bytes& bytes);

/// The project's sources: TANDEM_SOURCE_DIR, or where the program was started.
std::filesystem::path source_dir();
/// A folder of this process, removed by main().
const std::filesystem::path& scratch();
/// The bytes in a file of the scratch folder.
std::filesystem::path scratch_file(const std::string& name, const Bytes& bytes);

}  // namespace tandem::fuzz
