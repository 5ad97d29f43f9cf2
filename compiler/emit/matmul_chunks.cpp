// SPDX-License-Identifier: Apache-2.0
// Chunks of a product's input, one of which comes while another is used.
#include <algorithm>

#include "compiler/emit/matmul_emitter.h"

namespace tandem::compiler {

/// Two chunks are on their way at most: the third one takes the place of the first.
void MatmulEmitter::begin_chunk() {
    if (share_.paced && share_.in != Way::kSlices) return queue_chunk();
    if (!begun_) {
        begun_ = true;
        if (share_.in == Way::kWhole) {
            const Range first = share_.chunks.front().input, last = share_.chunks.back().input;
            core_.load_in_pieces(kernel_.inputs[0], {first.begin, last.end}, share_.in_area,
                                 node());
        }
        if (share_.in == Way::kChunks) load_chunk(0);
        if (share_.in == Way::kSlices) {
            for (uint64_t slice = 0; slice < share_.slice_places; ++slice) load_slice(slice);
        }
    }
    if (share_.in == Way::kChunks && chunk_ + 1 < share_.chunks.size()) load_chunk(chunk_ + 1);
}

void MatmulEmitter::load_chunk(size_t chunk) {
    core_.load_in_pieces(kernel_.inputs[0], share_.chunks[chunk].input, place_of_chunk(chunk),
                         node());
}

/// Where two places overlap, one chunk's early bytes come while the one before it is in use: the
/// first ones of the first place, the last ones of the second.
uint64_t MatmulEmitter::early_bytes() const { return std::min(share_.in_step, share_.in_piece); }

/// Bytes that come after the early ones. What is gathered comes in whole lines; a piece has room
/// for somewhat more.
uint64_t MatmulEmitter::late_bytes() const {
    const uint64_t late = share_.in_piece - early_bytes();
    return share_.gathers ? late - late % window().in_line_bytes() : late;
}

void MatmulEmitter::queue_early(size_t chunk) {
    if (chunk >= share_.chunks.size()) return;
    const Range all = share_.chunks[chunk].input;
    const uint64_t early = early_bytes();
    if (chunk % 2 == 0) {
        input_.add({all.begin, std::min(all.end, all.begin + early)}, place_of_chunk(chunk));
    } else {
        // Behind the first place.
        const uint64_t late = std::min(all.size(), late_bytes());
        input_.add({all.begin + late, all.end},
                   static_cast<uint32_t>(place_of_chunk(chunk) + late));
    }
}

void MatmulEmitter::queue_chunk() {
    if (share_.in == Way::kWhole && !begun_) {
        input_.add({share_.chunks.front().input.begin, share_.chunks.back().input.end},
                   share_.in_area);
        input_.begin_chunk();
    }
    if (share_.in == Way::kChunks) {
        const Range all = chunk().input;
        if (!begun_) {
            input_.add(all, place_of_chunk(chunk_));
        } else if (chunk_ % 2 == 0) {
            const uint64_t early = std::min(all.size(), early_bytes());
            input_.add({all.begin + early, all.end},
                       static_cast<uint32_t>(place_of_chunk(chunk_) + early));
        } else {
            const uint64_t late = std::min(all.size(), late_bytes());
            input_.add({all.begin, all.begin + late}, place_of_chunk(chunk_));
        }
        input_.begin_chunk();
        queue_early(chunk_ + 1);
    }
    begun_ = true;
}

void MatmulEmitter::end_chunk() {
    if (share_.out == Way::kChunks) leaving_.push_back({{}, chunk_, waves_done_ - 1});
    if (!share_.paced) store_all();
    ++chunk_;
    wave_ = 0;
    if (chunk_ < share_.chunks.size()) return;
    drain_all();
    store_all();
}

uint32_t MatmulEmitter::place_of_chunk(size_t chunk) const {
    return static_cast<uint32_t>(share_.in_area + chunk % 2 * share_.in_step);
}

uint32_t MatmulEmitter::input_address() const {
    switch (share_.in) {
        case Way::kStays:
            return core_.address_of(kernel_.inputs[0], chunk().input.begin);
        case Way::kWhole:
            return static_cast<uint32_t>(share_.in_area + chunk().input.begin -
                                         share_.chunks.front().input.begin);
        default:
            return place_of_chunk(chunk_);
    }
}

}  // namespace tandem::compiler
