// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes of a space last. Steps are numbered upwards over all units.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <vector>

namespace tandem::compiler {

/// The last steps of some units. There are many of these; most of them hold one or two entries.
class LastSteps {
  public:
    struct Entry {
        uint32_t unit;
        int64_t step;
    };

    LastSteps() {}  // entries beyond the count are nobody's: not worth clearing
    LastSteps(const LastSteps& other) { *this = other; }
    LastSteps& operator=(const LastSteps& other) {
        if (this == &other) return *this;
        clear();
        for (const Entry& entry : other) append(entry);
        return *this;
    }

    const Entry* begin() const { return many_ ? many_->data() : few_.data(); }
    const Entry* end() const { return begin() + count_; }
    bool empty() const { return count_ == 0; }
    void clear() { count_ = 0; }
    void set(uint32_t unit, int64_t step) {
        Entry* const entries = data();
        for (uint32_t i = 0; i < count_; ++i)
            if (entries[i].unit == unit) {
                entries[i].step = std::max(entries[i].step, step);
                return;
            }
        append({unit, step});
    }
    void join(const LastSteps& other) {
        for (const Entry& entry : other) set(entry.unit, entry.step);
    }
    bool all_before(int64_t step) const {
        return std::all_of(begin(), end(), [&](const Entry& e) { return e.step < step; });
    }

  private:
    static constexpr size_t kFew = 4;

    Entry* data() { return many_ ? many_->data() : few_.data(); }
    void append(const Entry& entry) {
        if (!many_ && count_ == kFew) {
            many_ = std::make_unique<std::vector<Entry>>(2 * kFew);
            std::copy(few_.begin(), few_.end(), many_->begin());
        }
        if (many_ && count_ == many_->size()) many_->resize(2 * count_);
        data()[count_++] = entry;
    }

    std::array<Entry, kFew> few_;
    std::unique_ptr<std::vector<Entry>> many_;  ///< then all of them
    uint32_t count_ = 0;
};

class AccessMap {
  public:
    struct Segment {
        uint64_t end = 0;
        LastSteps writers, readers;
    };

    explicit AccessMap(std::pmr::memory_resource* memory) : segments_(memory) {}

    /// Calls visit(Segment&) for pieces that together cover begin to end - 1.
    template <class Visit>
    void for_range(uint64_t begin, uint64_t end, const Visit& visit) {
        split(begin);
        split(end);
        uint64_t at = begin;
        for (auto it = segments_.lower_bound(begin); at < end;) {
            if (it == segments_.end() || it->first > at) {
                // A gap: nobody was here yet.
                const uint64_t gap_end = it == segments_.end() ? end : std::min(end, it->first);
                it = segments_.try_emplace(it, at);
                it->second.end = gap_end;
            }
            visit(it->second);
            at = it->second.end;
            ++it;
        }
    }

    /// The pieces that are there; does not change the map.
    template <class Visit>
    void look(uint64_t begin, uint64_t end, const Visit& visit) const {
        auto it = segments_.upper_bound(begin);
        if (it != segments_.begin() && std::prev(it)->second.end > begin) --it;
        for (; it != segments_.end() && it->first < end; ++it) visit(it->second);
    }

    /// for_range(begin, end) becomes one piece written by `step` alone.
    void write(uint64_t begin, uint64_t end, uint32_t unit, int64_t step) {
        split(begin);
        split(end);
        auto it = segments_.lower_bound(begin);
        if (it != segments_.end() && it->first == begin && it->second.end == end) {
            it->second.writers.clear();
            it->second.readers.clear();
        } else {
            while (it != segments_.end() && it->first < end) it = segments_.erase(it);
            it = segments_.try_emplace(it, begin);
            it->second.end = end;
        }
        it->second.writers.set(unit, step);
    }

    size_t size() const { return segments_.size(); }

    /// Joins neighbours that nobody has touched since step `before`: an access to one of them is
    /// then taken for one to all. Safe, for it only asks for more order, and all of it is of the
    /// past.
    void coarsen(int64_t before) {
        for (auto it = segments_.begin(); it != segments_.end();) {
            auto next = std::next(it);
            if (next == segments_.end()) return;
            if (is_old(it->second, before) && is_old(next->second, before)) {
                it->second.end = next->second.end;
                it->second.writers.join(next->second.writers);
                it->second.readers.join(next->second.readers);
                segments_.erase(next);
            } else {
                ++it;
            }
        }
    }

  private:
    static bool is_old(const Segment& segment, int64_t before) {
        return segment.writers.all_before(before) && segment.readers.all_before(before);
    }

    /// No segment reaches over `position`.
    void split(uint64_t position) {
        auto it = segments_.lower_bound(position);
        if (it == segments_.begin()) return;
        --it;
        if (it->second.end <= position) return;
        const Segment& lower = it->second;
        Segment& upper = segments_.try_emplace(std::next(it), position, lower)->second;
        upper.end = lower.end;
        it->second.end = position;
    }

    std::pmr::map<uint64_t, Segment> segments_;  ///< by begin, not overlapping
};

}  // namespace tandem::compiler
