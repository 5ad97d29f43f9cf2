// SPDX-License-Identifier: Apache-2.0
// What the shims around Verilated models have in common (array_shim.cpp, unit_shim.cpp).
#pragma once

#include <verilated.h>

#include <cstdint>

/// The runtime finds its context through a thread-local pointer while a model is built or
/// destroyed; it must never be left on a context that is gone. `seed` 0: registers are zero.
struct ContextGuard {
    ContextGuard(VerilatedContext* context, int seed) {
        context->randReset(seed == 0 ? 0 : 2);
        context->randSeed(seed);
        // Verilator's default is a pool as large as the machine. Its threads would do nothing,
        // but hold locks now and then, which a forked copy would wait for for ever.
        context->threads(1);
        Verilated::threadContextp(context);
    }
    ~ContextGuard() { Verilated::threadContextp(Verilated::defaultContextp()); }
};

/// Before anything else in a thread: glibc before 2.40 loses vector registers where a TLS
/// descriptor
/// (-mtls-dialect=gnu2) is resolved for the first time, and constructors keep zeros in them.
__attribute__((noinline)) inline void resolve_thread_state() {
    VerilatedContext* volatile context = Verilated::threadContextp();
    (void)context;
}

/// Of Verilator's generator, whose 0 asks for zeros.
inline int verilator_seed(uint64_t seed) {
    constexpr uint64_t kMostSeeds = 0x7fff'ffff;
    return static_cast<int>(seed % kMostSeeds + 1);
}
