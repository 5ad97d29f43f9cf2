// SPDX-License-Identifier: Apache-2.0
// Requests of one instant: whoever the kernel runs first, the same order. One simulation per
// process.
#include "systemc/memory/booking.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "systemc/kernel/clock.h"
#include "systemc/memory/device_memory.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {
namespace {

/// 4 GB/s: 1000 bytes take 250 ns. Latency 100 ns. Two users, each a process of its own.
class TwoUsers : public sc_core::sc_module {
  public:
    explicit TwoUsers(sc_core::sc_module_name name) : sc_module(name) {
        for (MemoryInitiator* user : {&first, &second}) user->memory_out.bind(memory.memory_in);
        SC_HAS_PROCESS(TwoUsers);
        SC_THREAD(first_thread);
        SC_THREAD(second_thread);
    }
    /// When the transfers of 1000 and 400 bytes end, in ns, if the users ask at 10 ns after this
    /// many delta cycles.
    std::pair<double, double> run(int first_deltas, int second_deltas, uint32_t first_turn,
                                  uint32_t second_turn) {
        deltas_ = {first_deltas, second_deltas};
        turns_ = {first_turn, second_turn};
        sc_core::sc_start();
        return {ends_[0], ends_[1]};
    }
    static arch::ChipConfig config() {
        arch::ChipConfig config;
        config.memory = {1 << 16, 4000000000, 100000};
        config.memory.efficiency_percent = 100;
        return config;
    }
    DeviceMemory memory{"memory", config()};
    MemoryInitiator first{"first"}, second{"second"};

  private:
    void first_thread() { ask(0, first, 1000); }
    void second_thread() { ask(1, second, 400); }
    void ask(size_t user, MemoryInitiator& from, uint64_t bytes) {
        sc_core::wait(10, sc_core::SC_NS);
        for (int i = 0; i < deltas_[user]; ++i) sc_core::wait(sc_core::SC_ZERO_TIME);
        Booked booked;
        booked.turn = turns_[user];
        booked.extent = bytes;
        EXPECT_TRUE(from.book_read(0, nullptr, bytes, booked));
        sc_core::wait(1, sc_core::SC_FS);
        ends_[user] = booked.booking.end().to_seconds() * 1e9;
    }
    std::array<int, 2> deltas_{};
    std::array<uint32_t, 2> turns_{};
    std::array<double, 2> ends_{};
};

struct Order {
    int first_deltas, second_deltas;
};

class BookingOrder : public testing::TestWithParam<Order> {
  protected:
    BookingOrder() {
        require_femtoseconds();
        users_ = std::make_unique<TwoUsers>("users");
    }
    std::pair<double, double> run(uint32_t first_turn, uint32_t second_turn) {
        return users_->run(GetParam().first_deltas, GetParam().second_deltas, first_turn,
                           second_turn);
    }
    std::unique_ptr<TwoUsers> users_;
};

// 10 + 250 + 100 and, behind it, 10 + 250 + 100 + 100.
TEST_P(BookingOrder, TheSmallerTurnIsServedFirst) {
    const auto [first, second] = run(3, 7);
    EXPECT_DOUBLE_EQ(first, 360);
    EXPECT_DOUBLE_EQ(second, 460);
}

TEST_P(BookingOrder, TheTurnsDecideNotTheUsers) {
    const auto [first, second] = run(7, 3);
    EXPECT_DOUBLE_EQ(second, 210);
    EXPECT_DOUBLE_EQ(first, 460);
}

INSTANTIATE_TEST_SUITE_P(DeltaCycles, BookingOrder,
                         testing::Values(Order{0, 0}, Order{0, 3}, Order{3, 0}, Order{1, 2}));

class BookingTest : public testing::Test {
  protected:
    BookingTest() { require_femtoseconds(); }
    /// Every byte takes a nanosecond.
    sc_core::sc_time serve(const PathRequest& request, sc_core::sc_time asked) {
        free_ = std::max(free_, asked) + sc_core::sc_time(double(request.bytes), sc_core::SC_NS);
        order_.push_back(request.address);
        return free_;
    }
    BookingDesk desk_{[this](const PathRequest& r, sc_core::sc_time t) { return serve(r, t); }};
    sc_core::sc_time free_;
    std::vector<uint64_t> order_;
};

TEST_F(BookingTest, MayNotBeAskedInTheInstantOfAsking) {
    const Booking booking = desk_.book(1, {0, 10});
    EXPECT_THROW(booking.end(), std::logic_error);
}

TEST_F(BookingTest, WhatNobodyWaitsForTakesItsTimeAllTheSame) {
    { const Booking dropped = desk_.book(1, {7, 10}); }
    const Booking kept = desk_.book(2, {8, 10});
    sc_core::sc_start(1, sc_core::SC_NS);
    EXPECT_EQ(kept.end(), sc_core::sc_time(20, sc_core::SC_NS));
    EXPECT_EQ(order_, (std::vector<uint64_t>{7, 8}));
}

TEST_F(BookingTest, KeepsTheOrderOfOneUser) {
    std::vector<Booking> bookings;
    for (uint64_t i = 0; i < 4; ++i) bookings.push_back(desk_.book(5, {i, 1}));
    bookings.push_back(desk_.book(2, {9, 1}));
    sc_core::sc_start(1, sc_core::SC_NS);
    EXPECT_EQ(bookings[3].end(), sc_core::sc_time(5, sc_core::SC_NS));
    EXPECT_EQ(order_, (std::vector<uint64_t>{9, 0, 1, 2, 3}));
}

TEST_F(BookingTest, WhoIsServedAtOnceComesBehindThoseThatAskedBefore) {
    const Booking booking = desk_.book(9, {1, 10});
    EXPECT_EQ(desk_.serve_now({2, 5}), sc_core::sc_time(15, sc_core::SC_NS));
    EXPECT_EQ(order_, (std::vector<uint64_t>{1, 2}));
}

}  // namespace
}  // namespace tandem::sim
