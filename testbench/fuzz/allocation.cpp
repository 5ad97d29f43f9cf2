// SPDX-License-Identifier: Apache-2.0
// The program's operator new, with a limit: an input of some bytes that asks for more memory than
// that is a finding, not a machine that swaps.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
std::atomic<size_t> in_use{0};

}  // namespace

void* operator new(size_t bytes) {
    void* const at = bytes <= kMostBytes ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
    if (at == nullptr) throw std::bad_alloc();
    const size_t taken = ::malloc_usable_size(at);
    if (in_use.fetch_add(taken) > kMostBytes) {
        in_use -= taken;
        std::free(at);
        throw std::bad_alloc();
    }
    return at;
}

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void operator delete(void* at) noexcept {
    if (at == nullptr) return;
    in_use -= ::malloc_usable_size(at);
    std::free(at);
}

void operator delete(void* at, size_t) noexcept { operator delete(at); }
