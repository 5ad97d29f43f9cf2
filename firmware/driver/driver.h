// SPDX-License-Identifier: Apache-2.0
// Driver of one TPU: finds it, resets it, feeds its command ring and reports what became of
// commands. One caller at a time; no memory but the ring that the caller provides.
#pragma once

#include <stdint.h>

#include "firmware/driver/status.h"
#include "firmware/hal/hal.h"

namespace tandem::firmware {

/// What a program must agree in with the chip that runs it.
struct BuildHashes {
    uint64_t isa = 0;   ///< instruction set and registers
    uint64_t chip = 0;  ///< the chip's figures
};

/// What the chip says about itself.
struct DeviceInfo {
    uint32_t version = 0;
    BuildHashes hashes;
    uint32_t rows = 0;
    uint32_t cols = 0;
    uint32_t ub_bytes = 0;
    uint64_t memory_bytes = 0;
    uint32_t clock_khz = 0;
    uint32_t cores = 0;
    uint32_t arrays = 0;  ///< of each core
    uint64_t watchdog_cycles = 0;
};

struct RingConfig {
    uint64_t bus_address = 0;  ///< 64-byte aligned, entries * 64 bytes
    uint32_t entries = 0;      ///< a power of two, 2 to 1024
};

/// A ring entry before it is written; fields as in arch/registers.yaml.
struct Command {
    uint32_t opcode = 0;  ///< TANDEM_COMMAND_LOAD or TANDEM_COMMAND_RUN
    uint64_t source = 0;
    uint64_t destination = 0;
    uint64_t bytes = 0;
    uint64_t args[3] = {};
};

/// What became of a command.
struct Completion {
    uint32_t error_code = 0;  ///< TANDEM_ERROR_...
    uint32_t cycles = 0;      ///< saturates
};

struct ErrorReport {
    bool failed = false;
    uint32_t code = 0;  ///< TANDEM_ERROR_...
    uint32_t info = 0;  ///< instruction, ring entry, or entry of the core table
    uint32_t core = 0;  ///< whose instruction it is
};

struct Counters {
    uint64_t cycles = 0;
    uint64_t macs = 0;
    uint64_t mxu_busy_cycles = 0;
    uint32_t instructions = 0;  ///< wraps
};

/// One core by itself.
struct CoreReport {
    bool busy = false;
    /// failed: also a core that was stopped because another one failed (TANDEM_ERROR_ABORTED).
    ErrorReport error;
    bool watchdog = false;  ///< it was its watchdog that stopped it
    Counters counters;
};

class Driver {
  public:
    explicit Driver(Hal& hal) : hal_(hal) {}

    /// Identifies the TPU and compares its hashes with those of an image. Only reads: leaves no
    /// trace, may be repeated at any time. `info` is filled as far as the chip was understood, also
    /// with kWrongIsa and kWrongChip.
    Status discover(const BuildHashes& expected, DeviceInfo* info);

    /// Aborts what runs, clears errors, ring, counters and interrupts. With kResetFailed the TPU is
    /// in an unknown state and must not be used; trying again is safe.
    Status reset();

    /// Hands the ring to the TPU and lets it take commands. Call it after reset(). A bad argument
    /// leaves no trace.
    Status start(const RingConfig& config);

    /// Puts a command into the ring and rings the bell; does not wait. `ticket` names it for
    /// wait(). No failure leaves a trace; after kRingFull wait() for an older ticket and retry.
    Status submit(const Command& command, uint32_t* ticket);

    /// Sleeps until the command has ended, `timeout_us` at most. kBadArgument: the ticket is
    /// unknown or too old. kTimeout leaves the command running: wait again, or reset().
    /// kDeviceError: the TPU takes no command until reset(). `completion` may be null.
    Status wait(uint32_t ticket, uint64_t timeout_us, Completion* completion);

    /// Takes no further command and raises no interrupt; counters and error stay readable.
    void stop();

    /// Only read; meaningful until reset(). Of the chip: the counters of all its cores and arrays
    /// together, the first error of any.
    ErrorReport error();
    Counters counters();
    /// Selects the core to read. All zero for one that is not there.
    CoreReport core(uint32_t core);

  private:
    uint64_t read64(uint32_t low_offset, uint32_t high_offset);
    uint32_t doorbell() const { return static_cast<uint32_t>(submitted_); }
    void write_entry(uint32_t index, const Command& command);
    Status finish(uint32_t ticket, Completion* completion);

    Hal& hal_;
    volatile uint32_t* ring_ = nullptr;
    uint32_t entries_ = 0;
    uint64_t submitted_ = 0;  ///< the doorbell and tickets are its low word
    uint32_t completed_ = 0;  ///< last seen RING_HEAD
};

}  // namespace tandem::firmware
