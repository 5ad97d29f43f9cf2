// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/vector_emitter.h"

#include <algorithm>
#include <stdexcept>

#include "arch/vector_rules.h"
#include "base/divide.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

namespace {

using arch::VectorOperand;

/// Least elements of a part, most parts.
constexpr uint64_t kPartElements = 1024, kMostParts = 4;

/// Distance of a line from line 0, in bytes.
int64_t line_offset(const VectorWork& work, const arch::VectorView& view, uint64_t line) {
    const uint64_t image = work.lines_per_image();
    if (!work.window) return static_cast<int64_t>(line) * view.strides[0];
    return static_cast<int64_t>(line / image) * view.strides[0] +
           static_cast<int64_t>(line % image) * view.strides[1];
}

/// A distance that nothing is ever apart need not fit into its field.
uint16_t tap_step(uint64_t step, uint64_t extent, const char* what) {
    return extent == 1 ? 0 : fit<uint16_t>(step, what);
}

arch::Taps taps_of(const ImageWindow& w, const ChunkImages& part, uint32_t fill) {
    return {
        {tap_step(w.stride_h, part.out_rows, "vertical stride"),
         tap_step(w.dilation_h, w.kernel_h, "vertical dilation"),
         fit<uint16_t>(part.above, "padding above"), fit<uint16_t>(part.in_rows, "image height")},
        {tap_step(w.stride_w, w.out_w, "horizontal stride"),
         tap_step(w.dilation_w, w.kernel_w, "horizontal dilation"),
         fit<uint16_t>(w.pad_left, "padding on the left"), fit<uint16_t>(w.in_w, "image width")},
        fill};
}

}  // namespace

VectorEmitter::VectorEmitter(CoreEmitter& core, const Visit& visit)
    : core_(core),
      index_(visit.kernel),
      kernel_(core.kernel(index_)),
      work_(*kernel_.vector()),
      share_(core.share(visit)) {}

bool VectorEmitter::advance() {
    if (chunk_ >= share_.chunks.size()) return false;
    if (share_.in == Way::kChunks) {
        if (chunk_ == 0) load(0);
        if (chunk_ + 1 < share_.chunks.size()) load(chunk_ + 1);
    }
    // The last part is the short one: the others need no set_shape of their own.
    const Range& all = chunk().lines;
    const uint64_t most = base::divide_up(all.size(), parts());
    for (uint64_t at = all.begin; at < all.end; at += most)
        for (const VectorStep& step : work_.steps) emit(step, {at, std::min(at + most, all.end)});
    if (share_.out == Way::kChunks) store();
    ++chunk_;
    return true;
}

// ---- places

Range VectorEmitter::operand(size_t operand) const {
    return operand_of_lines(kernel_, core_.graph(), operand, chunk().lines);
}
Range VectorEmitter::result() const {
    return output_of_lines(kernel_, core_.graph(), chunk().lines);
}

uint32_t VectorEmitter::operand_address(size_t i) const {
    const ValueId value = kernel_.inputs[i];
    if (core_.plan().values[value].resident) return core_.address_of(value, operand(i).begin);
    return static_cast<uint32_t>(share_.in_area + chunk_ % 2 * share_.in_piece +
                                 share_.in_places[i]);
}
uint32_t VectorEmitter::result_address() const {
    if (share_.out == Way::kStays) return core_.address_of(kernel_.output, result().begin);
    return static_cast<uint32_t>(share_.out_area + chunk_ % 2 * share_.out_piece);
}

void VectorEmitter::load(size_t chunk) {
    const size_t now = chunk_;
    chunk_ = chunk;
    for (size_t i = 0; i < kernel_.inputs.size(); ++i)
        if (!core_.plan().values[kernel_.inputs[i]].resident)
            core_.load_in_pieces(kernel_.inputs[i], operand(i), operand_address(i), node());
    chunk_ = now;
}

void VectorEmitter::store() {
    if (core_.layer_sync())
        core_.barrier({core_.buffer(result_address(), result().size())}, node());
    core_.store_in_pieces(kernel_.output, result(), result_address(), node());
}

uint32_t VectorEmitter::address_of(const VectorStep& step, const VectorRef& ref,
                                   const Range& lines) const {
    const int64_t first = line_offset(work_, ref.view, lines.begin);
    const int64_t of_chunk = first - line_offset(work_, ref.view, chunk().lines.begin);
    int64_t address = static_cast<int64_t>(ref.offset);
    const bool gathered = step.gather_rows != 0 && &ref == &step.in[0];
    switch (ref.place) {
        case VectorPlace::kInput:
            address += operand_address(ref.index);
            if (gathered) break;
            // Through taps the chunk's rows are an image from its first byte on.
            if (!step.taps || step.own_taps || &ref != &step.in[0])
                address += first - static_cast<int64_t>(operand(ref.index).begin);
            break;
        case VectorPlace::kOutput:
            address += result_address() + of_chunk;
            break;
        case VectorPlace::kParams:
            address += core_.plan().kernels[index_].params_address + (gathered ? 0 : first);
            break;
        case VectorPlace::kScratch:
            address +=
                static_cast<int64_t>(share_.scratch_area +
                                     scratch_offset(work_, ref.index, chunk().lines.size())) +
                of_chunk;
            break;
    }
    return fit<uint32_t>(address, "an address in the buffer");
}

