// SPDX-License-Identifier: Apache-2.0
// Device memory: bandwidth first come first served, latency that overlaps, bounds. One simulation
// per process.
#include "systemc/memory/device_memory.h"

#include <gtest/gtest.h>

#include <functional>

#include "systemc/kernel/clock.h"
#include "systemc/memory/initiator.h"

namespace tandem::sim {
namespace {

/// 4 GB/s: 1000 bytes take 250 ns. Latency 100 ns.
class Bench : public sc_core::sc_module {
  public:
    explicit Bench(sc_core::sc_module_name name) : sc_module(name) {
        first.memory_out.bind(memory.memory_in);
        second.memory_out.bind(memory.memory_in);
        SC_HAS_PROCESS(Bench);
        SC_THREAD(body_thread);
    }
    void run(std::function<void()> body) {
        body_ = std::move(body);
        sc_core::sc_start();
    }
    double read_ns(MemoryInitiator& from, uint64_t bytes) {
        sc_core::sc_time delay;
        EXPECT_TRUE(from.read(0, nullptr, bytes, delay));
        return delay.to_seconds() * 1e9;
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
    void body_thread() { body_(); }
    std::function<void()> body_;
};

class DeviceMemoryTest : public testing::Test {
  protected:
    DeviceMemoryTest() {
        require_femtoseconds();
        bench_ = std::make_unique<Bench>("bench");
    }
    std::unique_ptr<Bench> bench_;
};

TEST_F(DeviceMemoryTest, TakesLatencyAndTransfer) {
    bench_->run([&] { EXPECT_DOUBLE_EQ(bench_->read_ns(bench_->first, 1000), 350.0) << "ns"; });
}

TEST_F(DeviceMemoryTest, ServesFirstComeFirstServedAndOverlapsLatency) {
    bench_->run([&] {
        EXPECT_DOUBLE_EQ(bench_->read_ns(bench_->first, 1000), 350.0) << "ns";
        EXPECT_DOUBLE_EQ(bench_->read_ns(bench_->second, 1000), 600.0)
            << "ns, two transfers and one latency";
        EXPECT_DOUBLE_EQ(bench_->read_ns(bench_->first, 400), 700.0)
            << "ns, three transfers and one latency";
    });
}

TEST_F(DeviceMemoryTest, IsFreeAgainWhenTheTransfersAreDone) {
    bench_->run([&] {
        bench_->read_ns(bench_->first, 1000);
        sc_core::wait(250, sc_core::SC_NS);
        EXPECT_DOUBLE_EQ(bench_->read_ns(bench_->second, 1000), 350.0) << "ns";
    });
}

TEST_F(DeviceMemoryTest, WaitsForTheRestOfATransfer) {
    bench_->run([&] {
        bench_->read_ns(bench_->first, 1000);
        sc_core::wait(249, sc_core::SC_NS);
        EXPECT_NEAR(bench_->read_ns(bench_->second, 1000), 351.0, 1e-6) << "ns";
    });
}

TEST_F(DeviceMemoryTest, SharesTheChannelBetweenReadsAndWrites) {
    bench_->run([&] {
        bench_->read_ns(bench_->first, 1000);
        sc_core::sc_time delay;
        ASSERT_TRUE(bench_->second.write(0, nullptr, 1000, delay));
        EXPECT_DOUBLE_EQ(delay.to_seconds() * 1e9, 600.0) << "ns";
    });
}

TEST_F(DeviceMemoryTest, AddsToTheDelayThatIsThere) {
    bench_->run([&] {
        sc_core::sc_time delay(50, sc_core::SC_NS);
        ASSERT_TRUE(bench_->first.read(0, nullptr, 1000, delay));
        EXPECT_DOUBLE_EQ(delay.to_seconds() * 1e9, 400.0) << "ns";
    });
}

TEST_F(DeviceMemoryTest, KeepsWhatIsWritten) {
    bench_->run([&] {
        sc_core::sc_time delay;
        uint8_t out[3] = {1, 2, 3}, in[3] = {};
        ASSERT_TRUE(bench_->first.write(65533, out, 3, delay));
        ASSERT_TRUE(bench_->second.read(65533, in, 3, delay));
        EXPECT_TRUE(std::equal(in, in + 3, out)) << "last three bytes";
    });
}

TEST_F(DeviceMemoryTest, RefusesAccessBeyondItsEndAndTakesNoTime) {
    bench_->run([&] {
        uint8_t byte = 0;
        for (const auto& [address, bytes] : {std::pair{65536ull, 1ull},
                                             {65535ull, 2ull},
                                             {~0ull, 1ull},
                                             {~0ull, 2ull},
                                             {1ull, 65536ull}}) {
            sc_core::sc_time delay;
            EXPECT_FALSE(bench_->first.read(address, &byte, bytes, delay))
                << bytes << " bytes at " << address;
            EXPECT_EQ(delay, sc_core::SC_ZERO_TIME) << bytes << " bytes at " << address;
        }
    });
}

TEST_F(DeviceMemoryTest, CountsBytesOfEachDirection) {
    bench_->run([&] {
        sc_core::sc_time delay;
        uint8_t bytes[20] = {};
        bench_->first.read(0, bytes, 10, delay);
        bench_->first.write(0, bytes, 20, delay);
        EXPECT_EQ(bench_->memory.bytes_read(), 10u);
        EXPECT_EQ(bench_->memory.bytes_written(), 20u);
    });
}

TEST_F(DeviceMemoryTest, CountsBookedTransfersWithoutData) {
    bench_->run([&] {
        Booked in, out;
        in.extent = 10, out.extent = 20;
        bench_->first.book_read(0, nullptr, 10, in);
        bench_->first.book_write(0, nullptr, 20, out);
        EXPECT_EQ(bench_->memory.bytes_read(), 10u);
        EXPECT_EQ(bench_->memory.bytes_written(), 20u);
    });
}

TEST_F(DeviceMemoryTest, ShowsItsBytesDirectly) {
    bench_->run([&] {
        const auto bytes = bench_->first.direct();
        ASSERT_EQ(bytes.size(), 65536u);
        bytes[5] = 77;
        EXPECT_EQ(int{bench_->memory.store().bytes()[5]}, 77);
    });
}

TEST_F(DeviceMemoryTest, RoundsATransferUpToTheNextFemtosecond) {
    bench_->run([&] {
        Bandwidth path(3000000000);
        EXPECT_EQ(path.reserve(1).value(), 333334u) << "fs for one byte at 3 GB/s";
        EXPECT_EQ(path.total_bytes(), 1u);
    });
}

}  // namespace
}  // namespace tandem::sim
