// SPDX-License-Identifier: Apache-2.0
// .onnx and .pb: bytes, and models and tensors changed as messages, which protobuf lets through.
#include <onnx/onnx_pb.h>

#include <cstdlib>

#include "base/error.h"
#include "compiler/graph/narrow.h"
#include "compiler/import/onnx/onnx_import.h"
#include "jobs/model_file.h"
#include "testbench/compiler/tiny_onnx.h"
#include "testbench/fuzz/graphs.h"
#include "testbench/fuzz/messages.h"

namespace tandem::fuzz {
namespace {

using testbench::Seeded;
using testbench::TinyOnnx;
namespace fs = std::filesystem;

constexpr size_t kMostSeedBytes = 40'000;
constexpr const char* kBeside = "beside.bin";  ///< a file with values beside every model
constexpr size_t kBesideBytes = 256;

Bytes convolutions() {
    TinyOnnx m;
    m.input("x", {1, 3, 6, 5});
    m.constant("w1", {4, 3, 3, 3}, std::vector<float>(4 * 3 * 9, 0.5f));
    m.constant("b1", {1, 4, 1, 1}, {1, 2, -3, 4});
    m.constant("w2", {4, 1, 3, 3}, std::vector<float>(4 * 9, -0.25f));
    TinyOnnx::set(m.node("Conv", {"x", "w1"}, "c1"), "pads", {1, 1, 1, 1});
    m.node("Add", {"b1", "c1"}, "a1");
    m.node("Relu", {"a1"}, "r1");
    auto& depthwise = m.node("Conv", {"r1", "w2"}, "c2");
    TinyOnnx::set(depthwise, "group", 4);
    TinyOnnx::set(depthwise, "strides", {2, 1});
    auto& pool = m.node("MaxPool", {"c2"}, "p");
    TinyOnnx::set(pool, "kernel_shape", {2, 2});
    m.node("GlobalAveragePool", {"p"}, "g");
    TinyOnnx::set(m.node("Flatten", {"g"}, "f"), "axis", 1);
    m.constant("w3", {4, 3}, std::vector<float>(12, 0.125f));
    m.constant("b3", {3}, {1, 2, 3});
    m.node("Gemm", {"f", "w3", "b3"}, "y");
    m.output("y", {1, 3});
    return m.bytes();
}

Bytes products() {
    TinyOnnx m;
    m.input("a", {2, 3, 4});
    m.input("b", {2, 3, 4});
    TinyOnnx::set(m.node("Transpose", {"b"}, "t"), "perm", {0, 2, 1});
    m.node("MatMul", {"a", "t"}, "p");
    TinyOnnx::set(m.node("Softmax", {"p"}, "s"), "axis", 2);
    m.integers("shape", {2, -1});
    m.node("Reshape", {"s", "shape"}, "y");
    m.output("y", {2, 9});
    return m.bytes();
}

/// Values in raw bytes, of another node, and in another file.
Bytes constants() {
    TinyOnnx m;
    m.input("x", {1, 4});
    auto& raw = *m.graph().add_initializer();
    raw.set_name("raw");
    raw.set_data_type(onnx::TensorProto::FLOAT);
    raw.add_dims(4);
    raw.add_dims(4);
    raw.set_raw_data(std::string(64, '\x3f'));
    auto& value = *m.node("Constant", {}, "w2").add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    *value.mutable_t() = raw;
    auto& beside = *m.graph().add_initializer();
    beside = raw;
    beside.set_name("w3");
    beside.clear_raw_data();
    beside.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, text] :
         {std::pair{"location", kBeside}, {"offset", "64"}, {"length", "64"}}) {
        auto& entry = *beside.add_external_data();
        entry.set_key(key);
        entry.set_value(text);
    }
    m.node("MatMul", {"x", "raw"}, "p1");
    m.node("MatMul", {"p1", "w2"}, "p2");
    m.node("MatMul", {"p2", "w3"}, "y");
    m.output("y", {1, 4});
    return m.bytes();
}

std::vector<Bytes> models() {
    std::vector<Bytes> all{convolutions(), products(), constants()};
    if (const char* folder = std::getenv("TANDEM_MODELS"))
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".onnx" && entry.file_size() <= kMostSeedBytes)
                all.push_back(read(entry.path()));
    return all;
}

std::vector<Bytes> tensors() {
    onnx::TensorProto plain;
    plain.set_name("t");
    plain.set_data_type(onnx::TensorProto::FLOAT);
    plain.add_dims(2);
    plain.add_dims(3);
    onnx::TensorProto raw = plain, narrow = plain;
    for (int i = 0; i < 6; ++i) {
        plain.add_float_data(static_cast<float>(i));
        narrow.add_int32_data(i - 3);
    }
    raw.set_raw_data(std::string(24, '\x05'));
    narrow.set_data_type(onnx::TensorProto::INT8);
    return {bytes_of(plain.SerializeAsString()), bytes_of(raw.SerializeAsString()),
            bytes_of(narrow.SerializeAsString())};
}

/// Nothing where the bytes are no such message.
template <class Message>
void change_as(Bytes& bytes, Seeded& random) {
    Message message;
    if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    for (uint64_t i = 1 + random.below(3); i != 0; --i) change_message(message, random);
    bytes = bytes_of(message.SerializePartialAsString());
}

std::string import_and_use(const Bytes& bytes) {
    static const fs::path beside = scratch_file(kBeside, Bytes(kBesideBytes, 0x3e));
    return use_graph(compiler::narrow(compiler::import_onnx(scratch_file("model.onnx", bytes))),
                     "test_8x8_bf16");
}

std::string read_as_values(const Bytes& bytes) {
    // A message has at least one byte for each of its values.
    constexpr size_t kMostOfAByte = 4;
    const auto file = scratch_file("tensor.pb", bytes).string();
    for (const char* const type : {"INT8", "INT32", "BFLOAT16", "FLOAT32"}) {
        try {
            const auto values = jobs::read_tensor_file(file, type);
            require(values.size() <= kMostOfAByte * bytes.size(), "more values than bytes");
            return "values";
        } catch (const UserError&) {
            if (type == std::string_view("FLOAT32")) throw;
        }
    }
    return "";
}

}  // namespace

Target onnx_target() {
    return {.name = "onnx",
            .extension = ".onnx",
            .words = {"Conv", "Relu", "MatMul", "perm", "axis", "../beside.bin", "/dev/zero"},
            .seeds = models,
            .change = change_as<onnx::ModelProto>,
            .run = import_and_use,
            .command = {"run", "FILE", "--chip", "test_16x16_bf16", "--mode", "timing", "--host",
                        "native", "--plan", "rules", "--json", "report.json"}};
}

Target onnx_tensor_target() {
    return {
        .name = "onnx_tensor",
        .extension = ".pb",
        .seeds = tensors,
        .change = change_as<onnx::TensorProto>,
        .run = read_as_values,
        .command = {"run", (source_dir() / "models/digits/digits_int8.tflite").string(), "--chip",
                    "test_16x16", "--mode", "timing", "--host", "native", "--input", "FILE"}};
}

}  // namespace tandem::fuzz
