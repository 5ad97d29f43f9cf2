// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes last.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace tandem::compiler {

/// For every byte of one memory: the last step that wrote it and, per unit, the last step that has
/// read it since. Steps are numbered upwards; -1 is none.
class AccessMap {
  public:
    static constexpr size_t kUnits = 6;

    struct Segment {
        uint64_t end = 0;
        int64_t writer = -1;
        size_t writer_unit = 0;
        std::array<int64_t, kUnits> readers{-1, -1, -1, -1, -1, -1};
    };

    /// Calls visit(Segment&) for pieces that together cover begin to end - 1.
    template <class Visit>
    void for_range(uint64_t begin, uint64_t end, const Visit& visit) {
        if (begin >= end) return;
        split(begin);
        split(end);
        uint64_t at = begin;
        for (auto it = segments_.lower_bound(begin); at < end;) {
            if (it == segments_.end() || it->first > at) {
                // A gap: nobody was here yet.
                const uint64_t gap_end = it == segments_.end() ? end : std::min(end, it->first);
                it = segments_.insert(it, {at, Segment{.end = gap_end}});
            }
            visit(it->second);
            at = it->second.end;
            ++it;
        }
    }

    /// for_range(begin, end) becomes one piece written by `step`.
    void write(uint64_t begin, uint64_t end, int64_t step, size_t unit) {
        if (begin >= end) return;
        split(begin);
        split(end);
        segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(end));
        Segment segment;
        segment.end = end;
        segment.writer = step;
        segment.writer_unit = unit;
        segments_.emplace(begin, segment);
    }

  private:
    /// No segment reaches over `position`.
    void split(uint64_t position) {
        auto it = segments_.lower_bound(position);
        if (it == segments_.begin()) return;
        --it;
        if (it->second.end <= position || it->first == position) return;
        Segment upper = it->second;
        it->second.end = position;
        segments_.emplace(position, upper);
    }

    std::map<uint64_t, Segment> segments_;  ///< by begin, not overlapping
};

}  // namespace tandem::compiler
