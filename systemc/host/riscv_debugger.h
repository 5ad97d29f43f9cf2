// SPDX-License-Identifier: Apache-2.0
// What gdb sees of the RISC-V CPU: registers, memory, where to stop. Simulated time stands still
// while the CPU does, and a run that is watched takes the same cycles as one that is not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "systemc/host/gdb_session.h"
#include "systemc/host/gdb_socket.h"

struct uc_struct;

namespace tandem::host {

class RiscvDebugger final : public gdb::Target {
  public:
    /// The CPU, as far as the debugger needs it.
    struct Cpu {
        uc_struct* engine = nullptr;
        uint64_t* pc = nullptr;  ///< of the instruction that comes next
        /// Of the bus: reads without side effects, or writes; false: not all of it.
        std::function<bool(uint64_t address, std::span<uint8_t> bytes)> read;
        std::function<bool(uint64_t address, std::span<const uint8_t> bytes)> write;
        std::function<std::string()> status;
    };

    /// Listens on the port (0: one that is free). Throws UserError when it cannot.
    RiscvDebugger(uint16_t port, Cpu cpu);

    uint16_t port() const { return socket_.port(); }
    /// Blocks until gdb has connected.
    void accept() { socket_.accept(); }
    /// gdb is there and has not left.
    bool attached() const { return attached_; }

    /// Before the instruction at `pc`: whether the CPU has to stop. After a true one comes serve().
    bool stops_before(uint64_t pc);
    /// An instruction reads or writes memory.
    void on_memory(bool write, uint64_t address, uint64_t bytes);
    /// gdb wants a CPU that waits to stop.
    bool interrupted() { return attached_ && session_.wants_stop(); }

    /// Lets gdb look until the CPU is to go on: at what stops_before() has found, or at `stop`.
    gdb::Resume serve(const std::optional<gdb::Stop>& stop = std::nullopt);
    void exited(uint32_t code);

    std::string description() const override;
    std::optional<uint32_t> read_register(uint64_t number) const override;
    bool write_register(uint64_t number, uint32_t value) override;
    bool read_memory(uint64_t address, std::span<uint8_t> bytes) override;
    bool write_memory(uint64_t address, std::span<const uint8_t> bytes) override;
    bool set_point(gdb::PointKind kind, uint64_t address, uint64_t bytes) override;
    bool clear_point(gdb::PointKind kind, uint64_t address, uint64_t bytes) override;
    void clear_points() override;
    std::string status() const override { return cpu_.status(); }

  private:
    struct Watch {
        gdb::PointKind kind;
        uint64_t address, bytes;
        friend auto operator<=>(const Watch&, const Watch&) = default;
    };

    Cpu cpu_;
    gdb::Socket socket_;
    gdb::Session session_{*this, socket_};
    bool attached_ = true;
    std::set<std::pair<uint64_t, gdb::PointKind>> breakpoints_;  ///< soft and hard ones
    std::set<Watch> watches_;
    std::optional<uint64_t> resumed_at_;  ///< where it has been stopped: not twice
    bool step_ = false;
    uint32_t polls_ = 0;
    gdb::Stop stop_;                 ///< that stops_before() has found
    std::optional<gdb::Stop> seen_;  ///< a watched access of the instruction before
};

}  // namespace tandem::host
