// SPDX-License-Identifier: Apache-2.0
// The bytes of a memory. Pages come from the operating system when they are first touched, so a
// memory of many GiB costs what is used of it.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <span>

#include "base/memory.h"

namespace tandem::sim {

class ByteStore {
  public:
    explicit ByteStore(uint64_t bytes) : bytes_(bytes) {
        void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) base::refuse_memory(bytes_, "a memory of the chip");
        data_ = static_cast<uint8_t*>(at);
    }
    ~ByteStore() { munmap(data_, bytes_); }
    ByteStore(const ByteStore&) = delete;
    ByteStore& operator=(const ByteStore&) = delete;

    std::span<uint8_t> bytes() { return {data_, bytes_}; }
    uint64_t size() const { return bytes_; }

  private:
    uint64_t bytes_;
    uint8_t* data_;
};

}  // namespace tandem::sim
