// SPDX-License-Identifier: Apache-2.0
// Real networks with expected outputs, in the folder that the environment variable TANDEM_MODELS
// names.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::testbench {

/// Empty when TANDEM_MODELS is not set or names no folder.
std::filesystem::path models_folder();

/// True in continuous integration, where missing models are a failure.
bool models_are_required();

/// A network with its samples; every vector holds one sample after the other.
struct ModelData {
    std::string name;
    compiler::Graph graph;
    std::vector<int8_t> inputs;
    std::vector<int8_t> expected_single;
    std::vector<int8_t> expected_gemmlowp;   ///< softmax within 1 LSB
    std::vector<int8_t> layers_of_sample_0;  ///< single rounding; only kModelsWithLayers

    size_t input_bytes() const;   ///< of one sample
    size_t output_bytes() const;  ///< of one sample
    size_t samples() const { return inputs.size() / input_bytes(); }
    std::vector<int8_t> input(size_t sample) const;
};

struct ModelFiles {
    const char* name;  ///< as a test's name
    const char* folder;
    const char* file;
};

/// For test listings.
inline void PrintTo(const ModelFiles& files, std::ostream* out) { *out << files.file; }

inline constexpr ModelFiles kResNet8{"ResNet8", "resnet8-cifar10", "resnet8_int8.tflite"};
inline constexpr ModelFiles kDsCnn{"DsCnn", "dscnn-kws", "dscnn_int8.tflite"};
inline constexpr ModelFiles kAutoencoder{"Autoencoder", "ad-autoencoder", "ad01_int8.tflite"};
inline constexpr ModelFiles kHelloWorld{"HelloWorld", "hello-world-sine",
                                        "hello_world_int8.tflite"};
inline constexpr ModelFiles kInt8Models[] = {kResNet8, kDsCnn, kAutoencoder, kHelloWorld};
/// Those of which the output of every operator is known.
inline constexpr ModelFiles kModelsWithLayers[] = {kResNet8, kDsCnn, kAutoencoder};

ModelData load_model(const ModelFiles& files);

std::vector<int8_t> read_int8(const std::filesystem::path& file);

}  // namespace tandem::testbench

/// Skips the test, saying so, where there are no models; fails it in continuous integration.
#define TANDEM_NEEDS_MODELS()                                                            \
    do {                                                                                 \
        if (tandem::testbench::models_folder().empty()) {                                \
            if (tandem::testbench::models_are_required())                                \
                FAIL() << "TANDEM_MODELS does not name the folder of the models";        \
            GTEST_SKIP() << "NOT TESTED: set TANDEM_MODELS to the folder of the models"; \
        }                                                                                \
    } while (false)
