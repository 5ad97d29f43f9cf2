// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_kernel.h"

namespace tandem::engine {

VectorKernel best_vector_kernel() {
#if TANDEM_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return VectorKernel::kAvx512;
    if (__builtin_cpu_supports("avx2")) return VectorKernel::kAvx2;
#endif
    return VectorKernel::kPlain;
}

}  // namespace tandem::engine
