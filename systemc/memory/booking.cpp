// SPDX-License-Identifier: Apache-2.0
#include "systemc/memory/booking.h"

#include <algorithm>
#include <stdexcept>

namespace tandem::sim {

Booking::~Booking() {
    if (desk_ != nullptr) desk_->release(slot_);
}

sc_core::sc_time Booking::end() const { return desk_->end_of(slot_); }

Booking BookingDesk::book(uint32_t turn, const PathRequest& request) {
    settle(sc_core::sc_time_stamp());
    if (free_.empty()) {
        free_.push_back(static_cast<uint32_t>(ends_.size()));
        ends_.emplace_back();
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    if (at_once_)
        ends_[slot] = serve_(request, sc_core::sc_time_stamp());
    else
        pending_.push_back({sc_core::sc_time_stamp(), turn, slot, request});
    return {*this, slot};
}

sc_core::sc_time BookingDesk::serve_now(const PathRequest& request) {
    serve_pending();
    return serve_(request, sc_core::sc_time_stamp());
}

sc_core::sc_time BookingDesk::end_of(uint32_t slot) {
    settle(sc_core::sc_time_stamp());
    for (const Pending& pending : pending_)
        if (pending.slot == slot)
            throw std::logic_error("a booking is asked for its end in the instant of asking");
    return ends_[slot];
}

/// What has been booked takes its time on the path, also when nobody waits for
/// it any more.
void BookingDesk::release(uint32_t slot) {
    for (Pending& pending : pending_)
        if (pending.slot == slot) pending.slot = kNobody;
    free_.push_back(slot);
}

void BookingDesk::settle(sc_core::sc_time instant) {
    // All that are pending were asked for in one instant: whoever asks in a later
    // one settles.
    if (!pending_.empty() && pending_.front().asked < instant) serve_pending();
}

void BookingDesk::serve_pending() {
    if (pending_.size() > 1)
        std::stable_sort(pending_.begin(), pending_.end(),
                         [](const Pending& a, const Pending& b) { return a.turn < b.turn; });
    for (const Pending& pending : pending_) {
        const sc_core::sc_time done = serve_(pending.request, pending.asked);
        if (pending.slot != kNobody) ends_[pending.slot] = done;
    }
    pending_.clear();
}

}  // namespace tandem::sim
