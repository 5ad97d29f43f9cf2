// SPDX-License-Identifier: Apache-2.0
// Channels of device memory against a plain simulation: every byte is put into its channel by its
// address, and time passes in small steps in which a channel that stands still does nothing.
#include "systemc/memory/memory_channels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "systemc/kernel/clock.h"
#include "testbench/support/seeded.h"

namespace tandem::sim {
namespace {

using testbench::Seeded;
using Memory = arch::ChipConfig::Memory;
using Wide = unsigned __int128;

constexpr uint64_t kFsPerPs = 1000;

/// The channels by their description. Refreshes begin at multiples of the interval.
class PlainChannels {
  public:
    explicit PlainChannels(const Memory& memory) : memory_(memory), free_(memory.channels) {}

    /// When the last byte of a transfer passed that is asked for at `now`; all times in fs.
    uint64_t reserve(uint64_t now, uint64_t address, uint64_t bytes, bool urgent) {
        std::vector<uint64_t> share(memory_.channels);
        for (uint64_t i = 0; i < bytes; ++i)
            ++share[(address + i) / memory_.channel_interleave % memory_.channels];
        uint64_t done = now;
        for (size_t channel = 0; channel < share.size(); ++channel) {
            if (share[channel] == 0) continue;
            const uint64_t work = femtoseconds(share[channel]);
            const uint64_t turn = std::max(now, free_[channel]);
            done = std::max(done, pass(urgent ? now : turn, work));
            free_[channel] = pass(turn, work);
        }
        return done;
    }

  private:
    uint64_t femtoseconds(uint64_t bytes) const {
        const Wide rate = Wide{memory_.bytes_per_second} * memory_.efficiency_percent / 100;
        const Wide work = Wide{bytes} * 1'000'000'000'000'000ull * memory_.channels;
        return static_cast<uint64_t>((work + rate - 1) / rate);
    }
    /// One refresh, or the stretch up to the next, at a time.
    uint64_t pass(uint64_t time, uint64_t work) const {
        const uint64_t interval = memory_.refresh_interval_ps * kFsPerPs;
        const uint64_t refresh = memory_.refresh_duration_ps * kFsPerPs;
        if (interval == 0) return time + work;
        while (work != 0) {
            const uint64_t phase = time % interval;
            if (phase < refresh) {
                time += refresh - phase;
                continue;
            }
            const uint64_t step = std::min(work, interval - phase);
            time += step;
            work -= step;
        }
        return time;
    }
    const Memory memory_;
    std::vector<uint64_t> free_;
};

class Body : public sc_core::sc_module {
  public:
    explicit Body(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(Body);
        SC_THREAD(thread);
    }
    void run(std::function<void()> body) {
        body_ = std::move(body);
        sc_core::sc_start();
    }

  private:
    void thread() { body_(); }
    std::function<void()> body_;
};

/// 4 GB/s over 4 channels of 64 bytes: a byte takes a channel 1 ns.
Memory four_channels() {
    Memory memory;
    memory.bytes = 1 << 20;
    memory.bytes_per_second = 4'000'000'000;
    memory.channels = 4;
    memory.channel_interleave = 64;
    memory.efficiency_percent = 100;
    return memory;
}

class MemoryChannelsTest : public testing::Test {
  protected:
    MemoryChannelsTest() {
        require_femtoseconds();
        body_ = std::make_unique<Body>("body");
    }
    static double ns(const sc_core::sc_time& time) { return time.to_seconds() * 1e9; }
    static uint64_t now() { return sc_core::sc_time_stamp().value(); }
    static void wait_ps(uint64_t ps) {
        if (ps != 0) sc_core::wait(sc_core::sc_time::from_value(ps * kFsPerPs));
    }
    static void wait_until_ns(uint64_t time) { wait_ps(time * 1000 - now() / kFsPerPs); }
    void run(std::function<void()> body) { body_->run(std::move(body)); }

    std::unique_ptr<Body> body_;
};

TEST_F(MemoryChannelsTest, SharesALongTransferEvenly) {
    run([] {
        MemoryChannels channels(four_channels());
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 4096, false)), 1024) << "ns, 4 GB/s";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 4096, false)), 2048) << "ns, after the first";
    });
}

TEST_F(MemoryChannelsTest, AShortTransferUsesSomeChannelsOnly) {
    run([] {
        MemoryChannels channels(four_channels());
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 64, false)), 64) << "ns, channel 0 alone";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(64, 128, false)), 64) << "ns, channels 1 and 2";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(192, 10, false)), 10) << "ns, channel 3";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(256, 1, false)), 65) << "ns, channel 0 again";
    });
}

