// SPDX-License-Identifier: Apache-2.0
#include "tools/model_file.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <new>

#include "arch/error.h"
#include "arch/file.h"
#include "compiler/compile.h"
#include "compiler/tflite/tflite_import.h"

namespace tandem::tools {
namespace {

// Header of a .npy file: magic, version, length, a Python dictionary in text form, then the
// elements.
std::vector<uint8_t> npy_elements(const std::vector<uint8_t>& bytes, const std::string& file) {
    constexpr size_t kFixed = 10;
    if (bytes.size() < kFixed || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
        throw UserError(file, "header", "a NumPy file", "another kind of file");
    if (bytes[6] != 1)
        throw UserError(file, "header", "NumPy format version 1", std::to_string(bytes[6]));
    const size_t length = bytes[8] | size_t{bytes[9]} << 8;
    if (length > bytes.size() - kFixed)
        throw UserError(file, "header", std::to_string(length) + " bytes", "a truncated file");
    const std::string header(bytes.begin() + kFixed,
                             bytes.begin() + static_cast<ptrdiff_t>(kFixed + length));
    if (header.find("'|i1'") == std::string::npos && header.find("'|u1'") == std::string::npos)
        throw UserError(file, "dtype", "int8 ('|i1') or uint8 ('|u1')", header);
    if (header.find("'fortran_order': False") == std::string::npos)
        throw UserError(file, "order", "row-major elements (fortran_order False)", header);
    return {bytes.begin() + static_cast<ptrdiff_t>(kFixed + length), bytes.end()};
}

}  // namespace

arch::Program load_program(const std::string& model, const arch::ChipConfig& chip,
                           const ModelOptions& options) {
    const auto extension = std::filesystem::path(model).extension();
    if (extension == ".tpu") {
        auto program = arch::read_program(model);
        arch::require_int8_array(chip, model);
        if (program.hash != chip.hash())
            throw UserError(
                model, "chip", fmt::format("{} (hash {:016x})", chip.name, chip.hash()),
                fmt::format("a program for {} (hash {:016x}); compile the model for this chip",
                            program.chip, program.hash));
        return program;
    }
    if (extension != ".tflite")
        throw UserError(model, "model format", "a .tflite or .tpu file",
                        "\"" + extension.string() + "\"");
    compiler::CompileOptions compile;
    compile.batch = options.batch;
    compile.rounding = options.rounding == "gemmlowp" ? numerics::Rounding::kGemmlowp
                                                      : numerics::Rounding::kSingle;
    return compiler::compile(compiler::import_tflite(model), chip, compile);
}

std::vector<uint8_t> read_tensor_file(const std::string& file) {
    const auto extension = std::filesystem::path(file).extension();
    if (extension != ".bin" && extension != ".npy")
        throw UserError(file, "tensor format", "a .bin or .npy file",
                        "\"" + extension.string() + "\"");
    auto bytes = arch::read_file(file);
    return extension == ".npy" ? npy_elements(bytes, file) : bytes;
}

}  // namespace tandem::tools
