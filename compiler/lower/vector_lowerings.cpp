// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/vector_lowerings.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
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

/// x * m in the convention of gemmlowp.
ChainBuilder::Term scaled(ChainBuilder& f, ChainBuilder::Term x, const Multiplier& m) {
    const auto by = factor(f, m), shift = f.constant(m.shift);
    return f(kScaleI, x, by, shift);
}

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
    AddFactors by;
    if (node.has_data) by = add_factors(node.in(), node.in(second), node.out(), node.rounding);
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

/// Taps inside of the image along one axis, for each output.
std::vector<int32_t> taps_inside(uint64_t outputs, uint64_t stride, uint64_t taps, uint64_t before,
                                 uint64_t size) {
    std::vector<int32_t> counts(outputs);
    for (uint64_t i = 0; i < outputs; ++i)
        for (uint64_t tap = 0; tap < taps; ++tap) {
            const uint64_t at = i * stride + tap;
            counts[i] += at >= before && at - before < size ? 1 : 0;
        }
    return counts;
}

/// Elements of each window, per output row and pixel.
std::vector<int32_t> window_counts(const ImageWindow& w) {
    const auto rows = taps_inside(w.out_h, w.stride_h, w.kernel_h, w.pad_top, w.in_h);
    const auto cols = taps_inside(w.out_w, w.stride_w, w.kernel_w, w.pad_left, w.in_w);
    std::vector<int32_t> counts;
    for (const int32_t row : rows)
        for (const int32_t col : cols) counts.push_back(row * col);
    return counts;
}

VectorKernel lower_average_pool(const LoweredNode& node) {
    VectorKernel kernel{pooled(node, Reduction::kSum), 0, {}};
    VectorStep& step = kernel.work.steps[0];
    const ImageWindow& w = *kernel.work.window;
    const std::vector<int32_t> counts = window_counts(w);
    ChainBuilder f;
    if (std::ranges::count(counts, counts.front()) == static_cast<int64_t>(counts.size())) {
        step.chain = f.chain(f(kAverageI, f.a(), f.constant(counts.front())));
        return kernel;
    }
    step.chain = f.chain(f(kAverageI, f.a(), f.b()));
    arch::VectorView view = dense(VectorType::kInt32, {1, w.out_h, w.out_w, 1, 1, 1});
    view.strides[0] = view.strides[5] = 0;
    step.in.push_back(params_ref(view));
    kernel.params_bytes = counts.size() * sizeof(int32_t);
    if (node.has_data) kernel.params = bytes_of(counts.data(), counts.size());
    return kernel;
}

Chain mean_chain(const LoweredNode& node, const Multiplier& m) {
    ChainBuilder f;
    if (node.rounding == Rounding::kGemmlowp) return f.chain(scaled(f, f.a(), m));
    return f.chain(f(kRound, f(kMulF, f(kToFloat, f.a()), factor(f, m))));
}

/// Images are lines.
VectorKernel lower_mean(const LoweredNode& node) {
    const auto& shape = node.in().shape;
    const auto extent = [&](size_t i) { return static_cast<uint64_t>(shape[i]); };
    const auto type = vector_type(node.in().type);
    const uint64_t pixels = extent(1) * extent(2), channels = extent(3);
    Multiplier m;
    if (node.has_data)
        m = mean_multiplier(node.in().scale(), node.out().scale(), static_cast<uint32_t>(pixels),
                            node.rounding);
    const OutputRange range = range_of(node);
    const Extents image{1, extent(1), extent(2), 1, 1, channels};
    VectorStep step = reduce_step(
        image, Reduction::kSum, {1, 2},
        {input_ref(0, dense(type, image), zero_point_of(node.in()))}, mean_chain(node, m),
        output_ref(dense(type, {1, 1, 1, 1, 1, channels}), range.zero_point));
    step.clamp_min = range.low, step.clamp_max = range.high;
    VectorWork work;
    work.lines = node.batched(extent(0));
    work.input_line_bytes = {pixels * channels * arch::bytes_of(type)};
    work.output_line_bytes = channels * arch::bytes_of(type);
    work.steps = {std::move(step)};
    return {std::move(work), 0, {}};
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

struct VectorLowering {
    Operator op;
    VectorKernel (*lower)(const LoweredNode&);
};
constexpr VectorLowering kLowerings[] = {
    {Operator::kAdd, lower_add},
    {Operator::kVector, lower_add},
    {Operator::kAveragePool2d, lower_average_pool},
    {Operator::kMaxPool2d, lower_max_pool},
    {Operator::kMean, lower_mean},
    {Operator::kPool, lower_copy},
    {Operator::kSoftmax, lower_softmax},
};

}  // namespace

VectorKernel lower_to_vector(const LoweredNode& node) {
    const auto found = std::ranges::find(kLowerings, node.node.op, &VectorLowering::op);
    if (found == std::end(kLowerings))
        throw std::logic_error("no lowering of " + std::string(operator_name(node.node.op)));
    return found->lower(node);
}

}  // namespace tandem::compiler