TEST_F(MemoryChannelsTest, AnUnalignedStartUsesOneChannelMore) {
    run([] {
        MemoryChannels channels(four_channels());
        // 4 bytes in channel 0, 60 in channel 1.
        EXPECT_DOUBLE_EQ(ns(channels.reserve(60, 64, false)), 60) << "ns";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 64, false)), 68) << "ns, behind 4 bytes";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(64, 64, false)), 124) << "ns, behind 60 bytes";
    });
}

TEST_F(MemoryChannelsTest, AStartWithinAStripeComesBackToItsChannel) {
    run([] {
        MemoryChannels channels(four_channels());
        // 256 bytes from 32: channel 0 has the first 32 and the last 32.
        EXPECT_DOUBLE_EQ(ns(channels.reserve(32, 256, false)), 64) << "ns";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 1, false)), 65) << "ns";
    });
}

TEST_F(MemoryChannelsTest, EfficiencyTakesItsPartOfTheBandwidth) {
    run([] {
        Memory memory = four_channels();
        memory.efficiency_percent = 80;
        MemoryChannels channels(memory);
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 4096, false)), 1280) << "ns, 3.2 GB/s";
    });
}

TEST_F(MemoryChannelsTest, StandsStillInEachRefresh) {
    run([] {
        Memory memory = four_channels();
        memory.channel_interleave = 25;
        memory.refresh_interval_ps = 1'000'000;
        memory.refresh_duration_ps = 100'000;
        MemoryChannels channels(memory);
        wait_until_ns(100);
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 3600, false)), 900) << "ns, up to the refresh";
        wait_until_ns(1050);
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 400, false)), 150) << "ns, from within a refresh";
        wait_until_ns(1900);
        // 100 ns before the refresh at 2000, 100 after it.
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 800, false)), 300) << "ns, over a refresh";
        wait_until_ns(10100);
        // 100 times 900 ns of work: 99 refreshes in between.
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 360000, false)), 99900) << "ns, over 99 refreshes";
    });
}

TEST_F(MemoryChannelsTest, RefreshTakesItsShareOfTheBandwidth) {
    run([] {
        Memory memory = four_channels();
        memory.refresh_interval_ps = 7'800'000;
        memory.refresh_duration_ps = 260'000;
        MemoryChannels channels(memory);
        const double expected = 0.25e9 * 7800 / 7540;
        EXPECT_NEAR(ns(channels.reserve(0, 1'000'000'000, false)), expected, 7800) << "ns";
    });
}

TEST_F(MemoryChannelsTest, AnUrgentTransferGoesFirstAndDelaysTheOthers) {
    run([] {
        MemoryChannels channels(four_channels());
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 4096, false)), 1024) << "ns";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 256, true)), 64) << "ns, urgent";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 256, false)), 1152) << "ns, behind both";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 64, true)), 64) << "ns, urgent, one channel";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(64, 64, false)), 1216) << "ns, another channel";
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 64, false)), 1280) << "ns, the delayed channel";
    });
}

TEST_F(MemoryChannelsTest, AnUrgentTransferWaitsForARefresh) {
    run([] {
        Memory memory = four_channels();
        memory.refresh_interval_ps = 1'000'000;
        memory.refresh_duration_ps = 100'000;
        MemoryChannels channels(memory);
        wait_until_ns(2010);
        EXPECT_DOUBLE_EQ(ns(channels.reserve(0, 256, true)), 154) << "ns";
    });
}

TEST_F(MemoryChannelsTest, AddsUpTheTimeOfAllChannels) {
    run([] {
        Memory memory = four_channels();
        memory.refresh_interval_ps = 1'000'000;
        memory.refresh_duration_ps = 100'000;
        MemoryChannels channels(memory);
        channels.reserve(0, 4096, false);
        channels.reserve(32, 100, true);
        EXPECT_DOUBLE_EQ(ns(channels.busy()), 4196) << "ns: one for each byte, refreshes apart";
    });
}

TEST_F(MemoryChannelsTest, OneChannelIsAPlainPath) {
    run([] {
        Memory memory = four_channels();
        memory.channels = 1;
        memory.bytes_per_second = 3'000'000'000;
        MemoryChannels channels(memory);
        EXPECT_EQ(channels.reserve(12345, 1, false).value(), 333334u) << "fs, rounded up";
        EXPECT_EQ(channels.reserve(5, 2, false).value(), 333334u + 666667u) << "fs";
    });
}

