// SPDX-License-Identifier: Apache-2.0
// What a host is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "firmware/include/tandem/platform.h"
#include "systemc/kernel/connect.h"

namespace tandem::host {

/// Instructions after which firmware is taken to loop for ever: an image of 2 GiB, checked byte by
/// byte, needs less.
inline constexpr uint64_t kFirmwareBudget = 100'000'000'000;

/// The CPU waits for gdb before its first instruction.
struct GdbOptions {
    uint16_t port = 0;  ///< of the loopback interface; 0: one that is free
    /// Gets a line for people: where gdb is waited for.
    std::function<void(std::string_view)> announce{};
};

struct HostConfig {
    std::string kind = "riscv";                  ///< "riscv" or "native"
    uint64_t cpu_clock_hz = 1'000'000'000;       ///< riscv only
    uint64_t firmware_budget = kFirmwareBudget;  ///< riscv only
    std::optional<GdbOptions> gdb{};             ///< riscv only; nothing: nobody debugs
    /// riscv only: how far the CPU runs ahead of simulated time between bus accesses.
    uint64_t quantum_instructions = 100'000;
    uint64_t memory_bytes = platform::kRamBytes;  ///< multiple of 4096, 2 MiB to 2 GiB
    std::filesystem::path firmware_elf;           ///< riscv only
    /// Gets each line that the firmware prints, without its end; may be empty.
    std::function<void(std::string_view)> console;
    sim::Connect connect;  ///< of the sockets inside; empty: directly
};

}  // namespace tandem::host
