// SPDX-License-Identifier: Apache-2.0
// Strict, sequenced mock of a TPU's registers: every access of the driver must be the next one that
// the test announced. Host memory is real, so that ring entries can be looked at.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <ios>
#include <string>
#include <vector>

#include "firmware/hal/hal.h"

namespace tandem::testbench {

class MockHal final : public firmware::Hal {
  public:
    static constexpr uint64_t kMemoryBase = 0x80000000;
    static constexpr uint64_t kMemoryBytes = 1 << 16;

    MockHal() : memory_(kMemoryBytes) {}
    ~MockHal() {
        EXPECT_TRUE(expected_.empty()) << expected_.size() << " announced accesses missing";
    }

    void expect_read(uint32_t offset, uint32_t value) {
        expected_.push_back({Kind::kRead, offset, value});
    }
    void expect_write(uint32_t offset, uint32_t value) {
        expected_.push_back({Kind::kWrite, offset, value});
    }
    /// The next sleep ends by an interrupt, or only when its time is over.
    void expect_sleep(bool interrupt) { expected_.push_back({Kind::kSleep, 0, interrupt}); }
    void expect_barrier() { expected_.push_back({Kind::kBarrier, 0, 0}); }

    uint32_t read32(uint32_t offset) override { return next(Kind::kRead, offset, "read").value; }

    void write32(uint32_t offset, uint32_t value) override {
        const Access expected = next(Kind::kWrite, offset, "write");
        EXPECT_EQ(value, expected.value) << "written to offset 0x" << std::hex << offset;
    }

    bool wait_for_interrupt(uint64_t timeout_us) override {
        const bool interrupt = next(Kind::kSleep, 0, "sleep").value != 0;
        now_us_ += interrupt ? 0 : timeout_us;
        return interrupt;
    }

    uint64_t now_us() override { return now_us_; }

    void* pointer(uint64_t address, uint64_t bytes) override {
        if (address < kMemoryBase || address - kMemoryBase > kMemoryBytes) return nullptr;
        if (bytes > kMemoryBytes - (address - kMemoryBase)) return nullptr;
        return memory_.data() + (address - kMemoryBase);
    }

    void memory_barrier() override { next(Kind::kBarrier, 0, "barrier"); }
    void log(const char* text) override { log_.emplace_back(text); }

    template <class T>
    T peek(uint64_t address) {
        T value;
        std::memcpy(&value, pointer(address, sizeof value), sizeof value);
        return value;
    }

    template <class T>
    void poke(uint64_t address, T value) {
        std::memcpy(pointer(address, sizeof value), &value, sizeof value);
    }

    const std::vector<std::string>& lines() const { return log_; }

  private:
    enum class Kind { kRead, kWrite, kSleep, kBarrier };
    struct Access {
        Kind kind;
        uint32_t offset;
        uint32_t value;
    };

    Access next(Kind kind, uint32_t offset, const char* what) {
        if (expected_.empty()) {
            ADD_FAILURE() << what << " at offset 0x" << std::hex << offset
                          << " after the last announced access";
            return {kind, offset, 0};
        }
        const Access access = expected_.front();
        expected_.pop_front();
        EXPECT_TRUE(access.kind == kind && access.offset == offset)
            << what << " at offset 0x" << std::hex << offset << " where kind "
            << static_cast<int>(access.kind) << " at 0x" << access.offset << " was announced";
        return access;
    }

    std::vector<uint8_t> memory_;
    std::deque<Access> expected_;
    std::vector<std::string> log_;
    uint64_t now_us_ = 0;
};

}  // namespace tandem::testbench
