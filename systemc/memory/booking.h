// SPDX-License-Identifier: Apache-2.0
// A shared path that serves the requests of one instant in a fixed order: core,
// then unit, then array. Whoever asks takes a booking and learns in a later
// instant when it will be served; until then others may still ask in the same
// instant. Which process the kernel happens to run first decides nothing, so
// engines that tell their events in other delta cycles give the same times.
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>
#include <vector>

#include "systemc/kernel/level.h"

namespace tandem::sim {

struct PathRequest {
    uint64_t address = 0;
    uint64_t bytes = 0;
    bool urgent = false;
};

class BookingDesk;

/// A place in the order of a path. Given back when it is destroyed; keep it
/// where a process that is reset does not leave it behind.
class Booking {
  public:
    Booking() = default;
    Booking(BookingDesk& desk, uint32_t slot) : desk_(&desk), slot_(slot) {}
    Booking(Booking&& other) noexcept
        : desk_(std::exchange(other.desk_, nullptr)), slot_(other.slot_) {}
    Booking& operator=(Booking&& other) noexcept {
        std::swap(desk_, other.desk_);
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~Booking();

    /// When the last byte is through. Only in a later instant than that of
    /// asking, unless the desk serves at once.
    sc_core::sc_time end() const;

  private:
    BookingDesk* desk_ = nullptr;
    uint32_t slot_ = 0;
};

class BookingDesk {
  public:
    /// Takes the path for a request that was made at `asked`; returns when its
    /// last byte is through.
    using Serve = std::function<sc_core::sc_time(const PathRequest&, sc_core::sc_time asked)>;

    /// `level` kLt: without contention the order does not matter, requests are served at once.
    explicit BookingDesk(Serve serve, Level level = Level::kAt)
        : serve_(std::move(serve)), at_once_(level == Level::kLt) {}
    BookingDesk(const BookingDesk&) = delete;
    BookingDesk& operator=(const BookingDesk&) = delete;

    /// `turn` is the place in the order of this instant: the smallest is served
    /// first.
    Booking book(uint32_t turn, const PathRequest& request);
    /// For those that are alone: served at once, behind all that asked before.
    sc_core::sc_time serve_now(const PathRequest& request);

  private:
    friend class Booking;
    struct Pending {
        sc_core::sc_time asked;
        uint32_t turn;
        uint32_t slot;
        PathRequest request;
    };

    static constexpr uint32_t kNobody = ~0u;

    sc_core::sc_time end_of(uint32_t slot);
    void release(uint32_t slot);
    /// Serves what was asked for before `instant`.
    void settle(sc_core::sc_time instant);
    void serve_pending();

    Serve serve_;
    const bool at_once_;
    std::vector<Pending> pending_;  ///< in the order of asking
    std::vector<sc_core::sc_time> ends_;
    std::vector<uint32_t> free_;
};

}  // namespace tandem::sim
