// SPDX-License-Identifier: Apache-2.0
#include "jobs/gemm_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "arch/bf16.h"
#include "arch/numerics.h"
#include "base/error.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "compiler/pipeline.h"
#include "firmware/include/tandem/platform.h"

namespace tandem::jobs {
namespace {

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

void check_room(const GemmSize& size, const char* where, const char* what, uint64_t room,
                uint64_t need) {
    if (need > room)
        throw UserError(size.to_string(), where, fmt::format("{} of at most {} bytes", what, room),
                        fmt::format("{} bytes needed", need));
}

}  // namespace

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

namespace {

// ---- int8

std::vector<uint8_t> random_bytes(size_t count, std::mt19937_64& random) {
    std::vector<uint8_t> bytes(count);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
    return bytes;
}

std::vector<uint8_t> int8_weights(const GemmSize& size, std::mt19937_64& random) {
    auto weights = random_bytes(size_t{size.n} * size.k, random);
    // Symmetric weights as in TFLite: -127 to 127.
    std::ranges::replace(weights, 0x80, 0x81);
    return weights;
}

std::vector<uint8_t> plain_int8(const GemmProduct& p) {
    const auto [m, k, n] = p.size;
    const auto& tensors = p.graph.tensors;
    const float multiplier = tensors[0].scale() * tensors[1].scale() / tensors[2].scale();
    std::vector<uint8_t> result;
    for (size_t row = 0; row < m; ++row)
        for (size_t column = 0; column < n; ++column) {
            int32_t sum = 0;
            for (size_t i = 0; i < k; ++i)
                sum += static_cast<int8_t>(p.inputs[row * k + i]) *
                       static_cast<int8_t>(p.weights()[column * k + i]);
            const float scaled = std::nearbyint(static_cast<float>(sum) * multiplier);
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

/// B is made by rows and stored by columns.
std::vector<uint8_t> bf16_weights(const GemmSize& size, std::mt19937_64& random) {
    const auto rows = random_bf16(size_t{size.k} * size.n, random);
    std::vector<uint16_t> columns(rows.size());
    for (size_t k = 0; k < size.k; ++k)
        for (size_t n = 0; n < size.n; ++n) columns[n * size.k + k] = rows[k * size.n + n];
    return bytes_of(columns);
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
void add_rows(const float* a, const float* b, size_t depth, size_t first, size_t last, bool sum4,
              std::vector<float>& sums) {
    const size_t n = sums.size();
    const size_t step = sum4 ? 4 : 1;
    for (size_t k = first; k < last; k += step) {
        const size_t count = std::min(step, last - k);
        for (size_t c = 0; c < n; ++c) {
            if (!sum4) {
                sums[c] += a[k] * b[c * depth + k];
                continue;
            }
            double group = 0;
            for (size_t i = 0; i < count; ++i)
                group += static_cast<double>(a[k + i]) * static_cast<double>(b[c * depth + k + i]);
            sums[c] += static_cast<float>(group);
        }
    }
}

/// In the array's order: the rows of a tile from zero, then the tile's sum onto what is there.
std::vector<uint8_t> plain_bf16(const GemmProduct& p) {
    const size_t m = p.size.m, k = p.size.k, n = p.size.n, rows = p.chip.mxu.rows;
    const auto a = floats_of(p.inputs), b = floats_of(p.weights());
    std::vector<uint16_t> result;
    for (size_t row = 0; row < m; ++row) {
        std::vector<float> total(n);
        for (size_t first = 0; first < k; first += rows) {
            std::vector<float> sums(n);
            add_rows(a.data() + row * k, b.data(), k, first, std::min(k, first + rows),
                     p.chip.mxu.sum4, sums);
            for (size_t c = 0; c < n; ++c) total[c] = first == 0 ? sums[c] : total[c] + sums[c];
        }
        for (const float value : total)
            result.push_back(bf16::narrow(std::bit_cast<uint32_t>(value)));
    }
    return bytes_of(result);
}

}  // namespace

namespace {

compiler::Tensor matrix(const char* name, compiler::ElementType type, uint32_t rows,
                        uint32_t cols) {
    compiler::Tensor tensor;
    tensor.name = name;
    tensor.shape = {rows, cols};
    tensor.type = type;
    if (type == compiler::ElementType::kInt8) tensor.quantization = {{1.0f}, {0}, 0};
    return tensor;
}

/// A network of one fully connected layer.
compiler::Graph graph_of(const GemmSize& size, compiler::ElementType type,
                         std::vector<uint8_t> weights) {
    compiler::Graph graph;
    graph.file = graph.name = size.to_string();
    graph.tensors = {matrix("A", type, size.m, size.k), matrix("B", type, size.n, size.k),
                     matrix("C", type, size.m, size.n)};
    compiler::Tensor& b = graph.tensors[1];
    b.is_constant = true;
    b.set_bytes(std::move(weights));
    if (type == compiler::ElementType::kInt8)
        b.quantization.scales = {compiler::seeded_weight_scale(size.k)};
    compiler::Node node;
    node.op = compiler::Operator::kFullyConnected;
    node.name = "C";
    node.inputs = {0, 1};
    node.outputs = {2};
    graph.nodes = {node};
    graph.inputs = {0};
    graph.outputs = {2};
    compiler::verify(graph);
    return graph;
}

void check_matrices(const GemmSize& size, const GemmMatrices& matrices, uint64_t element) {
    const auto check = [&](const char* name, const std::vector<uint8_t>& bytes, uint64_t need) {
        if (bytes.empty() || bytes.size() == need) return;
        throw UserError(size.to_string(), std::string("matrix ") + name,
                        fmt::format("{} bytes", need), fmt::format("{} bytes", bytes.size()));
    };
    check("A", matrices.a, uint64_t{size.m} * size.k * element);
    check("B", matrices.b, uint64_t{size.k} * size.n * element);
    if (!std::isfinite(matrices.multiplier) || matrices.multiplier < 0)
        throw UserError(size.to_string(), "multiplier", "a positive number",
                        std::to_string(matrices.multiplier));
}

std::vector<uint8_t> by_columns(const GemmSize& size, const std::vector<uint8_t>& rows) {
    const size_t element = rows.size() / (size_t{size.k} * size.n);
    std::vector<uint8_t> columns(rows.size());
    for (size_t k = 0; k < size.k; ++k)
        for (size_t n = 0; n < size.n; ++n)
            std::memcpy(&columns[(n * size.k + k) * element], &rows[(k * size.n + n) * element],
                        element);
    return columns;
}

}  // namespace

std::string GemmSize::to_string() const { return fmt::format("gemm {}x{}x{}", m, k, n); }

GemmProduct make_gemm(const GemmSize& size, const arch::ChipConfig& chip, uint64_t seed,
                      compiler::PlanMode plan, const GemmMatrices& matrices) {
    check_sizes(size, chip);
    const bool is_bf16 = chip.mxu.dtype == arch::Dtype::kBf16;
    check_matrices(size, matrices, is_bf16 ? 2 : 1);
    GemmProduct product;
    product.size = size;
    product.chip = chip;
    std::mt19937_64 random(seed);
    auto weights = is_bf16 ? bf16_weights(size, random) : int8_weights(size, random);
    if (!matrices.b.empty()) weights = by_columns(size, matrices.b);
    product.inputs = is_bf16 ? bytes_of(random_bf16(size_t{size.m} * size.k, random))
                             : random_bytes(size_t{size.m} * size.k, random);
    if (!matrices.a.empty()) product.inputs = matrices.a;
    product.graph =
        graph_of(size, is_bf16 ? compiler::ElementType::kBf16 : compiler::ElementType::kInt8,
                 std::move(weights));
    if (!is_bf16 && matrices.multiplier != 0)
        product.graph.tensors[1].quantization.scales = {matrices.multiplier};
    const auto keep_bounds = [&](const compiler::Planned& planned) {
        product.bounds = compiler::lower_bounds(planned.kernels, planned.plan, planned.chip);
    };
    product.program = compiler::compile(
        product.graph, chip, {.cores = 1, .plan = plan, .dump = {}, .on_plan = keep_bounds});
    return product;
}

std::vector<uint8_t> plain_product(const GemmProduct& product) {
    return product.chip.mxu.dtype == arch::Dtype::kBf16 ? plain_bf16(product) : plain_int8(product);
}

}  // namespace tandem::jobs
