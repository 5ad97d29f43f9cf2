// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <random>

#include "benchmarks/gemm/contenders.h"
#include "engine/gemm_int8.h"

#if TANDEM_ONEDNN
#include <dnnl.h>
#endif

namespace tandem::benchmarks {

Int8Matrices int8_matrices(uint32_t size) {
    Int8Matrices m(size);
    std::mt19937_64 random(kSeed);
    for (auto& value : m.a) value = static_cast<int8_t>(random());
    for (auto& value : m.b) value = static_cast<int8_t>(random());
    for (size_t i = 0; i < size; ++i)
        for (size_t k = 0; k < size; ++k)
            for (size_t j = 0; j < size; ++j)
                m.plain[i * size + j] += m.a[i * size + k] * m.b[k * size + j];
    return m;
}

void add_int8_library(Contest& contest, Int8Matrices& m) {
#if TANDEM_ONEDNN
    const auto turn = [&m] {
        const dnnl_dim_t n = m.size;
        const int32_t zero = 0;
        return seconds_of([&] {
            dnnl_gemm_s8s8s32('N', 'N', 'F', n, n, n, 1, m.a.data(), n, 0, m.b.data(), n, 0, 0,
                              m.c.data(), n, &zero);
        });
    };
    // Measured, never a source of truth: it saturates where the CPU has no VNNI.
    const auto check = [&m] {
        if (m.c != m.plain)
            fmt::print(stderr, "onednn s8s8s32: wrong sums on this CPU, measured all the same\n");
    };
    contest.add({kInt8Library[0], turn, check, {}});
#else
    static_cast<void>(contest), static_cast<void>(m);
#endif
}

void add_int8_kernel(Contest& contest, const Int8Matrices& m) {
    auto tiled = std::make_shared<Tiled<int8_t>>(m);
    auto gemm = std::make_shared<engine::GemmInt8>();
    const auto turn = [tiled, gemm] {
        return seconds_of([&] {
            tiled->run([&](const int8_t* rows, const int8_t* tile, bool accumulate, int32_t* sums) {
                gemm->multiply(rows, tiled->size, kTile, tile, kTile, kTile, accumulate, sums);
            });
        });
    };
    const std::string name =
        fmt::format("int8 kernel {}", engine::to_string(engine::best_gemm_kernel()));
    contest.add({name, turn, [=, &m] { require(tiled->equals(m.plain), name); }, kInt8Library});
}

}  // namespace tandem::benchmarks
