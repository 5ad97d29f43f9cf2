// SPDX-License-Identifier: Apache-2.0
// .tflite: bytes, and models changed as objects, which the flatbuffer's own checks let through.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "compiler/graph/narrow.h"
#include "compiler/import/tflite/tflite_import.h"
#include "testbench/compiler/tiny_model.h"
#include "testbench/fuzz/graphs.h"
#include "testbench/support/seeded.h"

namespace tandem::fuzz {
namespace {

using testbench::Seeded;
using testbench::TinyModel;
namespace fs = std::filesystem;

constexpr size_t kMostSeedBytes = 80'000;

/// The convolution's place is taken by another operator.
template <class Options>
Bytes with_operator(int8_t code, Options options, std::vector<int32_t> inputs,
                    std::vector<int32_t> out_shape) {
    TinyModel tiny;
    tiny.model.operator_codes[0]->deprecated_builtin_code = code;
    tiny.model.operator_codes[0]->builtin_code = code;
    tiny.op().inputs = std::move(inputs);
    tiny.op().builtin_options.Set(std::move(options));
    tiny.tensor(3).shape = std::move(out_shape);
    return tiny.bytes();
}

std::vector<Bytes> seeds() {
    const fs::path digits = source_dir() / "models/digits";
    std::vector<Bytes> all{TinyModel().bytes(), read(digits / "digits_int8.tflite"),
                           read(digits / "digits_float.tflite")};
    tflite::Pool2DOptionsT pool;
    pool.stride_w = pool.stride_h = pool.filter_width = pool.filter_height = 2;
    all.push_back(with_operator(1, pool, {0}, {1, 2, 2, 2}));
    all.push_back(with_operator(17, pool, {0}, {1, 2, 2, 2}));
    all.push_back(with_operator(0, tflite::AddOptionsT{}, {0, 0}, {1, 4, 4, 2}));
    all.push_back(with_operator(25, tflite::SoftmaxOptionsT{}, {0}, {1, 4, 4, 2}));
    tflite::DepthwiseConv2DOptionsT depthwise;
    depthwise.stride_w = depthwise.stride_h = depthwise.depth_multiplier = 1;
    TinyModel depth;
    depth.model.operator_codes[0]->deprecated_builtin_code = 4;
    depth.model.operator_codes[0]->builtin_code = 4;
    depth.op().builtin_options.Set(std::move(depthwise));
    depth.tensor(1).shape = {1, 3, 3, 2};
    depth.model.buffers[1]->data.resize(18);
    depth.tensor(2).shape = {2};
    depth.model.buffers[2]->data.resize(8);
    depth.tensor(3).shape = {1, 4, 4, 2};
    all.push_back(depth.bytes());
    TinyModel dense;
    dense.model.operator_codes[0]->deprecated_builtin_code = 9;
    dense.model.operator_codes[0]->builtin_code = 9;
    dense.op().builtin_options.Set(tflite::FullyConnectedOptionsT{});
    dense.tensor(0).shape = {1, 18};
    dense.tensor(1).shape = {3, 18};
    dense.tensor(3).shape = {1, 3};
    all.push_back(dense.bytes());
    if (const char* folder = std::getenv("TANDEM_MODELS"))
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".tflite" && entry.file_size() <= kMostSeedBytes)
                all.push_back(read(entry.path()));
    return all;
}

/// Any element of a list, changed, or the list's length.
template <class Value>
void change_list(std::vector<Value>& list, Seeded& random) {
    constexpr int64_t kValues[] = {0,   1,    -1,  2,     3,          7,
                                   127, -128, 255, 65536, 0x7fffffff, -0x7fffffff};
    const auto value = [&] {
        return static_cast<Value>(kValues[random.below(std::size(kValues))]);
    };
    if (list.empty() || random.chance(20)) return list.push_back(value());
    if (random.chance(15)) return list.pop_back();
    Value& at = list[random.below(list.size())];
    at = random.chance(50) ? value() : static_cast<Value>(static_cast<uint64_t>(at) + 1);
}

void change_tensor(tflite::TensorT& tensor, size_t buffers, Seeded& random) {
    switch (random.below(6)) {
        case 0:
            return change_list(tensor.shape, random);
        case 1: {
            constexpr int kTypes[] = {0, 1, 2, 3, 4, 6, 7, 9, 18};
            tensor.type = static_cast<tflite::TensorType>(kTypes[random.below(std::size(kTypes))]);
            return;
        }
        case 2:
            tensor.buffer = static_cast<uint32_t>(random.below(buffers + 1));
            return;
        case 3:
            tensor.name = std::string(random.below(40), random.chance(50) ? '\xff' : '"');
            return;
        default:
            break;
    }
    if (!tensor.quantization || random.chance(10)) {
        tensor.quantization =
            random.chance(50) ? nullptr : std::make_unique<tflite::QuantizationParametersT>();
        return;
    }
    auto& quantization = *tensor.quantization;
    constexpr float kScales[] = {0.f, -1.f, 1e-45f, 1e-38f, 1e38f, INFINITY, NAN, 1.f, 0.5f};
    switch (random.below(3)) {
        case 0:
            change_list(quantization.zero_point, random);
            break;
        case 1:
            quantization.quantized_dimension = static_cast<int32_t>(random.int32());
            break;
        default:
            if (quantization.scale.empty() || random.chance(20))
                quantization.scale.push_back(1.f);
            else
                quantization.scale[random.below(quantization.scale.size())] =
                    kScales[random.below(std::size(kScales))];
    }
}

int32_t any_number(Seeded& random) {
    return random.chance(70) ? static_cast<int32_t>(random.below(9)) : random.int32();
}

void change_options(tflite::BuiltinOptionsUnion& options, Seeded& random) {
    const int32_t value = any_number(random);
    const auto activation = static_cast<tflite::ActivationFunctionType>(random.below(6));
    const auto padding = static_cast<tflite::Padding>(random.below(3));
    if (random.chance(5)) return options.Reset();
    if (auto* conv = options.AsConv2DOptions()) {
        int32_t* const fields[] = {&conv->stride_w, &conv->stride_h, &conv->dilation_w_factor,
                                   &conv->dilation_h_factor};
        *fields[random.below(std::size(fields))] = value;
        conv->padding = padding;
        conv->fused_activation_function = activation;
    } else if (auto* depthwise = options.AsDepthwiseConv2DOptions()) {
        int32_t* const fields[] = {&depthwise->stride_w, &depthwise->stride_h,
                                   &depthwise->depth_multiplier, &depthwise->dilation_w_factor,
                                   &depthwise->dilation_h_factor};
        *fields[random.below(std::size(fields))] = value;
        depthwise->padding = padding;
    } else if (auto* pool = options.AsPool2DOptions()) {
        int32_t* const fields[] = {&pool->stride_w, &pool->stride_h, &pool->filter_width,
                                   &pool->filter_height};
        *fields[random.below(std::size(fields))] = value;
        pool->padding = padding;
    } else if (auto* dense = options.AsFullyConnectedOptions()) {
        dense->fused_activation_function = activation;
    } else if (auto* softmax = options.AsSoftmaxOptions()) {
        constexpr float kBetas[] = {0.f, 1.f, -1.f, INFINITY, NAN, 1e-40f, 1e30f};
        softmax->beta = kBetas[random.below(std::size(kBetas))];
    }
}

void change_model(tflite::ModelT& model, Seeded& random) {
    if (model.subgraphs.empty() || !model.subgraphs[0]) return;
    auto& graph = *model.subgraphs[0];
    switch (random.below(8)) {
        case 0:
            return change_list(graph.inputs, random);
        case 1:
            return change_list(graph.outputs, random);
        case 2: {
            if (graph.operators.empty()) return;
            auto& op = *graph.operators[random.below(graph.operators.size())];
            if (random.chance(40)) return change_options(op.builtin_options, random);
            return change_list(random.chance(60) ? op.inputs : op.outputs, random);
        }
        case 3: {
            if (model.operator_codes.empty()) return;
            auto& code = *model.operator_codes[random.below(model.operator_codes.size())];
            constexpr int kCodes[] = {0, 1, 3, 4, 6, 9, 14, 17, 22, 25, 40, 114, 117, 126, 200, -1};
            const int value = kCodes[random.below(std::size(kCodes))];
            code.builtin_code = value;
            code.deprecated_builtin_code = static_cast<int8_t>(std::min(value, 127));
            return;
        }
        case 4: {
            if (model.buffers.empty()) return;
            auto& buffer = model.buffers[random.below(model.buffers.size())];
            if (!buffer) return;
            const size_t size = buffer->data.size();
            buffer->data.resize(random.chance(50) ? size + random.below(9) : size / 2);
            if (!buffer->data.empty())
                buffer->data[random.below(buffer->data.size())] =
                    static_cast<uint8_t>(random.bits());
            return;
        }
        default:
            if (graph.tensors.empty()) return;
            change_tensor(*graph.tensors[random.below(graph.tensors.size())], model.buffers.size(),
                          random);
    }
}

/// Nothing where the bytes are no flatbuffer.
void change_objects(Bytes& bytes, Seeded& random) {
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    if (!tflite::VerifyModelBuffer(verifier)) return;
    const std::unique_ptr<tflite::ModelT> model = tflite::UnPackModel(bytes.data());
    for (uint64_t i = 1 + random.below(3); i != 0; --i) change_model(*model, random);
    flatbuffers::FlatBufferBuilder builder;
    tflite::FinishModelBuffer(builder, tflite::Model::Pack(builder, model.get()));
    bytes.assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

}  // namespace

Target model_target() {
    return {.name = "model",
            .extension = ".tflite",
            .words = {"TFL3"},
            .seeds = seeds,
            .change = change_objects,
            .run =
                [](const Bytes& bytes) {
                    return use_graph(
                        compiler::narrow(compiler::import_tflite_bytes(bytes, "model.tflite")));
                },
            .command = {"run", "FILE", "--chip", "test_16x16", "--mode", "timing", "--host",
                        "native", "--plan", "rules", "--json", "report.json"}};
}

}  // namespace tandem::fuzz