// ---- instructions

uint64_t VectorEmitter::parts() const {
    if (work_.window || work_.steps.size() > 1) return 1;
    uint64_t elements = chunk().lines.size();
    for (size_t axis = 1; axis < arch::kVectorAxes; ++axis) elements *= work_.steps[0].shape[axis];
    return std::min(std::clamp<uint64_t>(elements / kPartElements, 1, kMostParts),
                    chunk().lines.size());
}

VectorEmitter::State VectorEmitter::state_for(const VectorStep& step, const Range& lines) const {
    State state = core_.vector_state();
    for (size_t axis = 0; axis < arch::kVectorAxes; ++axis)
        state.shape[axis] = fit<uint32_t>(step.shape[axis], "elements along an axis");
    state.shape[0] = fit<uint32_t>(lines.size(), "lines");
    if (work_.window) {
        const ChunkImages part = chunk_images(*work_.window, chunk());
        state.shape[0] = fit<uint32_t>(part.images, "images");
        state.shape[1] = fit<uint32_t>(part.out_rows, "rows of an image");
        if (step.taps) state.taps = taps_of(*work_.window, part, step.fill);
    }
    if (step.own_taps) state.taps = *step.own_taps;
    state.view(VectorOperand::kOut) = step.out.view;
    // Tables and indices have no view.
    const bool one = step.kind == VectorStep::Kind::kLookup || step.kind == VectorStep::Kind::kMove;
    for (size_t i = 0; i < (one ? 1 : step.in.size()); ++i) state.views[1 + i] = step.in[i].view;
    if (step.kind == VectorStep::Kind::kMap || step.kind == VectorStep::Kind::kReduce)
        set_chain(state, step.chain);
    return state;
}

/// What map and reduce have in common.
template <class Instruction>
Instruction VectorEmitter::with_chain(const VectorStep& step, const Range& lines) const {
    Instruction op;
    uint32_t* const addresses[] = {&op.a_addr, &op.b_addr, &op.c_addr};
    int8_t* const zeros[] = {&op.zero_a, &op.zero_b, &op.zero_c};
    for (size_t i = 0; i < step.in.size(); ++i) {
        *addresses[i] = address_of(step, step.in[i], lines);
        *zeros[i] = fit<int8_t>(step.in[i].zero_point, "a zero point");
    }
    op.out_addr = address_of(step, step.out, lines);
    op.zero_out = fit<int8_t>(step.out.zero_point, "a zero point");
    op.clamp_min = fit<int8_t>(step.clamp_min, "a smallest output");
    op.clamp_max = fit<int8_t>(step.clamp_max, "a largest output");
    op.operands = static_cast<uint8_t>(step.in.size());
    op.taps = step.taps ? 1 : 0;
    return op;
}

isa::Words VectorEmitter::words_of(const VectorStep& step, const Range& lines) const {
    switch (step.kind) {
        case VectorStep::Kind::kMap:
            return with_chain<isa::Map>(step, lines).encode();
        case VectorStep::Kind::kReduce: {
            auto op = with_chain<isa::Reduce>(step, lines);
            op.kind = static_cast<uint8_t>(step.reduction);
            for (const uint8_t axis : step.reduced_axes)
                op.axes = static_cast<uint8_t>(op.axes | 1u << axis);
            return op.encode();
        }
        case VectorStep::Kind::kLookup: {
            isa::Lookup op;
            op.a_addr = address_of(step, step.in[0], lines);
            op.table_addr = address_of(step, step.in[1], lines);
            op.out_addr = address_of(step, step.out, lines);
            return op.encode();
        }
        case VectorStep::Kind::kMove: {
            isa::Move op;
            op.a_addr = address_of(step, step.in[0], lines);
            op.out_addr = address_of(step, step.out, lines);
            op.taps = step.taps ? 1 : 0;
            op.gather = step.gather_rows != 0 ? 1 : 0;
            op.rows = fit<uint32_t>(step.gather_rows, "rows to gather from");
            if (op.gather != 0) op.index_addr = address_of(step, step.in[1], lines);
            return op.encode();
        }
    }
    throw std::logic_error("a step of no kind");
}

void VectorEmitter::emit(const VectorStep& step, const Range& lines) {
    const State state = state_for(step, lines);
    core_.use_vector_state(state, node());
    Step emitted = core_.step(isa::Unit::kVector, node());
    emitted.words = words_of(step, lines);
    emitted.writes_value = step.out.place == VectorPlace::kOutput;
    for (const arch::VectorAccess& access : arch::vector_accesses(emitted.words, state)) {
        const auto low = static_cast<uint64_t>(access.low);
        emitted.touches(core_.buffer(low, static_cast<uint64_t>(access.high) - low, access.writes));
    }
    core_.add(emitted);
}

}  // namespace tandem::compiler
