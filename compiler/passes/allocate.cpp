// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/allocate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "arch/error.h"

namespace tandem::compiler {

namespace {

constexpr uint64_t kAlignment = 16;  ///< bytes; parameter blocks need 4
constexpr uint32_t kPrefetchChoices[] = {2, 1, 0};

struct Item {
    uint64_t bytes = 0;
    size_t first = 0, last = 0;  ///< nodes during which it lives, inclusive
    uint64_t address = 0;

    bool meets(const Item& other) const { return first <= other.last && other.first <= last; }
};

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Buffers.
std::vector<Item> buffer_lifetimes(const LegalGraph& graph) {
    std::vector<Item> items;
    for (const Buffer& buffer : graph.buffers)
        items.push_back({aligned(buffer.bytes), graph.nodes.size(), 0, 0});
    const auto touch = [&](BufferId id, size_t node) {
        items[id].first = std::min(items[id].first, node);
        items[id].last = std::max(items[id].last, node);
    };
    for (const BufferId id : graph.inputs) touch(id, 0);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
        for (const BufferId id : graph.nodes[n].inputs) touch(id, n);
        touch(graph.nodes[n].output, n);
    }
    return items;
}

/// Buffers first, then one item per node for its parameters.
std::vector<Item> lifetimes(const LegalGraph& graph, uint32_t prefetch_nodes) {
    std::vector<Item> items = buffer_lifetimes(graph);
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        items.push_back(
            {aligned(graph.nodes[n].params.size()), n - std::min<size_t>(n, prefetch_nodes), n, 0});
    return items;
}

/// First fit, larger items first. False: an item does not fit.
bool place(std::vector<Item>& items, uint64_t available) {
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return items[i].bytes; });
    std::vector<const Item*> placed;  // by address
    for (const size_t i : order) {
        Item& item = items[i];
        if (item.bytes == 0) continue;
        uint64_t address = 0;
        for (const Item* other : placed) {
            if (!item.meets(*other)) continue;
            if (address + item.bytes <= other->address) break;
            address = std::max(address, other->address + other->bytes);
        }
        if (address + item.bytes > available) return false;
        item.address = address;
        placed.insert(std::ranges::upper_bound(placed, address, {}, &Item::address), &item);
    }
    return true;
}

[[noreturn]] void fail(const LegalGraph& graph, const std::vector<Item>& items,
                       uint64_t available) {
    size_t worst = 0;
    uint64_t most = 0;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
        uint64_t live = 0;
        for (const Item& item : items)
            if (item.first <= n && n <= item.last) live += item.bytes;
        if (live > most) most = live, worst = n;
    }
    const std::string needed = most > available ? std::to_string(most) + " bytes needed"
                                                : std::to_string(most) +
                                                      " bytes needed, scattered so that no gap is "
                                                      "large enough";
    throw UserError(graph.file, graph.nodes[worst].text + ", batch " + std::to_string(graph.batch),
                    "activations and parameters that fit into the unified buffer of " +
                        std::to_string(available) + " bytes",
                    needed);
}

std::vector<uint32_t> addresses(const std::vector<Item>& items, size_t first, size_t count) {
    std::vector<uint32_t> result;
    for (size_t i = first; i < first + count; ++i)
        result.push_back(static_cast<uint32_t>(items[i].address));
    return result;
}

/// Nothing when parameters that stay do not fit beside the buffers.
std::optional<Placement> place_with_all_params(const LegalGraph& graph, uint64_t available) {
    std::vector<Item> items = buffer_lifetimes(graph);
    const ParamsLayout layout = lay_out_params(graph);
    items.push_back({aligned(layout.bytes), 0, graph.nodes.size(), 0});
    if (!place(items, available)) return std::nullopt;
    Placement placement;
    placement.buffers = addresses(items, 0, graph.buffers.size());
    placement.params_stay = true;
    placement.params_base = static_cast<uint32_t>(items.back().address);
    for (const uint32_t offset : layout.offsets)
        placement.params.push_back(placement.params_base + offset);
    return placement;
}

}  // namespace

ParamsLayout lay_out_params(const LegalGraph& graph) {
    ParamsLayout layout;
    for (const LegalNode& node : graph.nodes) {
        layout.offsets.push_back(static_cast<uint32_t>(layout.bytes));
        layout.bytes += aligned(node.params.size());
    }
    return layout;
}

Placement allocate(const LegalGraph& graph, const arch::ChipConfig& chip) {
    // Addresses have 32 bits.
    const uint64_t available = std::min<uint64_t>(chip.unified_buffer_bytes, uint64_t{1} << 32);
    if (lay_out_params(graph).bytes <= chip.tile_bytes())
        if (auto placement = place_with_all_params(graph, available)) return *placement;
    std::vector<Item> items;
    for (const uint32_t prefetch_nodes : kPrefetchChoices) {
        items = lifetimes(graph, prefetch_nodes);
        if (!place(items, available)) continue;
        Placement placement;
        placement.prefetch_nodes = prefetch_nodes;
        placement.buffers = addresses(items, 0, graph.buffers.size());
        placement.params = addresses(items, graph.buffers.size(), graph.nodes.size());
        return placement;
    }
    fail(graph, items, available);
}

}  // namespace tandem::compiler
