// SPDX-License-Identifier: Apache-2.0
// Parts of which lowerings to the vector unit are made.
#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "compiler/lower/quantise.h"
#include "compiler/lower/vector_lowerings.h"

namespace tandem::compiler {

using Extents = std::array<uint64_t, arch::kVectorAxes>;

/// Elements side by side in the order of `shape`, the last axis fastest.
arch::VectorView dense(arch::VectorType type, const Extents& shape);
/// One element for all of a line.
arch::VectorView per_line(arch::VectorType type);

VectorRef input_ref(uint32_t index, const arch::VectorView& view, int32_t zero_point = 0);
VectorRef output_ref(const arch::VectorView& view, int32_t zero_point = 0);
VectorRef params_ref(const arch::VectorView& view, uint64_t offset = 0);
VectorRef scratch_ref(uint32_t index, const arch::VectorView& view, int32_t zero_point = 0);

using Refs = std::vector<VectorRef>;
VectorStep map_step(const Extents& shape, Refs in, Chain chain, VectorRef out);
VectorStep reduce_step(const Extents& shape, Reduction reduction, std::vector<uint8_t> axes,
                       Refs in, Chain chain, VectorRef out);
/// `table`: 256 entries of the output's type.
VectorStep lookup_step(const Extents& shape, VectorRef in, VectorRef table, VectorRef out);
VectorStep move_step(const Extents& shape, VectorRef in, VectorRef out);

/// x * m in the convention of gemmlowp.
ChainBuilder::Term scaled(ChainBuilder& f, ChainBuilder::Term x, const Multiplier& m);
/// An int32 in steps of the output: x * m, rounded.
ChainBuilder::Term requantised(ChainBuilder& f, ChainBuilder::Term x, const Multiplier& m,
                               Rounding rounding);

/// 0 where the graph has none.
int32_t zero_point_of(const Tensor& tensor);
/// Zero point and clamp of the output; zero and all of int8 where the graph has no scales.
OutputRange range_of(const LoweredNode& node);

/// A map over all elements of the inputs that `inputs` names, which have one shape; one that is
/// named twice is read twice. Elements are lines; the first ones of them are the output.
VectorWork elementwise(const LoweredNode& node, const std::vector<uint32_t>& inputs, Chain chain,
                       const OutputRange& range);

/// Input 0 through the node's window, reduced over its taps.
VectorWork pooled(const LoweredNode& node, Reduction reduction);

/// Every image of input 0 summed over its pixels, images being lines.
VectorWork image_sums(const LoweredNode& node, Chain chain, const OutputRange& range);

/// The chain of a pool's sum, f.a(), and the number of its elements, which is a constant or, where
/// windows reach into the padding, operand b of the parameter block; as `type` has it.
void divide_by_window(
    VectorKernel& kernel, const LoweredNode& node, arch::VectorType type,
    const std::function<ChainBuilder::Term(ChainBuilder&, ChainBuilder::Term count)>& result);

/// The bytes of some values, for a parameter block.
template <class T>
std::vector<uint8_t> bytes_of(const T* values, size_t count) {
    std::vector<uint8_t> bytes(count * sizeof(T));
    std::memcpy(bytes.data(), values, bytes.size());
    return bytes;
}

}  // namespace tandem::compiler
