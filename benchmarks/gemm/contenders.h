// SPDX-License-Identifier: Apache-2.0
// Who takes part: libraries, and our kernels alone. Without a library it is left out.
#pragma once

#include <nlohmann/json.hpp>

#include "benchmarks/gemm/contest.h"
#include "benchmarks/gemm/matrices.h"

namespace tandem::benchmarks {

using Int8Matrices = Matrices<int8_t, int32_t>;
using FloatMatrices = Matrices<float, float>;

/// Names of the libraries' products of floats, and of int8.
inline const std::vector<std::string> kSgemm = {"openblas sgemm", "onednn sgemm"};
inline const std::vector<std::string> kInt8Library = {"onednn s8s8s32"};

/// Seeded, with the product by plain loops.
Int8Matrices int8_matrices(uint32_t size);
/// Numbers that are bf16, with sums in the array's order.
FloatMatrices float_matrices(uint32_t size);

// The matrices must outlive the contest.
void add_int8_library(Contest& contest, Int8Matrices& m);
void add_int8_kernel(Contest& contest, const Int8Matrices& m);
void add_float_libraries(Contest& contest, FloatMatrices& m);
void add_bf16_kernel(Contest& contest, const FloatMatrices& floats);

/// One core, one thread: libraries read these variables when they are loaded, so that the process
/// starts itself again with them.
void pin(char** argv);
/// What this process is started again for; false: it is not.
bool probe(int argc, char** argv);
/// Libraries and their versions.
nlohmann::json environment();

}  // namespace tandem::benchmarks
