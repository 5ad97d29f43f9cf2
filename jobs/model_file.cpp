// SPDX-License-Identifier: Apache-2.0
#include "jobs/model_file.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <new>

#include "arch/bf16.h"
#include "arch/chip_modes.h"
#include "arch/program_check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/terminal.h"
#include "compiler/graph/array_type.h"
#include "compiler/import/import.h"
#include "compiler/import/onnx/onnx_import.h"
#include "jobs/chip_for.h"
#include "run/graph_run.h"

namespace tandem::jobs {
namespace {

// Header of a .npy file: magic, version, length, a Python dictionary in text form, then the
// elements.
std::vector<uint8_t> npy_elements(const std::vector<uint8_t>& bytes, const std::string& file,
                                  const std::string& type) {
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
    const auto has = [&](const char* dtype) { return header.find(dtype) != std::string::npos; };
    const bool right = type == "FLOAT32" ? has("'<f4'")
                       : type == "INT32" ? has("'<i4'")
                                         : has("'|i1'") || has("'|u1'");
    if (!right)
        throw UserError(file, "dtype",
                        type == "FLOAT32" ? "float32 ('<f4')"
                        : type == "INT32" ? "int32 ('<i4')"
                                          : "int8 ('|i1') or uint8 ('|u1')",
                        header);
    if (header.find("'fortran_order': False") == std::string::npos)
        throw UserError(file, "order", "row-major elements (fortran_order False)", header);
    return {bytes.begin() + static_cast<ptrdiff_t>(kFixed + length), bytes.end()};
}

/// Real numbers as FLOAT32 or, rounded, BFLOAT16; integers as INT32 or INT8.
std::vector<uint8_t> onnx_elements(const std::string& file, const std::string& type) {
    const compiler::Tensor tensor = compiler::read_onnx_tensor(file, type == "FLOAT32");
    const bool is_float = tensor.type == compiler::ElementType::kFloat32;
    if (is_float != (type == "FLOAT32" || type == "BFLOAT16"))
        throw UserError(file, "type", type, is_float ? "real numbers" : "integers");
    if (type == "FLOAT32") return tensor.bytes();
    const bool wide = type == "INT32";
    const int64_t least = wide ? INT32_MIN : INT8_MIN, most = wide ? INT32_MAX : INT8_MAX;
    std::vector<uint8_t> bytes;
    for (size_t at = 0; !is_float && at < tensor.bytes().size(); at += sizeof(int64_t)) {
        int64_t value = 0;
        std::memcpy(&value, tensor.bytes().data() + at, sizeof value);
        if (value < least || value > most)
            throw UserError(file, "values", "integers of " + type, std::to_string(value));
        bytes.insert(bytes.end(), tensor.bytes().begin() + static_cast<ptrdiff_t>(at),
                     tensor.bytes().begin() + static_cast<ptrdiff_t>(at) + (wide ? 4 : 1));
    }
    for (size_t at = 0; is_float && at < tensor.bytes().size(); at += sizeof(float)) {
        uint32_t word = 0;
        std::memcpy(&word, tensor.bytes().data() + at, sizeof word);
        const uint16_t narrow = bf16::narrow(word);
        bytes.insert(bytes.end(),
                     {static_cast<uint8_t>(narrow), static_cast<uint8_t>(narrow >> 8)});
    }
    return bytes;
}

compiler::Precision precision_of(const std::string& name) {
    return name == "fp32"     ? compiler::Precision::kFp32
           : name == "fp32x3" ? compiler::Precision::kFp32x3
                              : compiler::Precision::kBf16;
}

/// How a model of another kind becomes one of ours; with a leading "; ", or nothing.
std::string conversion_of(const std::string& extension) {
    constexpr std::string_view kAsInt8 =
        "; quantised to int8 it runs on every chip with int8, in float on those with bf16";
    for (const char* keras : {".h5", ".keras", ".pb"})
        if (extension == keras)
            return fmt::format("; convert it with tf.lite.TFLiteConverter{}", kAsInt8);
    for (const char* torch : {".pt", ".pth", ".pt2", ".safetensors"})
        if (extension == torch)
            return fmt::format(
                "; convert it to TensorFlow Lite (for instance with ai-edge-torch, or by ONNX and "
                "onnx2tf){}",
                kAsInt8);
    return "";
}

}  // namespace

numerics::Rounding rounding_of(const ModelOptions& options) {
    return options.rounding == "gemmlowp" ? numerics::Rounding::kGemmlowp
                                          : numerics::Rounding::kSingle;
}

std::string name_of(compiler::PlanMode plan) {
    return plan == compiler::PlanMode::kRules ? "rules" : "search";
}

bool is_list(const std::string& model) {
    return model.ends_with(".csv") || model.ends_with(".yaml") || model.ends_with(".yml");
}

bool is_program(const std::string& model) { return model.ends_with(".tpu"); }

LoadedProgram load_program(const std::string& model, const arch::ChipConfig& chip) {
    auto program = arch::read_program(model);
    for (const arch::ChipConfig& mode : arch::modes(chip)) {
        if (program.chip_hash != mode.hash()) continue;
        arch::check_program(mode, program, model);
        return {std::move(program), mode};
    }
    throw UserError(model, "chip figures", fmt::format("{} (hash {:016x})", chip.name, chip.hash()),
                    fmt::format("a program for {} (hash {:016x}); compile the model for this chip",
                                program.chip, program.chip_hash));
}

LoadedGraph load_graph(const std::string& model, const arch::ChipConfig& chip,
                       const ModelOptions& options, const std::string& dtype) {
    const auto extension = std::filesystem::path(model).extension();
    const bool list = is_list(model);
    if (!list && extension != ".tflite" && extension != ".onnx" && extension != ".tgraph")
        throw UserError(model, "model format",
                        "a .tflite, .onnx, .tgraph, .tpu, .csv or .yaml file",
                        "\"" + extension.string() + "\"" + conversion_of(extension.string()));
    if (!list && !dtype.empty())
        throw UserError(model, "--dtype", "a list of layers (.csv, .yaml)",
                        "a model, which has its elements' type");
    const arch::Dtype list_type = arch::parse_dtype(dtype).value_or(chip.mxu.dtype);
    const auto list_chip = list ? chip_for(chip, list_type, model, "--dtype " + dtype) : chip;
    std::vector<size_t> dropped;
    auto graph = compiler::import_model(
        model, {.batch = list ? options.batch : 1,
                .list_type = run::element_type_of(list_chip),
                .precision = precision_of(options.precision),
                .given = options.given,
                .drop = [&](size_t input) { dropped.push_back(input); },
                .note = [](const std::string& note) { base::tell("tandem: note: {}\n", note); }});
    if (list) return {std::move(graph), list_chip};
    const auto type = compiler::array_type(graph).value_or(chip.mxu.dtype);
    return {std::move(graph), chip_for(chip, type, model), std::move(dropped)};
}

std::vector<uint8_t> read_tensor_file(const std::string& file, const std::string& type) {
    const auto extension = std::filesystem::path(file).extension();
    if (extension == ".pb") return onnx_elements(file, type);
    if (extension != ".bin" && extension != ".npy")
        throw UserError(file, "tensor format", "a .bin, .npy or .pb file",
                        "\"" + extension.string() + "\"");
    auto bytes = base::read_file(file);
    return extension == ".npy" ? npy_elements(bytes, file, type) : bytes;
}

}  // namespace tandem::jobs
