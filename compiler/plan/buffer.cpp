// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/buffer.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tandem::compiler {

namespace {

bool place_in_order(std::vector<BufferItem>& items, const std::vector<size_t>& order,
                    uint64_t available) {
    std::vector<const BufferItem*> placed;  // by address
    for (const size_t i : order) {
        BufferItem& item = items[i];
        if (item.bytes == 0) continue;
        const std::optional<uint64_t> address = free_address(item, placed, available);
        if (!address) return false;
        item.address = *address;
        placed.insert(std::ranges::upper_bound(placed, *address, {}, &BufferItem::address), &item);
    }
    return true;
}

}  // namespace

std::optional<uint64_t> free_address(const BufferItem& item,
                                     std::span<const BufferItem* const> placed,
                                     uint64_t available) {
    uint64_t address = 0;
    for (const BufferItem* other : placed) {
        if (!item.meets(*other)) continue;
        if (address + item.bytes <= other->address) break;
        address = std::max(address, other->address + other->bytes);
    }
    address = buffer_aligned(address);
    if (address + item.bytes > available) return std::nullopt;
    return address;
}

bool place(std::vector<BufferItem>& items, uint64_t available) {
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return items[i].bytes; });
    if (place_in_order(items, order, available)) return true;
    // What lives long goes below what comes and goes.
    std::ranges::stable_sort(order, std::greater{},
                             [&](size_t i) { return items[i].last - items[i].first; });
    return place_in_order(items, order, available);
}

BufferPeak peak_of(const std::vector<BufferItem>& items, size_t kernels) {
    std::vector<int64_t> change(kernels + 2);
    for (const BufferItem& item : items) {
        if (item.bytes == 0) continue;
        change[std::min(item.first, kernels)] += static_cast<int64_t>(item.bytes);
        change[std::min(item.last, kernels) + 1] -= static_cast<int64_t>(item.bytes);
    }
    BufferPeak peak;
    int64_t live = 0;
    for (size_t k = 0; k <= kernels; ++k) {
        live += change[k];
        if (static_cast<uint64_t>(live) > peak.bytes) peak = {k, static_cast<uint64_t>(live)};
    }
    return peak;
}

}  // namespace tandem::compiler
