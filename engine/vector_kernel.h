// SPDX-License-Identifier: Apache-2.0
// Loops of the vector unit, compiled once for each instruction set of the host; all give the same
// bits.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#define TANDEM_X86 1
#endif

namespace tandem::engine {

enum class VectorKernel : uint8_t { kPlain, kAvx2, kAvx512 };

/// The best one of this machine.
VectorKernel best_vector_kernel();

template <class Work>
void run_plain(const Work& work) {
    work();
}

#if TANDEM_X86
template <class Work>
[[gnu::target("avx2")]] void run_avx2(const Work& work) {
    work();
}

template <class Work>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] void run_avx512(const Work& work) {
    work();
}
#endif

/// Calls work(), whose operator() is [[gnu::always_inline]], as compiled for `kernel`.
template <class Work>
void run_on(VectorKernel kernel, const Work& work) {
#if TANDEM_X86
    if (kernel == VectorKernel::kAvx512) return run_avx512(work);
    if (kernel == VectorKernel::kAvx2) return run_avx2(work);
#endif
    static_cast<void>(kernel);
    run_plain(work);
}

}  // namespace tandem::engine
