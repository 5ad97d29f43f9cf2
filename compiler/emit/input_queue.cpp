// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/input_queue.h"

#include <algorithm>

#include "base/divide.h"
#include "compiler/emit/gather.h"

namespace tandem::compiler {

InputQueue::InputQueue(CoreEmitter& core, ValueId value, int32_t node, const ImageWindow* images)
    : core_(core), value_(value), node_(node), piece_bytes_(core.piece_bytes(value)) {
    if (images == nullptr) return;
    images_ = *images;
    unit_ = images->gathered().in_line_bytes();
}

void InputQueue::add(const Range& bytes, uint32_t address) {
    if (bytes.empty()) return;
    if (empty() && own_end_ == pieces_.size()) {
        pieces_.clear();
        next_ = own_end_ = last_run_ = own_last_run_ = 0;
    }
    if (pieces_.empty() || address != pieces_.back().address + pieces_.back().bytes.size())
        last_run_ = pieces_.size();
    const uint64_t units = bytes.size() / unit_;
    const uint64_t count = std::min(units, base::divide_up(bytes.size(), piece_bytes_));
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = base::part_begin(units, count, i) * unit_;
        const uint64_t end = base::part_begin(units, count, i + 1) * unit_;
        pieces_.push_back({{bytes.begin + at, bytes.begin + end}, address + at});
    }
}

void InputQueue::begin_chunk() {
    own_end_ = pieces_.size();
    own_last_run_ = last_run_;
    last_run_ = own_end_;
}

size_t InputQueue::end_of(uint64_t end_address) const {
    if (next_ >= own_end_) return next_;
    size_t end = std::max(next_, own_last_run_);
    while (end < own_end_ && pieces_[end].address < end_address) ++end;
    return end;
}

void InputQueue::load_until(size_t end) {
    for (; next_ < end; ++next_) {
        const Piece& piece = pieces_[next_];
        load(piece);
        last_ = core_.buffer(piece.address, piece.bytes.size());
    }
}

void InputQueue::load(const Piece& piece) {
    const auto address = static_cast<uint32_t>(piece.address);
    if (!images_) {
        core_.load({value_, piece.bytes.begin, piece.bytes.size(), 1, 0, address}, node_);
        return;
    }
    const uint64_t pixel = images_->pixel_bytes();
    const Range pixels{piece.bytes.begin / pixel, piece.bytes.end / pixel};
    for (const Transfer& part : gathered(value_, {*images_, pixels, 0, pixel, address}))
        core_.load(part, node_);
}

void InputQueue::need(uint64_t end_address) { load_until(end_of(end_address)); }

void InputQueue::approach(uint64_t end_address, double part) {
    const size_t end = end_of(end_address);
    load_until(next_ + static_cast<size_t>(static_cast<double>(end - next_) * part));
}

void InputQueue::look_ahead(double part) {
    if (next_ < own_end_) return;
    const auto pieces = static_cast<double>(pieces_.size() - own_end_);
    load_until(std::min(own_end_ + static_cast<size_t>(pieces * part), pieces_.size()));
}

}  // namespace tandem::compiler
