// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "engine/vector_elements.h"
#include "engine/vector_lattice.h"

namespace tandem::engine {
namespace {

using arch::VectorOperand;
using arch::VectorState;

/// Elements of `Bytes` bytes from one place to the other, or `fill`.
template <size_t Bytes>
void copy(std::span<uint8_t> buffer, const Run& from, const Run& to, uint32_t fill) {
    uint8_t* target = buffer.data() + to.at;
    const uint8_t* source = buffer.data() + from.at;
    if (from.inside && from.stride == Bytes && to.stride == Bytes) {
        std::memmove(target, source, from.count * Bytes);
        return;
    }
    for (uint64_t i = 0; i < from.count; ++i, target += to.stride) {
        uint8_t element[Bytes];
        std::memcpy(element, &fill, Bytes);
        if (from.inside)
            std::memcpy(element, source + static_cast<int64_t>(i) * from.stride, Bytes);
        std::memcpy(target, element, Bytes);
    }
}

void copy_all(uint32_t bytes, uint64_t count, Runs from, Runs to, std::span<uint8_t> buffer,
              uint32_t fill) {
    Run source{}, target{};
    for (uint64_t done = 0; done < count;) {
        if (source.count == 0) source = from.next(count);
        if (target.count == 0) target = to.next(count);
        Run part = source;
        part.count = std::min(source.count, target.count);
        if (bytes == 1) copy<1>(buffer, part, target, fill);
        if (bytes == 2) copy<2>(buffer, part, target, fill);
        if (bytes == 4) copy<4>(buffer, part, target, fill);
        done += part.count;
        for (Run* run : {&source, &target}) {
            run->at += static_cast<int64_t>(part.count) * run->stride;
            run->count -= part.count;
        }
    }
}

}  // namespace

bool move_elements(const isa::Move& op, const VectorState& state, std::span<uint8_t> buffer) {
    const uint32_t bytes = arch::bytes_of(state.view(VectorOperand::kOut).type);
    const Strides from = strides_of(state, VectorOperand::kA),
                  to = strides_of(state, VectorOperand::kOut);
    // With gather row by row, else everything at a time.
    const bool gather = op.gather != 0;
    const uint32_t dropped = gather ? 1 : 0;
    uint64_t count = 1;
    for (const uint64_t extent : extents_of(state, dropped)) count *= extent;
    for (uint32_t row = 0; row < (gather ? state.shape[0] : 1); ++row) {
        int32_t index = 0;
        if (gather) {
            std::memcpy(&index, buffer.data() + op.index_addr + uint64_t{row} * 4, sizeof index);
            if (index < 0 || static_cast<uint32_t>(index) >= op.rows) return false;
        }
        const auto a = static_cast<uint64_t>(int64_t{op.a_addr} + index * from[0]);
        const auto out = static_cast<uint64_t>(int64_t{op.out_addr} + row * to[0]);
        copy_all(bytes, count,
                 Runs(Lattice(state, VectorOperand::kA, a,
                              {.through_taps = op.taps != 0, .dropped = dropped})),
                 Runs(Lattice(state, VectorOperand::kOut, out, {.dropped = dropped})), buffer,
                 state.taps.fill);
    }
    return true;
}

}  // namespace tandem::engine