/// Sizes from one byte to many times all channels' stripes; now and then urgent.
void compare_random(const Memory& memory, uint64_t seed, uint64_t longest_bytes, uint32_t count) {
    Seeded random(seed);
    MemoryChannels channels(memory);
    PlainChannels plain(memory);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t address = random.below(1 << 20);
        const uint64_t bytes = 1 + random.below(random.chance(50) ? longest_bytes : 300);
        const bool urgent = random.chance(20);
        const uint64_t now = sc_core::sc_time_stamp().value();
        const uint64_t expected = plain.reserve(now, address, bytes, urgent) - now;
        ASSERT_EQ(channels.reserve(address, bytes, urgent).value(), expected)
            << "fs; transfer " << i << ": " << bytes << " bytes at " << address << " from " << now
            << (urgent ? ", urgent" : "") << "; " << memory.channels << " channels, interleave "
            << memory.channel_interleave << ", seed " << seed;
        if (random.chance(70))
            sc_core::wait(sc_core::sc_time::from_value(random.below(2 * expected + 1)));
    }
}

TEST_F(MemoryChannelsTest, RandomTransfersAreThoseOfThePlainSimulation) {
    run([] {
        for (uint64_t seed = 0; seed < 200; ++seed) {
            Seeded random(1000 + seed);
            Memory memory;
            memory.bytes_per_second = 1'000'000 + random.below(2'000'000'000'000);
            memory.channels = static_cast<uint32_t>(1 + random.below(seed % 2 == 0 ? 4 : 40));
            memory.channel_interleave = static_cast<uint32_t>(
                random.chance(50) ? 16u << random.below(8) : 16 + random.below(500));
            memory.efficiency_percent = static_cast<uint32_t>(1 + random.below(100));
            if (random.chance(70)) {
                memory.refresh_interval_ps = 1000 + random.below(10'000'000);
                memory.refresh_duration_ps = 1 + random.below(memory.refresh_interval_ps / 2);
            }
            ASSERT_NO_FATAL_FAILURE(compare_random(memory, seed, 20'000, 40));
        }
    });
}

/// What a channel has still to do, in ps, worked off one picosecond at a time.
TEST_F(MemoryChannelsTest, QueuesAreWorkedOffPicosecondByPicosecond) {
    run([] {
        for (uint64_t seed = 0; seed < 10; ++seed) {
            Seeded random(seed);
            Memory memory = four_channels();
            constexpr uint64_t byte_ps = 10;
            memory.channels = static_cast<uint32_t>(1 + random.below(4));
            memory.bytes_per_second = 1'000'000'000'000 / byte_ps * memory.channels;
            memory.refresh_interval_ps = 500 + random.below(1000);
            memory.refresh_duration_ps = 50 + random.below(300);
            MemoryChannels channels(memory);
            std::vector<uint64_t> left(memory.channels);
            const auto standing_still = [&](uint64_t ps) {
                return ps % memory.refresh_interval_ps < memory.refresh_duration_ps;
            };
            for (uint64_t i = 0; i < 100; ++i) {
                const uint64_t address = random.below(4096), bytes = 1 + random.below(600);
                for (uint64_t b = 0; b < bytes; ++b)
                    left[(address + b) / memory.channel_interleave % memory.channels] += byte_ps;
                const uint64_t start = now() / kFsPerPs;
                uint64_t ends = start;
                for (uint64_t channel = 0; channel < left.size(); ++channel) {
                    bool used = false;
                    for (uint64_t b = 0; b < bytes; ++b)
                        used |=
                            (address + b) / memory.channel_interleave % memory.channels == channel;
                    uint64_t ps = start;
                    for (uint64_t work = left[channel]; used && work != 0; ++ps)
                        work -= !standing_still(ps);
                    ends = std::max(ends, ps);
                }
                ASSERT_EQ(channels.reserve(address, bytes, false).value(),
                          (ends - start) * kFsPerPs)
                    << "fs; transfer " << i << ": " << bytes << " bytes at " << address << ", seed "
                    << seed;
                const uint64_t pause = random.below(4000);
                for (uint64_t ps = start; ps < start + pause; ++ps)
                    for (uint64_t& work : left) work -= work != 0 && !standing_still(ps);
                wait_ps(pause);
            }
        }
    });
}

}  // namespace
}  // namespace tandem::sim
