// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/vector_lowerings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "compiler/lower/array_lowerings.h"
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

/// a + b, or a + a.
Chain add_chain(const LoweredNode& node, const AddFactors& by, bool twice) {
    ChainBuilder f;
    if (node.rounding == Rounding::kSingle) {
        const auto a = f(kMulF, f(kToFloat, f.a()), factor(f, by.a));
        const auto b = twice ? a : f(kMulF, f(kToFloat, f.b()), factor(f, by.b));
        return f.chain(f(kRound, f(kAddF, a, b)));
    }
    const auto headroom = f.constant(20);
    const auto a = scaled(f, f(kShiftLeftI, f.a(), headroom), by.a);
    const auto b = twice ? a : scaled(f, f(kShiftLeftI, f.b(), headroom), by.b);
    return f.chain(scaled(f, f(kAddI, a, b), by.out));
}

VectorKernel lower_add(const LoweredNode& node) {
    // Also without data: constants that are equal, or as they are set, take fewer instructions.
    const auto by = add_factors(node.in(), node.in(1), node.out(), node.rounding);
    return {elementwise(node, {0, 1}, add_chain(node, by, false), range_of(node)), 0, {}};
}

/// x + x; x is read once.
VectorKernel lower_pass(const LoweredNode& node) {
    refuse_batch_of_shrinking(node);
    if (is_float(vector_type(node.in().type))) {
        ChainBuilder f;
        return {elementwise(node, {0}, f.chain(f(kAddF, f.a(), f.a())), {}), 0, {}};
    }
    const auto by = add_factors(node.in(), node.in(), node.out(), node.rounding);
    return {elementwise(node, {0}, add_chain(node, by, true), range_of(node)), 0, {}};
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

/// x * min(max(x + 3, 0), 6) / 6, which is all that single rounding has of it.
float hard_swish(float x) { return x * std::min(std::max(x + 3.0f, 0.0f), 6.0f) / 6.0f; }

/// A factor of 16 bits and a power of two.
struct Factor16 {
    int32_t value, shift;

    explicit Factor16(float real) {
        const Multiplier m = channel_multiplier(real, 1.0f, 1.0f, Rounding::kGemmlowp);
        value = static_cast<int32_t>(std::min((m.value + (1u << 15)) >> 16, 32767u));
        shift = m.shift;
    }
};

/// As TFLite's portable kernel, in 16 bits: `steps` of the input's scale to steps of the output's.
int32_t hard_swish_gemmlowp(int32_t steps, float scale_in, float scale_out) {
    constexpr int32_t kHalf = 1 << 14;
    const auto saturated = [](int64_t value) {
        return static_cast<int32_t>(std::clamp<int64_t>(value, INT16_MIN, INT16_MAX));
    };
    // a * b / 2^15, ties upwards.
    const auto scaled_by = [&](int32_t a, int32_t b) {
        const int32_t product = a * b;
        return saturated((product + (product < 0 ? 1 - kHalf : kHalf)) / (2 * kHalf));
    };
    const float fine = scale_in * (1.0f / 128.0f);  // the input stands 7 bits further left
    const Factor16 to_output(fine / scale_out), to_gate(fine / (3.0f / 32768.0f));
    if (to_output.shift > 0 || to_output.shift < -31)
        throw std::domain_error("an output scale that the input's divided by 128 does not reach");
    const int32_t x = steps * 128;
    int32_t gate = x;
    if (to_gate.shift > 0) gate = saturated(int64_t{gate} << (to_gate.shift - 1));
    gate = scaled_by(gate, to_gate.value);
    if (to_gate.shift > 0) gate = saturated(int64_t{gate} * 2);
    if (to_gate.shift < 0)
        gate = numerics::rounding_divide_by_power_of_two(gate, std::min(-to_gate.shift, 31));
    gate = (gate + 32768) >> 1;
    const int32_t product = saturated(gate * scaled_by(x, to_output.value) / (2 * kHalf));
    return numerics::rounding_divide_by_power_of_two(product, -to_output.shift);
}

/// Its 256 values, by a table.
VectorKernel lower_hard_swish(const LoweredNode& node) {
    VectorWork work = elementwise(node, {0}, {}, {});
    const VectorStep& each = work.steps[0];
    work.steps = {lookup_step(each.shape, input_ref(0, each.in[0].view),
                              params_ref({VectorType::kInt8, {}}), output_ref(each.out.view))};
    VectorKernel kernel{std::move(work), 256, {}};
    if (!node.has_data) return kernel;
    const float scale_in = node.in().scale(), scale_out = node.out().scale();
    for (int32_t value = -128; value < 128; ++value) {
        const int32_t steps = value - node.in().zero_point();
        const int32_t level =
            node.rounding == Rounding::kGemmlowp
                ? hard_swish_gemmlowp(steps, scale_in, scale_out)
                : numerics::round_half_even(hard_swish(static_cast<float>(steps) * scale_in) /
                                            scale_out);
        kernel.params.push_back(
            static_cast<uint8_t>(numerics::to_int8(level, node.out().zero_point(), -128, 127)));
    }
    return kernel;
}

VectorKernel lower_float_hard_swish(const LoweredNode& node) {
    ChainBuilder f;
    const auto x = f.a(), zero = f.constant(0.0f), three = f.constant(3.0f), six = f.constant(6.0f);
    const auto gate = f(kMinF, f(kMaxF, f(kAddF, x, three), zero), six);
    return {elementwise(node, {0}, f.chain(f(kDivF, f(kMulF, x, gate), six)), {}), 0, {}};
}

/// One of the two may be missing: the operator has no such type, or the same lowering for all.
struct VectorLowering {
    Operator op;
    VectorKernel (*on_integers)(const LoweredNode&);
    VectorKernel (*on_floats)(const LoweredNode&);
};
constexpr VectorLowering kLowerings[] = {
    {Operator::kAdd, lower_add, lower_float_add},
    {Operator::kVector, lower_pass, nullptr},
    {Operator::kAveragePool2d, lower_average_pool, lower_float_average_pool},
    {Operator::kMaxPool2d, lower_max_pool, lower_float_max_pool},
    {Operator::kMean, lower_mean, lower_float_mean},
    {Operator::kPool, lower_copy, nullptr},
    {Operator::kSoftmax, lower_softmax, lower_float_softmax},
    {Operator::kCast, nullptr, lower_float_cast},
    {Operator::kHardSwish, lower_hard_swish, lower_float_hard_swish},
    {Operator::kTranspose, lower_arranged, nullptr},
    {Operator::kElementwise, lower_elementwise, nullptr},
    {Operator::kReduce, lower_reduce, nullptr},
    {Operator::kSlice, lower_arranged, nullptr},
    {Operator::kConcatenation, lower_concatenation, nullptr},
    {Operator::kPad, lower_pad, nullptr},
    {Operator::kBroadcastTo, lower_arranged, nullptr},
    {Operator::kGather, lower_gather, nullptr},
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
