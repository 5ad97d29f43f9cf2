// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lattice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {
namespace {

constexpr size_t kMostAxes = arch::kVectorAxes - 1;

}  // namespace

NodeLattice::NodeLattice(const LoweredNode& node, const Shape& shape,
                         std::vector<LatticeOperand> operands, std::optional<size_t> line_axes)
    : operands_(std::move(operands)) {
    // The first axis behind those of lines that counts.
    size_t first_inner = line_axes.value_or(0);
    while (first_inner < shape.size() && shape[first_inner] == 1) ++first_inner;
    bool has_lines = !line_axes;
    // One sample may be an axis of one element, whose stride nobody asks for.
    const bool counts_samples = node.batch != 1 && !shape.empty() && shape[0] == 1;
    for (LatticeOperand& operand : operands_)
        if (counts_samples && !operand.is_constant && operand.has_first_axis)
            operand.strides[0] = static_cast<int64_t>(operand.elements);
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1 && !(i == 0 && counts_samples)) continue;
        has_lines = has_lines || i < *line_axes;
        Axis axis{static_cast<uint64_t>(shape[i]), {}};
        for (const LatticeOperand& operand : operands_) axis.strides.push_back(operand.strides[i]);
        const auto evenly = [&](size_t k) {
            return axes_.back().strides[k] == axis.strides[k] * shape[i];
        };
        bool joins = !axes_.empty() && (!line_axes || i != first_inner);
        for (size_t k = 0; joins && k < operands_.size(); ++k) joins = evenly(k);
        if (joins) axis.extent *= axes_.back().extent;
        if (joins) axes_.pop_back();
        axes_.push_back(std::move(axis));
    }
    if (axes_.empty() || !has_lines)
        axes_.insert(axes_.begin(), {1, std::vector<int64_t>(operands_.size())});
    outer_ = axes_.front();
    axes_.erase(axes_.begin());
    if (axes_.size() > kMostAxes)
        throw UserError(node.text, "axes",
                        fmt::format("at most {} that do not join", kMostAxes + 1),
                        std::to_string(axes_.size() + 1));
    for (size_t k = 0; node.batch != 1 && k < operands_.size(); ++k) {
        const uint64_t stride = operands_[k].is_constant ? 0 : operands_[k].elements;
        if (static_cast<uint64_t>(outer_.strides[k]) * outer_.extent != stride)
            throw UserError(node.text, "batch",
                            "1, or operands of which the first axis is the batch's",
                            std::to_string(node.batch));
    }
    lines_ = node.batched(outer_.extent);
    for (size_t i = 0; i < axes_.size(); ++i)
        line_[arch::kVectorAxes - axes_.size() + i] = axes_[i].extent;
}

uint64_t NodeLattice::line_elements() const {
    uint64_t elements = 1;
    for (const uint64_t extent : line_) elements *= extent;
    return elements;
}

/// Every line reads its own part of the operand.
bool NodeLattice::goes_with_lines(size_t k) const {
    const LatticeOperand& operand = operands_[k];
    int64_t low = operand.offset, high = operand.offset + 1;
    for (const Axis& axis : axes_) {
        const int64_t reach = static_cast<int64_t>(axis.extent - 1) * axis.strides[k];
        (reach < 0 ? low : high) += reach;
    }
    const int64_t stride = outer_.strides[k];
    return stride > 0 && low >= 0 && high <= stride &&
           static_cast<uint64_t>(stride) * outer_.extent == operand.elements;
}

uint64_t NodeLattice::line_bytes(size_t k) const {
    if (!goes_with_lines(k)) return 0;
    return static_cast<uint64_t>(outer_.strides[k]) * arch::bytes_of(operands_[k].type);
}

arch::VectorView NodeLattice::view(size_t k) const {
    const auto bytes = static_cast<int64_t>(arch::bytes_of(operands_[k].type));
    const auto stride = [&](const Axis& axis) {
        return fit<int32_t>(axis.strides[k] * bytes, "bytes of a stride");
    };
    arch::VectorView view{operands_[k].type, {}};
    view.strides[0] = stride(outer_);
    for (size_t i = 0; i < axes_.size(); ++i)
        view.strides[arch::kVectorAxes - axes_.size() + i] = stride(axes_[i]);
    return view;
}

uint64_t NodeLattice::offset_bytes(size_t k) const {
    return static_cast<uint64_t>(operands_[k].offset) * arch::bytes_of(operands_[k].type);
}

}  // namespace tandem::compiler
