// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/float_lowerings.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/lower/vector_steps.h"

namespace tandem::compiler {

namespace {

using arch::VectorType;
using Term = ChainBuilder::Term;
using enum isa::ChainOp;

/// The fused activation: between its bounds.
Term activated(ChainBuilder& f, Term x, const LoweredNode& node) {
    const auto between = [&](float low, float high) {
        return f(kMinF, f(kMaxF, x, f.constant(low)), f.constant(high));
    };
    switch (activation(node.node)) {
        case Activation::kNone:
            return x;
        case Activation::kRelu:
            return f(kMaxF, x, f.constant(0.0f));
        case Activation::kReluN1To1:
            return between(-1.0f, 1.0f);
        case Activation::kRelu6:
            return between(0.0f, 6.0f);
    }
    throw std::logic_error("an activation that has no chain");
}

}  // namespace

VectorKernel lower_float_add(const LoweredNode& node) {
    ChainBuilder f;
    const Chain chain = f.chain(activated(f, f(kAddF, f.a(), f.b()), node));
    return {elementwise(node, {0, 1}, chain, {}), 0, {}};
}

/// The views' types do it.
VectorKernel lower_float_cast(const LoweredNode& node) {
    return {elementwise(node, {0}, {}, {}), 0, {}};
}

VectorKernel lower_float_max_pool(const LoweredNode& node) {
    VectorKernel kernel{pooled(node, Reduction::kLargest), 0, {}};
    ChainBuilder f;
    kernel.work.steps[0].chain = f.chain(activated(f, f.a(), node));
    return kernel;
}

VectorKernel lower_float_average_pool(const LoweredNode& node) {
    VectorKernel kernel{pooled(node, Reduction::kSum), 0, {}};
    divide_by_window(kernel, node, VectorType::kFp32, [&](ChainBuilder& f, Term count) {
        return activated(f, f(kDivF, f.a(), count), node);
    });
    return kernel;
}

VectorKernel lower_float_mean(const LoweredNode& node) {
    const auto& shape = node.in().shape;
    ChainBuilder f;
    const Term pixels = f.constant(static_cast<float>(shape[1] * shape[2]));
    return {image_sums(node, f.chain(f(kDivF, f.a(), pixels)), {}), 0, {}};
}

/// Rows are lines: e = exp((x - largest) * beta), e / sum of them.
VectorKernel lower_float_softmax(const LoweredNode& node) {
    enum : uint32_t { kLargestOfRow, kExponential, kSumOfRow };
    const auto cols = static_cast<uint64_t>(node.in().shape.back());
    const Extents row{1, 1, 1, 1, 1, cols};
    const auto in = dense(vector_type(node.in().type), row),
               out = dense(vector_type(node.out().type), row),
               floats = dense(VectorType::kFp32, row), of_row = per_line(VectorType::kFp32);
    const float beta = real_attribute(node.node, "beta");
    ChainBuilder power, quotient;
    Term exponent = power(kSubF, power.a(), power.b());
    if (beta != 1.0f) exponent = power(kMulF, exponent, power.constant(beta));

    VectorWork work;
    work.lines = node.batched(node.in().elements() / cols);
    work.input_line_bytes = {cols * arch::bytes_of(in.type)};
    work.output_line_bytes = cols * arch::bytes_of(out.type);
    work.scratch_line_bytes = {sizeof(float), cols * sizeof(float), sizeof(float)};
    work.steps = {
        reduce_step(row, Reduction::kLargest, {5}, {input_ref(0, in)}, {},
                    scratch_ref(kLargestOfRow, of_row)),
        map_step(row, {input_ref(0, in), scratch_ref(kLargestOfRow, of_row)},
                 power.chain(power(kExpF, exponent)), scratch_ref(kExponential, floats)),
        reduce_step(row, Reduction::kSum, {5}, {scratch_ref(kExponential, floats)}, {},
                    scratch_ref(kSumOfRow, of_row)),
        map_step(row, {scratch_ref(kExponential, floats), scratch_ref(kSumOfRow, of_row)},
                 quotient.chain(quotient(kDivF, quotient.a(), quotient.b())), output_ref(out)),
    };
    return {std::move(work), 0, {}};
}

FloatDrain float_drain(const LoweredNode& node) {
    FloatDrain drain;
    drain.has_bias = node.node.inputs.size() > 2;
    drain.wide = node.out().type == ElementType::kFloat32;
    const Activation fused = activation(node.node);
    drain.relu = fused == Activation::kRelu;
    if (fused == Activation::kNone || drain.relu) return drain;
    ChainBuilder f;
    const Term sum = drain.has_bias ? f(kAddF, f.a(), f.b()) : f.a();
    drain.chain = f.chain(activated(f, sum, node));
    return drain;
}

}  // namespace tandem::compiler
