// SPDX-License-Identifier: Apache-2.0
// What a product reads, chunk by chunk, in pieces: each is asked for before the instruction that
// reads it, and ahead of that as far as the products have come, so that neither the weights nor the
// results wait behind more of the input than is wanted soon.
#pragma once

#include <vector>

#include "compiler/emit/core_emitter.h"

namespace tandem::compiler {

class InputQueue {
  public:
    /// `images`: which are gathered; null: the value comes as it is.
    InputQueue(CoreEmitter& core, ValueId value, int32_t node, const ImageWindow* images);

    /// Bytes of the value, of its gathered images whole lines, to an address; those behind all that
    /// are there.
    void add(const Range& bytes, uint32_t address);
    /// What has been added belongs to the chunk that begins, the last `ascending` bytes of it in
    /// the order of their addresses; what is added from now on to the one behind it.
    void begin_chunk();

    bool empty() const { return next_ == pieces_.size(); }
    /// Bytes of the chunk in front of this address.
    void need(uint64_t end_address);
    /// The same, but only a part of what is not asked for yet.
    void approach(uint64_t end_address, double part);
    /// A part of what belongs to the next chunk, if all of this one's has been asked for.
    void look_ahead(double part);
    /// The place of the last piece that was asked for.
    const std::optional<Access>& last() const { return last_; }

  private:
    struct Piece {
        Range bytes;
        uint64_t address = 0;
    };
    /// Behind the last piece that has to be there.
    size_t end_of(uint64_t end_address) const;
    void load_until(size_t end);
    void load(const Piece& piece);

    CoreEmitter& core_;
    const ValueId value_;
    const int32_t node_;
    const uint64_t piece_bytes_;
    std::optional<ImageWindow> images_;
    uint64_t unit_ = 1;  ///< bytes that are not parted
    std::vector<Piece> pieces_;
    size_t next_ = 0, own_end_ = 0;
    size_t last_run_ = 0, own_last_run_ = 0;  ///< where the addresses begin to ascend
    std::optional<Access> last_;
};

}  // namespace tandem::compiler
