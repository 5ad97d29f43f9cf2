// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/error.h"

namespace tandem::base {

std::string memory_limit_text() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    return fmt::format("; the limit of this process is {} MB (ulimit -v)", limit.rlim_cur >> 20);
}

void refuse_memory(uint64_t bytes, const std::string& what) {
    throw UserError(
        fmt::format("not enough memory for {} ({} MB){}", what, bytes >> 20, memory_limit_text()));
}

void require_memory(uint64_t bytes, const std::string& what) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) refuse_memory(bytes, what);
    ::munmap(at, bytes);
}

}  // namespace tandem::base
