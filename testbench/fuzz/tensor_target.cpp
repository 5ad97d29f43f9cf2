// SPDX-License-Identifier: Apache-2.0
// Values from files (.npy).
#include "base/error.h"
#include "jobs/model_file.h"
#include "testbench/fuzz/target.h"

namespace tandem::fuzz {
namespace {

Bytes npy(const std::string& type, const std::string& shape, size_t bytes) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    while ((header.size() + 11) % 64 != 0) header += ' ';
    header += '\n';
    std::string text = "\x93NUMPY";
    text += '\x01';
    text += '\0';
    text += static_cast<char>(header.size() & 0xff);
    text += static_cast<char>(header.size() >> 8);
    return bytes_of(text + header + std::string(bytes, '\x05'));
}

}  // namespace

Target tensor_target() {
    return {
        .name = "tensor",
        .extension = ".npy",
        .text = false,
        .words = {"'descr'", "'fortran_order': True", "'shape': ()", "|i1", "<f4", "|u1", "<i8"},
        .seeds =
            [] {
                return std::vector<Bytes>{npy("|i1", "(2, 256)", 512), npy("<f4", "(1, 4)", 16),
                                          npy("|u1", "(256,)", 256)};
            },
        .change = {},
        .run =
            [](const Bytes& bytes) {
                const auto file = scratch_file("tensor.npy", bytes).string();
                const auto read_as = [&](const std::string& type) {
                    const auto values = jobs::read_tensor_file(file, type);
                    require(values.size() <= bytes.size(), "more values than bytes");
                };
                try {
                    read_as("FLOAT32");
                } catch (const UserError&) {
                    read_as("INT8");
                }
                return std::string("values");
            },
        .command = {"run", (source_dir() / "models/digits/digits_int8.tflite").string(), "--chip",
                    "test_16x16", "--mode", "timing", "--host", "native", "--input", "FILE"}};
}

}  // namespace tandem::fuzz
