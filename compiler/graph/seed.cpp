// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/seed.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "arch/bf16.h"
#include "base/error.h"
#include "base/hash.h"

namespace tandem::compiler {

namespace {

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::mt19937_64 engine_of(const Tensor& tensor, uint64_t seed) {
    base::Fnv64 hash;
    hash.add(seed);
    hash.add(tensor.name);
    return std::mt19937_64(hash.value());
}

std::vector<uint8_t> int8_values(const Tensor& tensor, std::mt19937_64& random) {
    std::vector<uint8_t> bytes(tensor.elements());
    for (uint8_t& byte : bytes) {
        byte = static_cast<uint8_t>(random() >> 56);
        if (tensor.is_constant && byte == 0x80) byte = 0x81;  // symmetric, as TFLite's weights
    }
    return bytes;
}

std::vector<uint8_t> int32_values(const Tensor& tensor, std::mt19937_64& random) {
    constexpr int32_t kMost = 1000;
    std::uniform_int_distribution<int32_t> range(-kMost, kMost);
    std::vector<int32_t> values(tensor.elements());
    for (int32_t& value : values) value = range(random);
    return bytes_of(values);
}

/// How many of a constant's elements go into one sum: weights are [groups,n,k], or n of any shape.
uint64_t depth_of(const Tensor& weights) {
    if (weights.shape.size() < 2) return 1;
    if (weights.shape.size() == 3) return static_cast<uint64_t>(weights.shape[2]);
    return weights.elements() / static_cast<uint64_t>(weights.shape[0]);
}

std::vector<float> float_values(const Tensor& tensor, std::mt19937_64& random) {
    const float deviation =
        tensor.is_constant ? 1 / std::sqrt(static_cast<float>(depth_of(tensor))) : 1;
    std::normal_distribution<float> normal;
    std::vector<float> values(tensor.elements());
    for (float& value : values) {
        value = normal(random);
        value = std::fabs(value) < 0x1p-8f ? 0.0f : value * deviation;
    }
    return values;
}

std::vector<uint8_t> bf16_values(const Tensor& tensor, std::mt19937_64& random) {
    std::vector<uint16_t> words;
    for (const float value : float_values(tensor, random))
        words.push_back(bf16::narrow(std::bit_cast<uint32_t>(value)));
    return bytes_of(words);
}

}  // namespace

std::vector<uint8_t> seeded_bytes(const Tensor& tensor, uint64_t seed) {
    std::mt19937_64 random = engine_of(tensor, seed);
    if (tensor.type == ElementType::kInt8) return int8_values(tensor, random);
    if (tensor.type == ElementType::kInt32) return int32_values(tensor, random);
    if (tensor.type == ElementType::kBf16) return bf16_values(tensor, random);
    if (tensor.type == ElementType::kFloat32) return bytes_of(float_values(tensor, random));
    throw UserError("tensor", '\'' + tensor.name + '\'',
                    "INT8, INT32, BFLOAT16 or FLOAT32 to be seeded",
                    std::string(element_type_name(tensor.type)));
}

void seed_constants(Graph& graph, uint64_t seed) {
    for (const Node& node : graph.nodes)
        for (const TensorId id : node.inputs) {
            Tensor& tensor = graph.tensors.at(id);
            if (tensor.is_constant && !tensor.has_data())
                tensor.set_bytes(seeded_bytes(tensor, seed));
        }
}

float seeded_weight_scale(uint64_t k) { return 1.0f / (74.0f * std::sqrt(static_cast<float>(k))); }

}  // namespace tandem::compiler
