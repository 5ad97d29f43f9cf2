// SPDX-License-Identifier: Apache-2.0
#include "compiler/float_product.h"

#include <cstring>

#include "arch/error.h"
#include "arch/geometry.h"
#include "compiler/emit/emitter.h"
#include "compiler/passes/fit.h"
#include "compiler/passes/legal_graph.h"

namespace tandem::compiler {

namespace {

constexpr uint32_t kElementBytes = arch::element_bytes(arch::Dtype::kBf16);

/// Each row of A is an image of one pixel.
isa::Geometry row_window(uint32_t k) {
    isa::Geometry window = isa::kSinglePixel;
    window.channels = fit<uint16_t>(k, "columns of A");
    window.image_stride = k * kElementBytes;
    return window;
}

MatmulOp matmul(const FloatProduct& product) {
    MatmulGroup group;
    group.window = row_window(product.k);
    group.k = product.k;
    group.n = group.useful_n = product.n;
    group.weights.resize(product.weights.size() * kElementBytes);
    std::memcpy(group.weights.data(), product.weights.data(), group.weights.size());
    MatmulOp op;
    op.rows = product.m;
    op.out_channels = product.n;
    op.groups.push_back(std::move(group));
    return op;
}

LegalGraph graph_of(const FloatProduct& product) {
    const uint64_t m = product.m, k = product.k, n = product.n;
    LegalGraph graph;
    graph.file = product.name;
    graph.buffers = {{"A", m * k * kElementBytes}, {"C", m * n * kElementBytes}};
    LegalNode node;
    node.op = "MATMUL";
    node.name = "C";
    node.text = "node 0 (MATMUL 'C')";
    node.inputs = {0};
    node.output = 1;
    node.macs = m * k * n;
    node.work = matmul(product);
    graph.nodes.push_back(std::move(node));
    graph.inputs = {0};
    graph.outputs = {1};
    return graph;
}

}  // namespace

arch::Program compile(const FloatProduct& product, const arch::ChipConfig& chip) {
    if (chip.mxu.dtype != arch::Dtype::kBf16)
        throw UserError(product.name, "mxu.dtype of chip " + chip.name, "bf16",
                        std::string(arch::to_string(chip.mxu.dtype)));
    arch::Program program = emit_program(graph_of(product), chip);
    program.inputs[0].shape = {product.m, product.k};
    program.outputs[0].shape = {product.m, product.n};
    return program;
}

}  // namespace tandem::compiler
