// SPDX-License-Identifier: Apache-2.0
// Places in the unified buffer: first fit by lifetimes, larger items first, or else those that live
// longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/divide.h"

namespace tandem::compiler {

inline constexpr uint64_t kBufferAlignment = 16;  ///< bytes; parameter blocks need 4

/// Bytes that something takes in the buffer, or the first address from `bytes` on.
inline uint64_t buffer_aligned(uint64_t bytes) {
    return base::divide_up(bytes, kBufferAlignment) * kBufferAlignment;
}

struct BufferItem {
    uint64_t bytes = 0;
    size_t first = 0, last = 0;  ///< kernels during which it lives, inclusive
    uint64_t address = 0;

    bool meets(const BufferItem& other) const { return first <= other.last && other.first <= last; }
};

/// The lowest address at which the item does not overlap those that it meets among `placed`, which
/// stand in the order of their addresses; none: its end would lie behind `available`.
std::optional<uint64_t> free_address(const BufferItem& item,
                                     std::span<const BufferItem* const> placed, uint64_t available);

/// Gives every item an address so that those that meet do not overlap; false: one does not fit.
bool place(std::vector<BufferItem>& items, uint64_t available);

/// Bytes that live at the same time, at most, and the kernel at which they do.
struct BufferPeak {
    size_t kernel = 0;
    uint64_t bytes = 0;
};
BufferPeak peak_of(const std::vector<BufferItem>& items, size_t kernels);

}  // namespace tandem::compiler
