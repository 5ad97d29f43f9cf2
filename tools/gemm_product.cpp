// SPDX-License-Identifier: Apache-2.0
#include "tools/gemm_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "arch/bf16.h"
#include "arch/error.h"
#include "arch/numerics.h"
#include "compiler/compile.h"
#include "compiler/float_product.h"
#include "firmware/include/tandem/platform.h"

namespace tandem::tools {
namespace {

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

void check_room(const GemmSize& size, const char* where, const char* what, uint64_t room,
                uint64_t need) {
    if (need > room)
        throw UserError(size.to_string(), where, fmt::format("{} of at most {} bytes", what, room),
                        fmt::format("{} bytes needed", need));
}

/// Rough in the last bytes; the compiler is exact.
void check_sizes(const GemmSize& size, const arch::ChipConfig& chip) {
    const uint64_t m = size.m, k = size.k, n = size.n;
    const uint64_t element = arch::element_bytes(chip.mxu.dtype);
    const uint64_t params =
        chip.mxu.dtype == arch::Dtype::kInt8 ? n * sizeof(numerics::ChannelParams) : 0;
    const uint64_t activations = (m * k + m * n) * element;
    const uint64_t weights = round_up(k, chip.mxu.rows) * round_up(n, chip.mxu.cols) * element;
    check_room(size, "matrices A and C",
               "room in the unified buffer (larger ones: --mode timing --arrays all)",
               chip.unified_buffer_bytes, activations + params);
    check_room(size, "matrix B", "room in the device memory",
               std::min<uint64_t>(chip.memory.bytes, UINT32_MAX), weights + params);
    check_room(size, "all matrices", "room in the host memory", platform::kRamMaxBytes,
               activations + weights + params + platform::kFirmwareBytes);
}

// ---- int8

std::vector<uint8_t> random_bytes(size_t count, std::mt19937_64& random) {
    std::vector<uint8_t> bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    return bytes;
}

compiler::Tensor tensor(const std::string& name, uint32_t rows, uint32_t cols, float scale) {
    compiler::Tensor t;
    t.name = name;
    t.shape = {static_cast<int32_t>(rows), static_cast<int32_t>(cols)};
    t.type = compiler::DataType::kInt8;
    t.quantization = {{scale}, {0}, 0};
    return t;
}

/// A network of one fully connected layer.
compiler::Graph int8_graph(const GemmSize& size, std::mt19937_64& random) {
    compiler::Graph graph;
    graph.file = size.to_string();
    // Sums of K random products have a deviation of about 74 * 74 * sqrt(K); keep three of them.
    const float output_scale =
        3.0f * 74.0f * 74.0f * std::sqrt(static_cast<float>(size.k)) / 127.0f;
    graph.tensors = {tensor("A", size.m, size.k, 1.0f), tensor("B", size.n, size.k, 1.0f),
                     tensor("C", size.m, size.n, output_scale)};
    graph.tensors[1].is_constant = true;
    graph.tensors[1].data = random_bytes(size_t{size.n} * size.k, random);
    // Symmetric weights as in TFLite: -127 to 127.
    for (auto& weight : graph.tensors[1].data)
        if (weight == 0x80) weight = 0x81;
    compiler::Node node;
    node.op = compiler::Operator::kFullyConnected;
    node.name = "C";
    node.inputs = {0, 1};
    node.outputs = {2};
    node.attributes = compiler::FullyConnectedAttributes{};
    graph.nodes = {node};
    graph.inputs = {0};
    graph.outputs = {2};
    return graph;
}

void make_int8(GemmProduct& product, std::mt19937_64& random) {
    const GemmSize& size = product.size;
    auto graph = int8_graph(size, random);
    product.program = compiler::compile(graph, product.chip, {});
    product.inputs = random_bytes(size_t{size.m} * size.k, random);
    product.multiplier = 1.0f / graph.tensors[2].scale();
    product.weights = std::move(graph.tensors[1].data);
}

std::vector<uint8_t> plain_int8(const GemmProduct& p) {
    const auto [m, k, n] = p.size;
    std::vector<uint8_t> result;
    for (size_t row = 0; row < m; ++row)
        for (size_t column = 0; column < n; ++column) {
            int32_t sum = 0;
            for (size_t i = 0; i < k; ++i)
                sum += static_cast<int8_t>(p.inputs[row * k + i]) *
                       static_cast<int8_t>(p.weights[column * k + i]);
            const float scaled = std::nearbyint(static_cast<float>(sum) * p.multiplier);
            const auto value = static_cast<int8_t>(std::clamp(scaled, -128.0f, 127.0f));
            result.push_back(static_cast<uint8_t>(value));
        }
    return result;
}

// ---- bf16

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// Normally distributed; numbers below 1/256 are zero, so that plain loops in fp32, and in double
/// for groups of four, meet no tiny product and no sum that double does not hold.
std::vector<uint16_t> random_bf16(size_t count, std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    std::vector<uint16_t> values(count);
    std::generate(values.begin(), values.end(), [&] {
        const float value = normal(random);
        return bf16::narrow(std::bit_cast<uint32_t>(std::fabs(value) < 0x1p-8f ? 0.0f : value));
    });
    return values;
}

void make_bf16(GemmProduct& product, std::mt19937_64& random) {
    const GemmSize& size = product.size;
    compiler::FloatProduct source{size.to_string(), size.m, size.k, size.n, {}};
    source.weights = random_bf16(size_t{size.k} * size.n, random);
    product.program = compiler::compile(source, product.chip);
    product.inputs = bytes_of(random_bf16(size_t{size.m} * size.k, random));
    product.weights = bytes_of(source.weights);
}

std::vector<float> floats_of(const std::vector<uint8_t>& bytes) {
    std::vector<uint16_t> values(bytes.size() / 2);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    std::vector<float> floats(values.size());
    for (size_t i = 0; i < values.size(); ++i)
        floats[i] = std::bit_cast<float>(uint32_t{values[i]} << 16);
    return floats;
}

/// Adds rows first to last - 1 of B, weighted with a row of A, to the column sums of a tile: one
/// after the other, or the products of four of them with one rounding.
void add_rows(const float* a, const float* b, size_t first, size_t last, size_t n, bool sum4,
              std::vector<float>& sums) {
    const size_t step = sum4 ? 4 : 1;
    for (size_t k = first; k < last; k += step) {
        const size_t count = std::min(step, last - k);
        for (size_t c = 0; c < n; ++c) {
            if (!sum4) {
                sums[c] += a[k] * b[k * n + c];
                continue;
            }
            double group = 0;
            for (size_t i = 0; i < count; ++i)
                group += static_cast<double>(a[k + i]) * static_cast<double>(b[(k + i) * n + c]);
            sums[c] += static_cast<float>(group);
        }
    }
}

/// In the array's order: the rows of a tile from zero, then the tile's sum onto what is there.
std::vector<uint8_t> plain_bf16(const GemmProduct& p) {
    const size_t m = p.size.m, k = p.size.k, n = p.size.n, rows = p.chip.mxu.rows;
    const auto a = floats_of(p.inputs), b = floats_of(p.weights);
    std::vector<uint16_t> result;
    for (size_t row = 0; row < m; ++row) {
        std::vector<float> total(n);
        for (size_t first = 0; first < k; first += rows) {
            std::vector<float> sums(n);
            add_rows(a.data() + row * k, b.data(), first, std::min(k, first + rows), n,
                     p.chip.mxu.sum4, sums);
            for (size_t c = 0; c < n; ++c) total[c] = first == 0 ? sums[c] : total[c] + sums[c];
        }
        for (const float value : total)
            result.push_back(bf16::narrow(std::bit_cast<uint32_t>(value)));
    }
    return bytes_of(result);
}

}  // namespace

std::string GemmSize::to_string() const { return fmt::format("gemm {}x{}x{}", m, k, n); }

GemmProduct make_gemm(const GemmSize& size, const arch::ChipConfig& chip, uint64_t seed) {
    check_sizes(size, chip);
    GemmProduct product;
    product.size = size;
    product.chip = chip;
    std::mt19937_64 random(seed);
    chip.mxu.dtype == arch::Dtype::kBf16 ? make_bf16(product, random) : make_int8(product, random);
    return product;
}

std::vector<uint8_t> plain_product(const GemmProduct& product) {
    return product.chip.mxu.dtype == arch::Dtype::kBf16 ? plain_bf16(product) : plain_int8(product);
}

}  // namespace tandem::tools
