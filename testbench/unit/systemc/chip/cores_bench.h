// SPDX-License-Identifier: Apache-2.0
// A chip with all its cores and arrays, and a function that gives programs to their sequencers
// directly, without ring and firmware. One simulation per process.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "testbench/support/chip_bench.h"
#include "testbench/support/chip_programs.h"

namespace tandem::testbench {

/// small_chip() with 2 cores of 3 arrays.
inline arch::ChipConfig many_arrays() {
    arch::ChipConfig chip = small_chip();
    chip.cores = 2;
    chip.mxu.count = 3;
    return chip;
}

/// A program from a list, piece by piece.
class ListSource : public arch::ProgramSource {
  public:
    explicit ListSource(ProgramWords words) : words_(std::move(words)) {}
    size_t next(std::span<isa::Words> words) override {
        const size_t count = std::min(words.size(), words_.size() - at_);
        std::copy_n(words_.begin() + static_cast<ptrdiff_t>(at_), count, words.begin());
        at_ += count;
        return count;
    }

  private:
    ProgramWords words_;
    size_t at_ = 0;
};

/// Where the instructions of a core ran, by their index.
struct Spans : sim::ChipObserver {
    std::map<uint32_t, std::pair<sim::Cycle, sim::Cycle>> of;
    void on_retire(isa::Unit, uint32_t index, sim::Cycle start, sim::Cycle end) override {
        of[index] = {start, end};
    }
};

class CoresBench : public sc_core::sc_module {
  public:
    static constexpr uint64_t kProgramBytes = 0x20000;  ///< of device memory, for each core
    static constexpr uint64_t kDeviceData = 0x80000;

    CoresBench(sc_core::sc_module_name name, const arch::ChipConfig& config, bool functional)
        : sc_module(name),
          config(config),
          system(config, whole_system(functional)),
          chip(system.chip()),
          memory(*system.direct_host()),
          irq(system.irq()) {
        SC_HAS_PROCESS(CoresBench);
        SC_THREAD(body_thread);
    }

    /// Runs `body` in simulated time until it returns. Call once.
    void run(std::function<void()> body) {
        body_ = std::move(body);
        sc_core::sc_start();
        EXPECT_TRUE(done_) << "the body did not come to its end";
    }

    // For the body.
    std::optional<sim::ProgramError> program(size_t core, const ProgramWords& words) {
        const uint64_t address = core * kProgramBytes;
        EXPECT_LE(words.size() * 32, kProgramBytes);
        std::memcpy(device().data() + address, words.data(), words.size() * 32);
        return measured(core, {address, words.size(), {kDeviceData, kData, kData + 0x4000}});
    }
    /// `instructions` as in the request.
    std::optional<sim::ProgramError> made_program(size_t core, const ProgramWords& words,
                                                  uint64_t instructions) {
        ListSource source(words);
        return measured(
            core,
            {core * kProgramBytes, instructions, {kDeviceData, kData, kData + 0x4000}, &source});
    }
    /// Both at the same time.
    void programs(const ProgramWords& first, const ProgramWords& second) {
        bool done = false;
        sc_core::sc_event end;
        sc_core::sc_spawn([&] {
            EXPECT_FALSE(program(1, second)) << "program of core 1";
            done = true;
            end.notify(sc_core::SC_ZERO_TIME);
        });
        EXPECT_FALSE(program(0, first)) << "program of core 0";
        while (!done) sc_core::wait(end);
    }
    /// Cycles of the last program of a core.
    uint64_t cycles(size_t core = 0) const { return cycles_[core]; }
    /// The cycle in which the last program of any core began.
    sim::Cycle began() const { return began_; }

    static uint64_t cause(const sim::CycleAccount& account, sim::Cause cause) {
        return account.cycles()[static_cast<size_t>(cause)];
    }
    std::span<uint8_t> device() { return chip.device_memory().store().bytes(); }
    std::span<uint8_t> buffer(size_t core) {
        return chip.core(core).unified_buffer().store().bytes();
    }

    const arch::ChipConfig config;
    run::System system;
    sim::TpuChip& chip;
    HostMemoryView memory;
    const sc_core::sc_signal<bool>& irq;

  private:
    static run::SystemOptions whole_system(bool functional) {
        run::SystemOptions options = small_system(functional);
        options.cores = options.arrays = 0;
        return options;
    }
    std::optional<sim::ProgramError> measured(size_t core, const sim::ProgramRequest& request) {
        sim::Sequencer& sequencer = chip.core(core).sequencer();
        const uint64_t before = sequencer.program_cycles();
        began_ = chip.core(core).services().clock().now();
        auto error = sequencer.run(request);
        cycles_.resize(chip.cores());
        cycles_[core] = sequencer.program_cycles() - before;
        chip.core(core).services().clear_error();
        return error;
    }
    void body_thread() {
        if (!body_) return;  // a second chip that another one's body drives
        body_();
        done_ = true;
        sc_core::sc_stop();
    }
    std::function<void()> body_;
    bool done_ = false;
    std::vector<uint64_t> cycles_;
    sim::Cycle began_ = 0;
};

class CoresTest : public testing::Test {
  protected:
    void make(const arch::ChipConfig& config, bool functional) {
        run::prepare_simulation();
        bench = std::make_unique<CoresBench>("bench", config, functional);
    }
    std::unique_ptr<CoresBench> bench;
};

/// The same instruction for another array.
template <typename Instruction>
isa::Words on_array(Instruction instruction, uint32_t array) {
    instruction.mxu = static_cast<uint8_t>(array);
    return instruction.encode();
}
inline isa::Words read_weights_of(uint32_t array, uint32_t offset, uint32_t tiles,
                                  isa::Header header = {}) {
    return on_array(isa::ReadWeights{.header = header, .offset = offset, .tiles = tiles, .base = 1},
                    array);
}

}  // namespace tandem::testbench
