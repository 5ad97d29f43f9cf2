// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/program_data.h"

#include <algorithm>

#include "arch/error.h"
#include "compiler/passes/allocate.h"

namespace tandem::compiler {

namespace {

constexpr size_t kAlignment = 64;  ///< bytes

void check_size(uint64_t bytes, const LegalGraph& graph, const LegalNode& node,
                const arch::ChipConfig& chip) {
    const uint64_t limit = std::min<uint64_t>(chip.memory.bytes, UINT32_MAX);
    if (bytes > limit)
        throw UserError(
            graph.file, node.text,
            "weights that fit into the device memory of " + std::to_string(limit) + " bytes",
            std::to_string(bytes) + " bytes needed up to this node");
}

}  // namespace

ProgramData lay_out_data(const LegalGraph& graph, const arch::ChipConfig& chip) {
    ProgramData data;
    const ParamsLayout params = lay_out_params(graph);
    data.params_offsets = params.offsets;
    data.params_bytes = static_cast<uint32_t>(params.bytes);
    data.plans.resize(graph.nodes.size());
    data.weight_offsets.resize(graph.nodes.size());
    data.bytes.resize(params.bytes);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
        const LegalNode& node = graph.nodes[n];
        std::ranges::copy(node.params, data.bytes.begin() + params.offsets[n]);
        const auto* matmul = std::get_if<MatmulOp>(&node.work);
        if (matmul == nullptr) continue;
        TilePlan& plan = data.plans[n];
        plan = plan_tiles(*matmul, chip.mxu);
        const uint64_t offset = (data.bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
        check_size(offset + plan.weights.size(), graph, node, chip);
        data.weight_offsets[n] = static_cast<uint32_t>(offset);
        data.bytes.resize(offset);
        data.bytes.insert(data.bytes.end(), plan.weights.begin(), plan.weights.end());
        plan.weights = {};
    }
    return data;
}

}  // namespace tandem::compiler
