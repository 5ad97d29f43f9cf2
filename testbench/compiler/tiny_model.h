// SPDX-License-Identifier: Apache-2.0
// A small .tflite model in object form, to be changed or spoilt by a test.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/import/tflite/tflite_generated.h"

namespace tandem::testbench {

/// One convolution 1x4x4x2 -> 1x4x4x3, kernel 3x3, with bias.
struct TinyModel {
    tflite::ModelT model;

    TinyModel() {
        model.buffers.resize(3);
        for (auto& buffer : model.buffers) buffer = std::make_unique<tflite::BufferT>();
        model.buffers[1]->data.resize(3 * 3 * 3 * 2, 1);
        model.buffers[2]->data.resize(3 * 4, 0);
        model.operator_codes.push_back(std::make_unique<tflite::OperatorCodeT>());
        model.operator_codes[0]->builtin_code = 3;
        model.subgraphs.push_back(std::make_unique<tflite::SubGraphT>());
        add_tensor("in", {1, 4, 4, 2}, tflite::TensorType::INT8, 0, 0.5f);
        add_tensor("weights", {3, 3, 3, 2}, tflite::TensorType::INT8, 1, 0.25f);
        add_tensor("bias", {3}, tflite::TensorType::INT32, 2, 0.125f);
        add_tensor("out", {1, 4, 4, 3}, tflite::TensorType::INT8, 0, 1.0f);
        graph().inputs = {0};
        graph().outputs = {3};
        graph().operators.push_back(std::make_unique<tflite::OperatorT>());
        op().inputs = {0, 1, 2};
        op().outputs = {3};
        tflite::Conv2DOptionsT options;
        options.stride_h = options.stride_w = 1;
        op().builtin_options.Set(std::move(options));
    }

    void add_tensor(const char* name, std::vector<int32_t> shape, tflite::TensorType type,
                    uint32_t buffer, float scale) {
        auto tensor = std::make_unique<tflite::TensorT>();
        tensor->name = name;
        tensor->shape = std::move(shape);
        tensor->type = type;
        tensor->buffer = buffer;
        tensor->quantization = std::make_unique<tflite::QuantizationParametersT>();
        tensor->quantization->scale = {scale};
        tensor->quantization->zero_point = {0};
        graph().tensors.push_back(std::move(tensor));
    }

    tflite::SubGraphT& graph() { return *model.subgraphs[0]; }
    tflite::TensorT& tensor(size_t i) { return *graph().tensors[i]; }
    tflite::OperatorT& op() { return *graph().operators[0]; }
    tflite::Conv2DOptionsT& conv() { return *op().builtin_options.AsConv2DOptions(); }

    std::vector<uint8_t> bytes() const {
        flatbuffers::FlatBufferBuilder builder;
        tflite::FinishModelBuffer(builder, tflite::Model::Pack(builder, &model));
        return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
    }
};

}  // namespace tandem::testbench
