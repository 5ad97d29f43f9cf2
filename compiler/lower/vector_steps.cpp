// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/vector_steps.h"

#include <algorithm>
#include <bit>

#include "compiler/lower/fit.h"

namespace tandem::compiler {

arch::VectorView dense(arch::VectorType type, const Extents& shape) {
    arch::VectorView view{type, {}};
    uint64_t stride = arch::bytes_of(type);
    for (size_t axis = shape.size(); axis-- > 0;) {
        view.strides[axis] = fit<int32_t>(stride, "bytes of a stride");
        stride *= shape[axis];
    }
    return view;
}

arch::VectorView per_line(arch::VectorType type) {
    return {type, {static_cast<int32_t>(arch::bytes_of(type))}};
}

VectorRef input_ref(uint32_t index, const arch::VectorView& view, int32_t zero_point) {
    return {VectorPlace::kInput, index, 0, view, zero_point};
}
VectorRef output_ref(const arch::VectorView& view, int32_t zero_point) {
    return {VectorPlace::kOutput, 0, 0, view, zero_point};
}
VectorRef params_ref(const arch::VectorView& view, uint64_t offset) {
    return {VectorPlace::kParams, 0, offset, view, 0};
}
VectorRef scratch_ref(uint32_t index, const arch::VectorView& view, int32_t zero_point) {
    return {VectorPlace::kScratch, index, 0, view, zero_point};
}

VectorStep map_step(const Extents& shape, Refs in, Chain chain, VectorRef out) {
    VectorStep step;
    step.shape = shape;
    step.in = std::move(in);
    step.chain = std::move(chain);
    step.out = std::move(out);
    return step;
}

VectorStep reduce_step(const Extents& shape, Reduction reduction, std::vector<uint8_t> axes,
                       Refs in, Chain chain, VectorRef out) {
    VectorStep step = map_step(shape, std::move(in), std::move(chain), std::move(out));
    step.kind = VectorStep::Kind::kReduce;
    step.reduction = reduction;
    step.reduced_axes = std::move(axes);
    return step;
}

VectorStep lookup_step(const Extents& shape, VectorRef in, VectorRef table, VectorRef out) {
    VectorStep step = map_step(shape, {std::move(in), std::move(table)}, {}, std::move(out));
    step.kind = VectorStep::Kind::kLookup;
    return step;
}

VectorStep move_step(const Extents& shape, VectorRef in, VectorRef out) {
    VectorStep step = map_step(shape, {std::move(in)}, {}, std::move(out));
    step.kind = VectorStep::Kind::kMove;
    return step;
}

ChainBuilder::Term scaled(ChainBuilder& f, ChainBuilder::Term x, const Multiplier& m) {
    const auto by = f.bits(m.value), shift = f.constant(m.shift);
    return f(isa::ChainOp::kScaleI, x, by, shift);
}

ChainBuilder::Term requantised(ChainBuilder& f, ChainBuilder::Term x, const Multiplier& m,
                               Rounding rounding) {
    using enum isa::ChainOp;
    if (rounding == Rounding::kGemmlowp) return scaled(f, x, m);
    return f(kRound, f(kMulF, f(kToFloat, x), f.bits(m.value)));
}

int32_t zero_point_of(const Tensor& tensor) {
    return tensor.quantization.zero_points.empty() ? 0 : tensor.zero_point();
}

OutputRange range_of(const LoweredNode& node) {
    if (node.out().quantization.scales.empty()) return {};
    return output_range(node.out(), activation(node.node), node.rounding);
}

VectorWork elementwise(const LoweredNode& node, const std::vector<uint32_t>& inputs, Chain chain,
                       const OutputRange& range) {
    const Extents one{1, 1, 1, 1, 1, 1};
    VectorWork work;
    Refs in;
    for (const uint32_t i : inputs) {
        const auto type = vector_type(node.in(i).type);
        in.push_back(input_ref(i, dense(type, one), zero_point_of(node.in(i))));
        work.input_line_bytes.resize(std::max<size_t>(work.input_line_bytes.size(), i + 1),
                                     arch::bytes_of(type));
    }
    const auto type = vector_type(node.out().type);
    VectorStep step = map_step(one, std::move(in), std::move(chain),
                               output_ref(dense(type, one), range.zero_point));
    step.clamp_min = range.low, step.clamp_max = range.high;
    work.lines = node.batched(node.in().elements());
    work.output_line_bytes = arch::bytes_of(type);
    work.steps = {std::move(step)};
    return work;
}

VectorWork pooled(const LoweredNode& node, Reduction reduction) {
    const auto type = vector_type(node.in().type), out_type = vector_type(node.out().type);
    const ImageWindow w = node.image_window(node.out().shape);
    VectorWork work;
    VectorStep step = reduce_step(
        {w.images, w.out_h, w.out_w, w.kernel_h, w.kernel_w, w.channels}, reduction, {3, 4},
        {input_ref(0, dense(type, {w.images, w.in_h, w.in_w, 1, 1, w.channels}))}, {},
        output_ref(dense(out_type, {w.images, w.out_h, w.out_w, 1, 1, w.channels})));
    step.taps = true;
    const OutputRange range = range_of(node);
    step.clamp_min = range.low, step.clamp_max = range.high;
    work.window = w;
    work.lines = w.lines();
    work.input_line_bytes = {0};
    work.output_line_bytes = w.out_w * w.channels * arch::bytes_of(out_type);
    work.steps = {std::move(step)};
    return work;
}

VectorWork image_sums(const LoweredNode& node, Chain chain, const OutputRange& range) {
    const auto& shape = node.in().shape;
    const auto extent = [&](size_t i) { return static_cast<uint64_t>(shape[i]); };
    const auto in = vector_type(node.in().type), out = vector_type(node.out().type);
    const uint64_t pixels = extent(1) * extent(2), channels = extent(3);
    const Extents image{1, extent(1), extent(2), 1, 1, channels};
    VectorStep step = reduce_step(
        image, Reduction::kSum, {1, 2}, {input_ref(0, dense(in, image), zero_point_of(node.in()))},
        std::move(chain), output_ref(dense(out, {1, 1, 1, 1, 1, channels}), range.zero_point));
    step.clamp_min = range.low, step.clamp_max = range.high;
    VectorWork work;
    work.lines = node.batched(extent(0));
    work.input_line_bytes = {pixels * channels * arch::bytes_of(in)};
    work.output_line_bytes = channels * arch::bytes_of(out);
    work.steps = {std::move(step)};
    return work;
}

namespace {

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

/// Elements of each window, per output row and pixel, as bits of `type`.
std::vector<uint32_t> window_counts(const ImageWindow& w, arch::VectorType type) {
    const auto rows = taps_inside(w.out_h, w.stride_h, w.kernel_h, w.pad_top, w.in_h);
    const auto cols = taps_inside(w.out_w, w.stride_w, w.kernel_w, w.pad_left, w.in_w);
    std::vector<uint32_t> counts;
    for (const int32_t row : rows)
        for (const int32_t col : cols)
            counts.push_back(arch::is_float(type)
                                 ? std::bit_cast<uint32_t>(static_cast<float>(row * col))
                                 : static_cast<uint32_t>(row * col));
    return counts;
}

}  // namespace

void divide_by_window(
    VectorKernel& kernel, const LoweredNode& node, arch::VectorType type,
    const std::function<ChainBuilder::Term(ChainBuilder&, ChainBuilder::Term count)>& result) {
    VectorStep& step = kernel.work.steps[0];
    const ImageWindow& w = *kernel.work.window;
    const std::vector<uint32_t> counts = window_counts(w, type);
    ChainBuilder f;
    if (std::ranges::count(counts, counts.front()) == static_cast<int64_t>(counts.size())) {
        step.chain = f.chain(result(f, f.bits(counts.front())));
        return;
    }
    step.chain = f.chain(result(f, f.b()));
    arch::VectorView view = dense(type, {1, w.out_h, w.out_w, 1, 1, 1});
    view.strides[0] = view.strides[5] = 0;
    step.in.push_back(params_ref(view));
    kernel.params_bytes = counts.size() * sizeof(uint32_t);
    if (node.has_data) kernel.params = bytes_of(counts.data(), counts.size());
}

}  // namespace tandem::compiler
