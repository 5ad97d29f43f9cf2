// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/array_lowerings.h"

#include <algorithm>
#include <bit>

#include "arch/bf16.h"
#include "base/error.h"
#include "compiler/graph/arrangement.h"
#include "compiler/lower/lattice.h"

namespace tandem::compiler {
namespace {

using arch::VectorType;

LatticeOperand operand_of(const Tensor& tensor, std::vector<int64_t> strides, int64_t offset = 0) {
    const bool has_first_axis = strides.size() == tensor.shape.size();
    return {vector_type(tensor.type), std::move(strides), offset,
            tensor.elements(),        has_first_axis,     false};
}

/// Bit by bit, or as another type of float.
VectorStep copy_step(const Extents& line, VectorRef in, VectorRef out) {
    return in.view.type == out.view.type ? move_step(line, std::move(in), std::move(out))
                                         : map_step(line, {std::move(in)}, {}, std::move(out));
}

void need_no_batch(const LoweredNode& node, bool first_axis) {
    if (first_axis && node.batch != 1)
        throw UserError(node.text, "batch", "1, for its first axis is not the samples'",
                        std::to_string(node.batch));
}

}  // namespace

uint64_t add_constant_values(VectorKernel& kernel, const LoweredNode& node, size_t input) {
    const Tensor& constant = node.in(input);
    const uint64_t offset = kernel.params_bytes;
    kernel.params_bytes += constant.elements() * sizeof(float);
    if (!node.has_data) return offset;
    const auto& bytes = constant.bytes();
    if (constant.type != ElementType::kBf16) {
        kernel.params.insert(kernel.params.end(), bytes.begin(), bytes.end());
        return offset;
    }
    for (size_t i = 0; i < bytes.size(); i += 2)  // the upper half of an fp32
        kernel.params.insert(kernel.params.end(), {0, 0, bytes[i], bytes[i + 1]});
    return offset;
}

VectorKernel lower_arranged(const LoweredNode& node) {
    const Arrangement from = arrangement_of(node.graph, node.node);
    const NodeLattice lattice(node, node.out().shape,
                              {operand_of(node.in(), from.strides, from.offset)});
    const auto out = vector_type(node.out().type);
    VectorRef in = input_ref(0, lattice.view(0));
    in.offset = lattice.offset_bytes(0);
    VectorWork work;
    work.lines = lattice.lines();
    work.input_line_bytes = {lattice.line_bytes(0)};
    work.output_line_bytes = lattice.line_elements() * arch::bytes_of(out);
    work.steps = {copy_step(lattice.line(), in, output_ref(lattice.dense_view(out)))};
    return {std::move(work), 0, {}};
}

VectorKernel lower_concatenation(const LoweredNode& node) {
    const auto axis = static_cast<size_t>(integer_attribute(node.node, "axis"));
    const Shape& shape = node.out().shape;
    uint64_t lines = 1, inner = 1;
    for (size_t i = 0; i < shape.size(); ++i)
        if (i != axis) (i < axis ? lines : inner) *= static_cast<uint64_t>(shape[i]);
    need_no_batch(node, axis == 0);
    const auto out = vector_type(node.out().type);
    VectorKernel kernel;
    VectorWork& work = kernel.work;
    work.lines = node.batched(lines);
    work.output_line_bytes = node.out().elements() / lines * arch::bytes_of(out);
    uint64_t at = 0;
    for (size_t i = 0, input = 0; i < node.node.inputs.size(); ++i) {
        const uint64_t elements = static_cast<uint64_t>(node.in(i).shape[axis]) * inner;
        const Extents line{1, 1, 1, 1, 1, elements};
        VectorRef to = output_ref(dense(out, line));
        to.view.strides[0] = static_cast<int32_t>(work.output_line_bytes);
        to.offset = at;
        at += elements * arch::bytes_of(out);
        VectorRef from;
        if (node.in(i).is_constant) {
            const auto type = out == VectorType::kInt32 ? out : VectorType::kFp32;
            from = params_ref(dense(type, line), add_constant_values(kernel, node, i));
        } else {
            const auto type = vector_type(node.in(i).type);
            from = input_ref(static_cast<uint32_t>(input++), dense(type, line));
            work.input_line_bytes.push_back(elements * arch::bytes_of(type));
        }
        work.steps.push_back(copy_step(line, std::move(from), std::move(to)));
    }
    return kernel;
}

/// All of the output as padding, then what is inside.
VectorKernel lower_pad(const LoweredNode& node) {
    const auto& before = integers_attribute(node.node, "before");
    const auto& behind = integers_attribute(node.node, "behind");
    const Shape &in = node.in().shape, &out = node.out().shape;
    size_t first = 0;  // axes in front, as they are: lines
    uint64_t lines = 1;
    while (first < in.size() && before[first] + behind[first] == 0)
        lines *= static_cast<uint64_t>(in[first++]);
    need_no_batch(node, first == 0);
    const auto strides = dense_strides(out);
    int64_t offset = 0;
    for (size_t axis = first; axis < in.size(); ++axis) offset += before[axis] * strides[axis];
    const NodeLattice lattice(
        node, in,
        {operand_of(node.in(), dense_strides(in)), operand_of(node.out(), strides, offset)}, first);
    VectorRef result = output_ref(lattice.view(1));
    result.offset = lattice.offset_bytes(1);
    const auto type = vector_type(node.in().type), out_type = vector_type(node.out().type);
    const uint64_t out_elements = node.out().elements() / lines;

    VectorKernel kernel;
    const float fill = real_attribute(node.node, "fill");
    const Extents all{1, 1, 1, 1, 1, out_elements};
    ChainBuilder f;
    const auto value =
        out_type == VectorType::kInt32 ? f.constant(static_cast<int32_t>(fill)) : f.constant(fill);
    arch::VectorView any{out_type == VectorType::kInt32 ? out_type : VectorType::kFp32, {}};
    kernel.params_bytes = sizeof(float);
    if (node.has_data) kernel.params.resize(sizeof(float));
    kernel.work.steps = {map_step(all, {params_ref(any)}, f.chain(f(isa::ChainOp::kCopy, value)),
                                  output_ref(dense(out_type, all))),
                         copy_step(lattice.line(), input_ref(0, lattice.view(0)), result)};
    kernel.work.lines = node.batched(lines);
    kernel.work.input_line_bytes = {node.in().elements() / lines * arch::bytes_of(type)};
    kernel.work.output_line_bytes = out_elements * arch::bytes_of(out_type);
    return kernel;
}

VectorKernel lower_reduce(const LoweredNode& node) {
    const Shape& in = node.in().shape;
    const auto& axes = integers_attribute(node.node, "axes");
    const std::string& function = text_attribute(node.node, "function");
    const auto reduction = function == "SUM"   ? Reduction::kSum
                           : function == "MAX" ? Reduction::kLargest
                           : function == "MIN" ? Reduction::kSmallest
                                               : Reduction::kPlaceOfLargest;
    const auto is_reduced = [&](size_t axis) {
        return std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
    };
    // Neighbours of one kind are one axis.
    struct Run {
        bool reduced;
        uint64_t extent;
    };
    std::vector<Run> runs;
    for (size_t axis = 0; axis < in.size(); ++axis) {
        if (runs.empty() || runs.back().reduced != is_reduced(axis))
            runs.push_back({is_reduced(axis), 1});
        runs.back().extent *= static_cast<uint64_t>(in[axis]);
    }
    need_no_batch(node, runs.front().reduced);
    uint64_t lines = 1;
    if (!runs.front().reduced) {
        lines = runs.front().extent;
        runs.erase(runs.begin());
    }
    if (runs.size() >= arch::kVectorAxes)
        throw UserError(node.text, "axes", "at most 6 groups of neighbours",
                        std::to_string(runs.size() + 1));
    const auto type = vector_type(node.in().type), out_type = vector_type(node.out().type);
    Extents line{1, 1, 1, 1, 1, 1}, kept = line;
    std::vector<uint8_t> reduced;
    for (size_t i = 0; i < runs.size(); ++i) {
        const size_t at = arch::kVectorAxes - runs.size() + i;
        line[at] = runs[i].extent;
        kept[at] = runs[i].reduced ? 1 : runs[i].extent;
        if (runs[i].reduced) reduced.push_back(static_cast<uint8_t>(at));
    }
    VectorWork work;
    work.lines = node.batched(lines);
    work.input_line_bytes = {node.in().elements() / lines * arch::bytes_of(type)};
    work.output_line_bytes = node.out().elements() / lines * arch::bytes_of(out_type);
    work.steps = {reduce_step(line, reduction, std::move(reduced),
                              {input_ref(0, dense(type, line))}, {},
                              output_ref(dense(out_type, kept)))};
    return {std::move(work), 0, {}};
}

/// Every index is a line.
VectorKernel lower_gather(const LoweredNode& node) {
    need_no_batch(node, true);
    const Tensor& source = node.in(1);
    const auto rows = static_cast<uint64_t>(source.shape[0]);
    const uint64_t elements = source.elements() / rows;
    const auto type = vector_type(node.out().type);
    const Extents line{1, 1, 1, 1, 1, elements};
    VectorKernel kernel;
    VectorWork& work = kernel.work;
    work.lines = node.in().elements();
    work.input_line_bytes = {sizeof(int32_t)};
    VectorRef from = input_ref(1, dense(type, line));
    if (source.is_constant) {
        from = params_ref(dense(type, line));
        kernel.params_bytes = source.size_bytes();
        if (node.has_data) kernel.params = source.bytes();
    } else {
        work.input_line_bytes.push_back(0);
    }
    VectorStep step = move_step(line, std::move(from), output_ref(dense(type, line)));
    step.in.push_back(input_ref(0, per_line(VectorType::kInt32)));
    step.gather_rows = rows;
    work.output_line_bytes = elements * arch::bytes_of(type);
    work.steps = {std::move(step)};
    return kernel;
}

}  // namespace tandem::compiler
