// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/vector_lowerings.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "compiler/lower/float_lowerings.h"
#include "compiler/lower/vector_steps.h"

namespace tandem::compiler {

namespace {

using arch::VectorType;
using enum isa::ChainOp;

/// The first elements are the output: of one sample, there is no telling of several.
void refuse_batch_of_shrinking(const LoweredNode& node) {
    if (node.batch != 1 && node.in().elements() != node.out().elements())
        throw UserError(node.text +
                        ": expected batch 1, or an output as large as the input, "
                        "found batch " +
                        std::to_string(node.batch));
}

ChainBuilder::Term factor(ChainBuilder& f, const Multiplier& m) { return f.bits(m.value); }

Chain add_chain(const LoweredNode& node, const AddFactors& by) {
    ChainBuilder f;
    if (node.rounding == Rounding::kSingle) {
        const auto a = f(kMulF, f(kToFloat, f.a()), factor(f, by.a));
        const auto b = f(kMulF, f(kToFloat, f.b()), factor(f, by.b));
        return f.chain(f(kRound, f(kAddF, a, b)));
    }
    const auto headroom = f.constant(20);
    const auto a = scaled(f, f(kShiftLeftI, f.a(), headroom), by.a);
    const auto b = scaled(f, f(kShiftLeftI, f.b(), headroom), by.b);
    return f.chain(scaled(f, f(kAddI, a, b), by.out));
}

Chain add_chain_float() {
    ChainBuilder f;
    return f.chain(f(kAddF, f.a(), f.b()));
}

/// Of one tensor with itself where there is one.
VectorKernel lower_add(const LoweredNode& node) {
    refuse_batch_of_shrinking(node);
    const uint32_t second = node.node.inputs.size() > 1 ? 1 : 0;
    if (is_float(vector_type(node.in().type)))
        return {elementwise(node, {0, second}, add_chain_float(), {}), 0, {}};
    // Also without data: constants that are equal, or as they are set, take fewer instructions.
    const auto by = add_factors(node.in(), node.in(second), node.out(), node.rounding);
    return {elementwise(node, {0, second}, add_chain(node, by), range_of(node)), 0, {}};
}

/// Every element once.
VectorKernel lower_copy(const LoweredNode& node) {
    refuse_batch_of_shrinking(node);
    VectorWork work = elementwise(node, {0}, {}, {});
    work.steps[0].kind = VectorStep::Kind::kMove;
    return {std::move(work), 0, {}};
}

VectorKernel lower_max_pool(const LoweredNode& node) {
    return {pooled(node, Reduction::kLargest), 0, {}};
}

VectorKernel lower_average_pool(const LoweredNode& node) {
    VectorKernel kernel{pooled(node, Reduction::kSum), 0, {}};
    divide_by_window(
        kernel, node, VectorType::kInt32,
        [](ChainBuilder& f, ChainBuilder::Term count) { return f(kAverageI, f.a(), count); });
    return kernel;
}

Chain mean_chain(const LoweredNode& node, const Multiplier& m) {
    ChainBuilder f;
    return f.chain(requantised(f, f.a(), m, node.rounding));
}

VectorKernel lower_mean(const LoweredNode& node) {
    const auto& shape = node.in().shape;
    const Multiplier m = mean_multiplier(node.in().scale(), node.out().scale(),
                                         static_cast<uint32_t>(shape[1] * shape[2]), node.rounding);
    return {image_sums(node, mean_chain(node, m), range_of(node)), 0, {}};
}

/// Rows are lines: d = largest - x, table[d] / sum of them.
VectorKernel lower_softmax(const LoweredNode& node) {
    enum : uint32_t { kLargestOfRow, kDistance, kExponential, kInverse };
    const auto cols = static_cast<uint64_t>(node.in().shape.back());
    const Extents row{1, 1, 1, 1, 1, cols};
    const auto int8s = dense(VectorType::kInt8, row), floats = dense(VectorType::kFp32, row);

    const auto int8_of_row = per_line(VectorType::kInt8),
               float_of_row = per_line(VectorType::kFp32);
    ChainBuilder distance, inverse, quotient;
    std::vector<VectorStep> steps{
        reduce_step(row, Reduction::kLargest, {5}, {input_ref(0, int8s)}, {},
                    scratch_ref(kLargestOfRow, int8_of_row)),
        // An index of lookup is an int8 from -128 on.
        map_step(row, {input_ref(0, int8s), scratch_ref(kLargestOfRow, int8_of_row)},
                 distance.chain(distance(kSubI, distance.b(), distance.a())),
                 scratch_ref(kDistance, int8s, -128)),
        lookup_step(row, scratch_ref(kDistance, int8s), params_ref({VectorType::kFp32, {}}),
                    scratch_ref(kExponential, floats)),
        reduce_step(row, Reduction::kSum, {5}, {scratch_ref(kExponential, floats)},
                    inverse.chain(inverse(kDivF, inverse.constant(256.0f), inverse.a())),
                    scratch_ref(kInverse, float_of_row)),
        map_step(row, {scratch_ref(kExponential, floats), scratch_ref(kInverse, float_of_row)},
                 quotient.chain(quotient(
                     kTruncate, quotient(kAddF, quotient(kMulF, quotient.a(), quotient.b()),
                                         quotient.constant(0.5f)))),
                 output_ref(int8s, -128)),
    };

    VectorWork work;
    work.lines = node.batched(node.in().elements() / cols);
    work.input_line_bytes = {cols};
    work.output_line_bytes = cols;
    work.scratch_line_bytes = {1, cols, cols * sizeof(float), sizeof(float)};
    work.steps = std::move(steps);
    VectorKernel kernel{std::move(work), 256 * sizeof(float), {}};
    if (node.has_data) {
        const auto table = softmax_table(node.in().scale(), real_attribute(node.node, "beta"));
        kernel.params = bytes_of(table.data(), table.size());
    }
    return kernel;
}

/// One of the two may be missing: the operator has no such type, or the same lowering for all.
struct VectorLowering {
    Operator op;
    VectorKernel (*on_integers)(const LoweredNode&);
    VectorKernel (*on_floats)(const LoweredNode&);
};
constexpr VectorLowering kLowerings[] = {
    {Operator::kAdd, lower_add, lower_float_add},
    {Operator::kVector, lower_add, nullptr},
    {Operator::kAveragePool2d, lower_average_pool, lower_float_average_pool},
    {Operator::kMaxPool2d, lower_max_pool, lower_float_max_pool},
    {Operator::kMean, lower_mean, lower_float_mean},
    {Operator::kPool, lower_copy, nullptr},
    {Operator::kSoftmax, lower_softmax, lower_float_softmax},
    {Operator::kCast, nullptr, lower_float_cast},
};

}  // namespace

VectorKernel lower_to_vector(const LoweredNode& node) {
    const auto found = std::ranges::find(kLowerings, node.node.op, &VectorLowering::op);
    if (found == std::end(kLowerings))
        throw std::logic_error("no lowering of " + std::string(operator_name(node.node.op)));
    const bool floats = is_float(vector_type(node.in().type)) && found->on_floats != nullptr;
    return (floats ? found->on_floats : found->on_integers)(node);
}

}  // namespace tandem::compiler
