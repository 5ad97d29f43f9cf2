// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/program_data.h"

#include <algorithm>

#include "arch/error.h"

namespace tandem::compiler {

namespace {

constexpr size_t kAlignment = 64;  ///< bytes

/// Appends `source` at an aligned offset, which is returned.
uint32_t append(std::vector<uint8_t>& bytes, const std::vector<uint8_t>& source,
                const LegalGraph& graph, const LegalNode& node, uint64_t available) {
    const size_t offset = (bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
    const uint64_t limit = std::min<uint64_t>(available, UINT32_MAX);
    if (offset + source.size() > limit)
        throw UserError(graph.file, node.text,
                        "weights that fit into the device memory of " + std::to_string(limit) +
                            " bytes",
                        std::to_string(offset + source.size()) + " bytes needed up to this node");
    bytes.resize(offset);
    bytes.insert(bytes.end(), source.begin(), source.end());
    return static_cast<uint32_t>(offset);
}

}  // namespace

ProgramData lay_out_data(const LegalGraph& graph, const arch::ChipConfig& chip) {
    ProgramData data;
    data.plans.resize(graph.nodes.size());
    data.weight_offsets.resize(graph.nodes.size());
    data.params_offsets.resize(graph.nodes.size());
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
        const LegalNode& node = graph.nodes[n];
        if (const auto* matmul = std::get_if<MatmulOp>(&node.work)) {
            TilePlan& plan = data.plans[n];
            plan = plan_tiles(*matmul, chip.mxu);
            data.weight_offsets[n] =
                append(data.bytes, plan.weights, graph, node, chip.memory.bytes);
            plan.weights = {};
        }
        if (!node.params.empty())
            data.params_offsets[n] = append(data.bytes, node.params, graph, node, chip.memory.bytes);
    }
    return data;
}

}  // namespace tandem::compiler
