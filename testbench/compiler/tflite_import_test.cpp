// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tflite/tflite_import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "compiler/graph/operators.h"
#include "compiler/pipeline.h"
#include "testbench/compiler/model_data.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/compiler/tiny_model.h"

namespace tandem::testbench {
namespace {

using compiler::import_tflite_bytes;

std::string error_of(const std::vector<uint8_t>& bytes) {
    try {
        import_tflite_bytes(bytes, "tiny.tflite");
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(TfliteImport, ReadsAWellFormedModel) {
    const auto graph = import_tflite_bytes(TinyModel().bytes(), "tiny.tflite");
    ASSERT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(graph.nodes[0].op, compiler::Operator::kConv2d);
    EXPECT_EQ(graph.nodes[0].name, "out");
    EXPECT_EQ(graph.input(graph.nodes[0], 1).bytes().size(), 54u);
    EXPECT_EQ(graph.output(graph.nodes[0]).shape, (compiler::Shape{1, 4, 4, 3}));
}

TEST(TfliteImport, ReadsAProductOfTwoActivations) {
    TinyModel model;
    model.model.operator_codes[0]->builtin_code = 126;
    model.tensor(0).shape = {2, 4, 3};
    model.tensor(1).shape = {2, 5, 3};
    model.tensor(1).buffer = 0;
    model.tensor(1).quantization->zero_point = {-7};
    model.tensor(3).shape = {2, 4, 5};
    model.graph().inputs = {0, 1};
    model.op().inputs = {0, 1};
    tflite::BatchMatMulOptionsT options;
    options.adj_y = true;
    model.op().builtin_options.Set(std::move(options));
    const auto graph = import_tflite_bytes(model.bytes(), "tiny.tflite");
    EXPECT_EQ(graph.nodes.at(0).op, compiler::Operator::kBatchMatmul);
    EXPECT_EQ(compiler::integer_attribute(graph.nodes[0], "adj_x"), 0);
    EXPECT_EQ(compiler::integer_attribute(graph.nodes[0], "adj_y"), 1);
    EXPECT_EQ(graph.input(graph.nodes[0], 1).zero_point(), -7);
    model.op().builtin_options.Reset();
    EXPECT_NE(error_of(model.bytes()).find("options: expected BatchMatMulOptions"),
              std::string::npos);
}

/// As converters have written it: the bias with the quantized dimension of its weights.
TEST(TfliteImport, TakesADimensionThatCanOnlyMeanOne) {
    TinyModel model;
    for (const size_t tensor : {1, 2}) {
        auto& quantization = *model.tensor(tensor).quantization;
        quantization.scale.assign(3, quantization.scale[0]);
        quantization.zero_point.assign(3, 0);
    }
    const auto good = import_tflite_bytes(model.bytes(), "tiny.tflite");
    model.tensor(2).quantization->quantized_dimension = 3;
    std::vector<std::string> notes;
    const auto graph = import_tflite_bytes(model.bytes(), "tiny.tflite",
                                           [&](const std::string& note) { notes.push_back(note); });
    EXPECT_EQ(graph.tensors[2].quantization.axis, good.tensors[2].quantization.axis);
    EXPECT_EQ(graph.tensors[2].quantization.scales, good.tensors[2].quantization.scales);
    EXPECT_EQ(notes, std::vector<std::string>{
                         "tiny.tflite: tensor 2 'bias': quantized dimension 3 of 1: taken as 0, "
                         "which has 3 elements"});
    model.tensor(2).quantization->quantized_dimension = -1;
    EXPECT_EQ(error_of(model.bytes()), "no error");
    // Of a single scale it means nothing.
    TinyModel one;
    one.tensor(2).quantization->quantized_dimension = 3;
    EXPECT_EQ(error_of(one.bytes()), "no error");
}

TEST(TfliteImport, MakesPaddingExplicit) {
    const auto padding_of = [](const TinyModel& model) {
        const auto graph = import_tflite_bytes(model.bytes(), "tiny.tflite");
        const auto w = compiler::window(graph, graph.nodes.at(0));
        return std::vector<int64_t>{w.pad_top, w.pad_left, w.pad_bottom, w.pad_right};
    };
    TinyModel model;
    EXPECT_EQ(padding_of(model), (std::vector<int64_t>{1, 1, 1, 1}));
    model.conv().stride_h = 2;
    model.tensor(3).shape = {1, 2, 4, 3};
    EXPECT_EQ(padding_of(model), (std::vector<int64_t>{0, 1, 1, 1})) << "the odd one lies below";
    model.conv().dilation_w_factor = 3;
    EXPECT_EQ(padding_of(model), (std::vector<int64_t>{0, 3, 1, 3}));
    model.conv().padding = tflite::Padding::VALID;
    model.conv().dilation_w_factor = 1;
    model.tensor(3).shape = {1, 1, 2, 3};
    EXPECT_EQ(padding_of(model), (std::vector<int64_t>{0, 0, 0, 0}));
}

struct Spoilt {
    const char* name;
    std::function<void(TinyModel&)> spoil;
    const char* message;  ///< a part of the error
};

class TfliteImportRejects : public ::testing::TestWithParam<Spoilt> {};

TEST_P(TfliteImportRejects, WithAMessageThatNamesIt) {
    TinyModel model;
    GetParam().spoil(model);
    const std::string error = error_of(model.bytes());
    EXPECT_NE(error.find("tiny.tflite: "), std::string::npos) << error;
    EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

const Spoilt kSpoilt[] = {
    {"AnotherOperator", [](TinyModel& m) { m.model.operator_codes[0]->builtin_code = 14; },
     "operator 0 (output tensor 'out'): expected one of"},
    {"OperatorName", [](TinyModel& m) { m.model.operator_codes[0]->builtin_code = 14; },
     "LOGISTIC"},
    {"DeprecatedCode",
     [](TinyModel& m) {
         m.model.operator_codes[0]->builtin_code = 0;
         m.model.operator_codes[0]->deprecated_builtin_code = 28;
     },
     "found TANH"},
    {"UnknownOperator", [](TinyModel& m) { m.model.operator_codes[0]->builtin_code = 9999; },
     "found operator code 9999"},
    {"OperatorCodeIndex", [](TinyModel& m) { m.op().opcode_index = 7; },
     "operator code index: expected less than 1, found 7"},
    {"NegativeShape", [](TinyModel& m) { m.tensor(0).shape[1] = -4; },
     "tensor 0 'in': expected a shape of positive extents, found 1x-4x4x2"},
    {"HugeShape",
     [](TinyModel& m) {
         m.tensor(0).shape = {65536, 65536, 65536, 2};
     },
     "at most 2^31 - 1 elements"},
    {"Rank",
     [](TinyModel& m) {
         m.tensor(0).shape = {1, 4, 8};
     },
     "4 dimensions, found 1x4x8"},
    {"TensorIndex",
     [](TinyModel& m) {
         m.op().inputs = {0, 17, 2};
     },
     "a tensor index less than 4, found 17"},
    {"NegativeTensorIndex",
     [](TinyModel& m) {
         m.op().inputs = {-5, 1, 2};
     },
     "found -5"},
    {"GraphInputIndex", [](TinyModel& m) { m.graph().inputs = {4}; }, "graph inputs: expected"},
    {"NoInputs", [](TinyModel& m) { m.graph().inputs.clear(); },
     "graph inputs: expected 1 or more"},
    {"NoOutputs", [](TinyModel& m) { m.graph().outputs.clear(); }, "graph outputs"},
    {"BufferIndex", [](TinyModel& m) { m.tensor(1).buffer = 30; },
     "tensor 1 'weights': buffer: expected less than 3, found 30"},
    {"ShortBuffer", [](TinyModel& m) { m.model.buffers[1]->data.resize(53); },
     "expected 54 bytes for shape 3x3x3x2, found 53"},
    {"ShortBias", [](TinyModel& m) { m.model.buffers[2]->data.resize(8); }, "expected 12 bytes"},
    {"DataBehindTheModel", [](TinyModel& m) { m.model.buffers[1]->offset = 4096; },
     "data behind the model"},
    {"MissingOptions", [](TinyModel& m) { m.op().builtin_options.Reset(); },
     "options: expected Conv2DOptions"},
    {"OptionsOfAnotherOperator",
     [](TinyModel& m) { m.op().builtin_options.Set(tflite::AddOptionsT()); },
     "options: expected Conv2DOptions, found union member 11"},
    {"UnknownType", [](TinyModel& m) { m.tensor(0).type = static_cast<tflite::TensorType>(99); },
     "tensor 0 'in': expected a type of the format, found 99"},
    {"FloatActivation", [](TinyModel& m) { m.tensor(0).type = tflite::TensorType::FLOAT32; },
     "input 'in': expected no scale for FLOAT32, found 1 scales"},
    {"Int16Output", [](TinyModel& m) { m.tensor(3).type = tflite::TensorType::INT16; },
     "output: expected INT8, found INT16"},
    {"UnknownPadding", [](TinyModel& m) { m.conv().padding = static_cast<tflite::Padding>(5); },
     "padding: expected SAME or VALID, found 5"},
    {"UnknownActivation",
     [](TinyModel& m) {
         m.conv().fused_activation_function = static_cast<tflite::ActivationFunctionType>(77);
     },
     "fused activation: expected NONE"},
    {"TanhActivation",
     [](TinyModel& m) {
         m.conv().fused_activation_function = tflite::ActivationFunctionType::TANH;
     },
     "found TANH"},
    {"ZeroStride", [](TinyModel& m) { m.conv().stride_h = 0; }, "at least 1, found 0"},
    {"NegativeDilation", [](TinyModel& m) { m.conv().dilation_w_factor = -1; },
     "at least 1, found -1"},
    {"KernelBeyondTheImage",
     [](TinyModel& m) {
         m.conv().padding = tflite::Padding::VALID;
         m.conv().dilation_h_factor = 2;
     },
     "one that fits into the image 1x4x4x2"},
    {"OutputShape",
     [](TinyModel& m) {
         m.tensor(3).shape = {1, 4, 5, 3};
     },
     "output: expected shape 1x4x4x3, found 1x4x5x3"},
    {"WeightChannels",
     [](TinyModel& m) {
         m.tensor(0).shape = {1, 4, 4, 3};
     },
     "channels that divide the image's 3"},
    {"ScaleCount",
     [](TinyModel& m) {
         m.tensor(1).quantization->scale = {1, 2};
         m.tensor(1).quantization->zero_point = {0, 0};
     },
     "scales: expected 1 or 3, found 2"},
    {"ZeroPointCount",
     [](TinyModel& m) {
         m.tensor(1).quantization->zero_point = {0, 0};
     },
     "zero points: expected 1 (one per scale), found 2"},
    {"QuantizedDimension",
     [](TinyModel& m) {
         m.tensor(1).quantization->scale = {1, 1, 1};
         m.tensor(1).quantization->zero_point = {0, 0, 0};
         m.tensor(1).quantization->quantized_dimension = 4;
     },
     "quantized dimension: expected less than 4, found 4"},
    {"QuantizedAlongAnotherDimension",
     [](TinyModel& m) {
         m.tensor(1).quantization->scale = {1, 1, 1};
         m.tensor(1).quantization->zero_point = {0, 0, 0};
         m.tensor(1).quantization->quantized_dimension = 2;
     },
     "along dimension 0, found 3 along dimension 2"},
    {"NoScale", [](TinyModel& m) { m.tensor(0).quantization.reset(); },
     "one scale and zero point, found 0 scales"},
    {"ZeroScale", [](TinyModel& m) { m.tensor(0).quantization->scale = {0}; },
     "positive finite scales"},
    {"NotANumber", [](TinyModel& m) { m.tensor(3).quantization->scale = {NAN}; },
     "positive finite scales"},
    {"ZeroPointRange", [](TinyModel& m) { m.tensor(0).quantization->zero_point = {128}; },
     "zero point -128 to 127, found 128"},
    {"WideZeroPoint", [](TinyModel& m) { m.tensor(0).quantization->zero_point = {1ll << 40}; },
     "a 32-bit number"},
    {"AsymmetricWeights", [](TinyModel& m) { m.tensor(1).quantization->zero_point = {3}; },
     "weights 'weights': expected zero point 0, found 3"},
    {"BiasScale", [](TinyModel& m) { m.tensor(2).quantization->scale = {0.5f}; },
     "input scale * weight scale"},
    {"BiasType", [](TinyModel& m) { m.tensor(2).type = tflite::TensorType::FLOAT32; },
     "bias 'bias': expected INT32, found FLOAT32"},
    {"WeightsNotConstant", [](TinyModel& m) { m.tensor(1).buffer = 0; },
     "weights 'weights': expected a constant"},
    {"InputNotComputed", [](TinyModel& m) { m.graph().inputs = {3}; }, "expected"},
    {"VariableTensor", [](TinyModel& m) { m.tensor(0).is_variable = true; }, "a variable tensor"},
    {"TwoSubgraphs",
     [](TinyModel& m) { m.model.subgraphs.push_back(std::make_unique<tflite::SubGraphT>()); },
     "subgraphs: expected 1, found 2"},
    {"TooFewInputs", [](TinyModel& m) { m.op().inputs = {0}; }, "inputs: expected 2 or 3, found 1"},
    {"NoOperatorOutput", [](TinyModel& m) { m.op().outputs.clear(); }, "1 output, found 0"},
};

INSTANTIATE_TEST_SUITE_P(Spoilt, TfliteImportRejects, ::testing::ValuesIn(kSpoilt),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TfliteImport, TakesAMinusOneBiasAsAbsent) {
    TinyModel model;
    model.op().inputs = {0, 1, -1};
    EXPECT_EQ(import_tflite_bytes(model.bytes(), "tiny").nodes[0].inputs.size(), 2u);
}

/// All is FLOAT32 but for the weights, which stay INT8.
TinyModel float_model() {
    TinyModel model;
    for (const size_t i : {0u, 2u, 3u}) {
        model.tensor(i).type = tflite::TensorType::FLOAT32;
        model.tensor(i).quantization.reset();
    }
    return model;
}

TEST(TfliteImport, DequantisesWeightsOfFloatOperators) {
    TinyModel model = float_model();
    model.tensor(1).quantization->scale = {0.5f, 0.25f, 3};
    model.tensor(1).quantization->zero_point = {0, 0, 1};
    model.model.buffers[1]->data[18] = 0xff;
    const auto graph = import_tflite_bytes(model.bytes(), "tiny");
    const compiler::Tensor& weights = graph.input(graph.nodes[0], 1);
    EXPECT_EQ(weights.type, compiler::ElementType::kFloat32);
    EXPECT_TRUE(weights.quantization.scales.empty());
    std::vector<float> values(54);
    ASSERT_EQ(weights.bytes().size(), values.size() * sizeof(float));
    std::memcpy(values.data(), weights.bytes().data(), weights.bytes().size());
    EXPECT_EQ(values[0], 0.5f);
    EXPECT_EQ(values[17], 0.5f);
    EXPECT_EQ(values[18], -0.25f);
    EXPECT_EQ(values[35], 0.25f);
    EXPECT_EQ(values[36], 0.0f);
}

TEST(TfliteImport, SaysWhatFloatOperatorsNeed) {
    TinyModel model = float_model();
    model.tensor(1).quantization.reset();
    EXPECT_NE(error_of(model.bytes()).find("weights 'weights': expected FLOAT32, found INT8"),
              std::string::npos);
    model = float_model();
    model.tensor(2).type = tflite::TensorType::INT32;
    EXPECT_NE(error_of(model.bytes()).find("bias 'bias': expected FLOAT32, found INT32"),
              std::string::npos);
    model = float_model();
    model.tensor(1).type = tflite::TensorType::FLOAT16;
    EXPECT_NE(
        error_of(model.bytes()).find("weights 'weights': expected FLOAT32, found another type"),
        std::string::npos)
        << error_of(model.bytes());
}

TEST(TfliteImport, RejectsOtherFiles) {
    EXPECT_NE(error_of({}).find("identifier TFL3"), std::string::npos);
    EXPECT_NE(error_of(std::vector<uint8_t>(64, 'x')).find("identifier TFL3"), std::string::npos);
    EXPECT_THROW(compiler::import_tflite("/does/not/exist.tflite"), UserError);
}

/// Every corruption has to end in a program or in a UserError; a sanitizer build sees the rest.
void expect_survival(const std::vector<uint8_t>& original, uint32_t seed, int rounds) {
    std::mt19937 random(seed);
    int accepted = 0;
    for (int round = 0; round < rounds; ++round) {
        std::vector<uint8_t> bytes = original;
        const int flips = 1 + static_cast<int>(random() % 3);
        // Structure lies at both ends of a file; half of the flips go there.
        for (int flip = 0; flip < flips; ++flip) {
            const size_t span = random() % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 4096);
            const size_t at = random() % 2 ? random() % span : bytes.size() - 1 - random() % span;
            bytes[at] = static_cast<uint8_t>(random() % 4 ? random() : 0xff);
        }
        if (random() % 8 == 0) bytes.resize(random() % bytes.size());
        try {
            const auto graph = import_tflite_bytes(bytes, "fuzzed");
            ++accepted;
            compiler::compile(graph, test_chip(8, 8));
        } catch (const UserError&) {
        } catch (const std::exception& error) {
            FAIL() << "seed " << seed << ", round " << round << ": " << error.what();
        }
    }
    ::testing::Test::RecordProperty("accepted", accepted);
}

TEST(TfliteImportFuzz, SurvivesCorruptedBytesOfATinyModel) {
    for (uint32_t seed = 0; seed < 4; ++seed) expect_survival(TinyModel().bytes(), seed, 5000);
}

TEST(TfliteImportFuzz, SurvivesCorruptedBytesOfRealModels) {
    TANDEM_NEEDS_MODELS();
    for (const ModelFiles& files : kInt8Models)
        expect_survival(base::read_file(models_folder() / files.folder / files.file), 0, 300);
}

TEST(TfliteImport, NamesTheOperatorOfNetworksItDoesNotRun) {
    TANDEM_NEEDS_MODELS();
    try {
        compiler::import_tflite(models_folder() / "mnist-lstm/mnist_lstm_int8.tflite");
        FAIL() << "accepted";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("UNIDIRECTIONAL_SEQUENCE_LSTM"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace tandem::testbench
