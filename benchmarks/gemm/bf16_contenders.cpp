// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>

#include "arch/bf16.h"
#include "benchmarks/gemm/contenders.h"
#include "engine/gemm_bf16.h"

#if TANDEM_ONEDNN
#include <dnnl.h>
#endif
#if TANDEM_OPENBLAS
#include <cblas.h>
#endif

namespace tandem::benchmarks {
namespace {

float random_bf16(std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    const auto narrow = bf16::narrow(std::bit_cast<uint32_t>(normal(random)));
    return std::bit_cast<float>(bf16::widen(narrow));
}

/// Sums of k in tiles, each from zero: the array's order.
void plain_floats(FloatMatrices& m) {
    const size_t n = m.size;
    std::vector<float> sums(n);
    for (size_t i = 0; i < n; ++i)
        for (size_t first = 0; first < n; first += kTile) {
            std::fill(sums.begin(), sums.end(), 0.0f);
            for (size_t k = first; k < std::min<size_t>(n, first + kTile); ++k)
                for (size_t j = 0; j < n; ++j) sums[j] += m.a[i * n + k] * m.b[k * n + j];
            for (size_t j = 0; j < n; ++j)
                m.plain[i * n + j] = first == 0 ? sums[j] : m.plain[i * n + j] + sums[j];
        }
}

/// Another order, another rounding: near is right.
void check_near(const FloatMatrices& m, const std::string& name) {
    const double most = 1e-5 * std::sqrt(double{1} * m.size) * 16;
    for (size_t i = 0; i < m.c.size(); ++i)
        require(std::fabs(double{m.c[i]} - double{m.plain[i]}) <= most, name);
}

Matrices<uint16_t, int32_t> narrow(const FloatMatrices& m) {
    Matrices<uint16_t, int32_t> out(m.size);
    for (size_t i = 0; i < m.a.size(); ++i) {
        out.a[i] = bf16::narrow(std::bit_cast<uint32_t>(m.a[i]));
        out.b[i] = bf16::narrow(std::bit_cast<uint32_t>(m.b[i]));
        out.plain[i] = std::bit_cast<int32_t>(m.plain[i]);
    }
    return out;
}

}  // namespace

FloatMatrices float_matrices(uint32_t size) {
    FloatMatrices m(size);
    std::mt19937_64 random(kSeed);
    for (auto& value : m.a) value = random_bf16(random);
    for (auto& value : m.b) value = random_bf16(random);
    plain_floats(m);
    return m;
}

void add_float_libraries(Contest& contest, FloatMatrices& m) {
#if TANDEM_OPENBLAS
    const auto openblas = [&m] {
        const auto n = static_cast<blasint>(m.size);
        return seconds_of([&] {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, m.a.data(), n,
                        m.b.data(), n, 0, m.c.data(), n);
        });
    };
    contest.add({kSgemm[0], openblas, [&m] { check_near(m, kSgemm[0]); }, {}});
#endif
#if TANDEM_ONEDNN
    const auto onednn = [&m] {
        const dnnl_dim_t n = m.size;
        return seconds_of([&] {
            dnnl_sgemm('N', 'N', n, n, n, 1, m.a.data(), n, m.b.data(), n, 0, m.c.data(), n);
        });
    };
    contest.add({kSgemm[1], onednn, [&m] { check_near(m, kSgemm[1]); }, {}});
#endif
    static_cast<void>(contest), static_cast<void>(m);
}

void add_bf16_kernel(Contest& contest, const FloatMatrices& floats) {
    auto m = std::make_shared<Matrices<uint16_t, int32_t>>(narrow(floats));
    auto tiled = std::make_shared<Tiled<uint16_t>>(*m);
    auto gemm = std::make_shared<engine::GemmBf16>();
    const auto turn = [tiled, gemm] {
        return seconds_of([&] {
            tiled->run(
                [&](const uint16_t* rows, const uint16_t* tile, bool accumulate, int32_t* sums) {
                    gemm->multiply(rows, tiled->size, kTile, tile, kTile, kTile, kTile, accumulate,
                                   sums, false);
                });
        });
    };
    const std::string name =
        fmt::format("bf16 kernel {}", engine::to_string(engine::best_bf16_kernel()));
    contest.add({name, turn, [=] { require(tiled->equals(m->plain), name); }, kSgemm});
}

}  // namespace tandem::benchmarks
