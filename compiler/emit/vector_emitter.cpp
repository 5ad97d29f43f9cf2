// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/vector_emitter.h"

#include <algorithm>

#include "arch/geometry.h"
#include "base/divide.h"
#include "compiler/lower/fit.h"

namespace tandem::compiler {

namespace {

/// Large sums are cut into parts, so that the next kernel starts before all is added.
constexpr uint64_t kAddElements = 1024, kMostAddParts = 4;
constexpr uint64_t kMostCount = uint64_t{1} << 31;  ///< elements of one instruction
constexpr uint64_t kMostOfField = 65535;

}  // namespace

VectorEmitter::VectorEmitter(CoreEmitter& core, size_t kernel)
    : core_(core), index_(kernel), kernel_(core.kernel(kernel)), share_(core.share(kernel)) {}

bool VectorEmitter::advance() {
    if (chunk_ >= share_.chunks.size()) return false;
    if (share_.in == Way::kChunks) {
        if (chunk_ == 0) load(0);
        if (chunk_ + 1 < share_.chunks.size()) load(chunk_ + 1);
    }
    std::visit([this](const auto& work) { emit(work); }, kernel_.work);
    if (share_.out == Way::kChunks) store();
    ++chunk_;
    return true;
}

Range VectorEmitter::operand(size_t operand) const {
    return operand_of_lines(kernel_, core_.graph(), operand, chunk().lines);
}
Range VectorEmitter::result() const {
    return output_of_lines(kernel_, core_.graph(), chunk().lines);
}

uint32_t VectorEmitter::operand_address(size_t i) const {
    const ValueId value = kernel_.inputs[i];
    if (core_.plan().values[value].resident) return core_.address_of(value, operand(i).begin);
    const uint64_t of_one = share_.in_piece / kernel_.inputs.size();
    return static_cast<uint32_t>(share_.in_area + chunk_ % 2 * share_.in_piece + i * of_one);
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

Access VectorEmitter::params() const {
    return core_.buffer(core_.plan().kernels[index_].params_address, kernel_.params_bytes);
}

template <class Instruction>
void VectorEmitter::add(const Instruction& instruction, std::initializer_list<Access> accesses) {
    Step step = core_.step(isa::Unit::kVector, node());
    step.words = instruction.encode();
    for (const Access& access : accesses) {
        step.touches(access);
        step.writes_value = step.writes_value || access.writes;
    }
    core_.add(step);
}

/// Of one value with itself where there is one.
void VectorEmitter::emit(const AddWork&) {
    const uint64_t elements = chunk().lines.size();
    const uint64_t element = std::max<uint64_t>(operand(0).size() / elements, 1);
    const size_t second = kernel_.inputs.size() - 1;
    const uint64_t parts = std::max(std::clamp<uint64_t>(elements / kAddElements, 1, kMostAddParts),
                                    base::divide_up(elements, kMostCount));
    for (uint64_t i = 0; i < parts; ++i) {
        const uint64_t at = base::part_begin(elements, parts, i) * element;
        const uint64_t count = base::part(elements, parts, i), bytes = count * element;
        isa::Add op;
        op.a_addr = static_cast<uint32_t>(operand_address(0) + at);
        op.b_addr = static_cast<uint32_t>(operand_address(second) + at);
        op.out_addr = static_cast<uint32_t>(result_address() + at);
        op.count = static_cast<uint32_t>(count);
        op.params_addr = core_.plan().kernels[index_].params_address;
        op.rounding = static_cast<uint8_t>(core_.graph().rounding);
        add(op, {core_.buffer(op.a_addr, bytes), core_.buffer(op.b_addr, bytes), params(),
                 core_.buffer(op.out_addr, bytes, true)});
    }
}

/// Every element once, as wide as the unit: the largest of a window of one.
void VectorEmitter::emit(const CopyWork&) {
    const uint64_t bytes = operand(0).size();
    const uint64_t channels = std::min<uint64_t>({core_.chip().vector.lanes, bytes, kMostOfField});
    uint64_t at = 0;
    while (bytes - at >= channels) {
        const uint64_t pixels = std::min((bytes - at) / channels, kMostOfField);
        copy(at, pixels, channels);
        at += pixels * channels;
    }
    if (at < bytes) copy(at, 1, bytes - at);
}

void VectorEmitter::copy(uint64_t at, uint64_t pixels, uint64_t channels) {
    isa::SetPoolWindow window{.header = {}, .geometry = isa::kSinglePixel};
    window.geometry.channels = window.geometry.pixel_stride = static_cast<uint16_t>(channels);
    window.geometry.in_width = window.geometry.out_width = static_cast<uint16_t>(pixels);
    add(window, {});
    isa::Pool op;
    op.images = 1;
    op.in_addr = static_cast<uint32_t>(operand_address(0) + at);
    op.out_addr = static_cast<uint32_t>(result_address() + at);
    op.clamp_min = -128;
    op.clamp_max = 127;
    add(op, {core_.buffer(op.in_addr, pixels * channels),
             core_.buffer(op.out_addr, pixels * channels, true)});
}

void VectorEmitter::emit(const PoolWork& work) {
    const ImageWindow& w = work.window;
    isa::SetPoolWindow window;
    window.geometry = chunk_window(w, chunk(), static_cast<uint32_t>(w.channels));
    add(window, {});
    const uint64_t images = base::divide_up(chunk().lines.size(), w.out_h);
    const uint64_t parts = base::divide_up(images, kMostOfField);
    for (uint64_t i = 0; i < parts; ++i) {
        const uint64_t first = base::part_begin(images, parts, i);
        const uint64_t count = base::part(images, parts, i);
        const uint64_t in = parts == 1 ? operand(0).size() : count * w.image_bytes();
        const uint64_t out = result().size() / images;
        isa::Pool op;
        op.in_addr = static_cast<uint32_t>(operand_address(0) + first * w.image_bytes());
        op.out_addr = static_cast<uint32_t>(result_address() + first * out);
        op.images = static_cast<uint16_t>(count);
        op.kind = static_cast<uint8_t>(work.kind);
        op.rounding = static_cast<uint8_t>(core_.graph().rounding);
        op.zero_point = static_cast<int8_t>(work.range.zero_point);
        op.clamp_min = static_cast<int8_t>(work.range.low);
        op.clamp_max = static_cast<int8_t>(work.range.high);
        op.params_addr = core_.plan().kernels[index_].params_address;
        add(op,
            {core_.buffer(op.in_addr, in), params(), core_.buffer(op.out_addr, count * out, true)});
    }
}

void VectorEmitter::emit(const SoftmaxWork& work) {
    const uint64_t rows = chunk().lines.size(), parts = base::divide_up(rows, kMostOfField);
    for (uint64_t i = 0; i < parts; ++i) {
        const uint64_t at = base::part_begin(rows, parts, i) * work.cols;
        const uint64_t count = base::part(rows, parts, i), bytes = count * work.cols;
        isa::Softmax op;
        op.in_addr = static_cast<uint32_t>(operand_address(0) + at);
        op.out_addr = static_cast<uint32_t>(result_address() + at);
        op.rows = static_cast<uint16_t>(count);
        op.cols = fit<uint16_t>(work.cols, "elements of a row");
        op.params_addr = core_.plan().kernels[index_].params_address;
        add(op,
            {core_.buffer(op.in_addr, bytes), params(), core_.buffer(op.out_addr, bytes, true)});
    }
}

}  // namespace tandem::compiler
