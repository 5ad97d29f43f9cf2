// SPDX-License-Identifier: Apache-2.0
// The conversation with one gdb: answers its packets while the CPU stands still, and says how the
// CPU is to go on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "systemc/host/gdb_packet.h"
#include "systemc/host/gdb_target.h"

namespace tandem::host::gdb {

// Signals by gdb's numbers.
inline constexpr uint8_t kSigInt = 2, kSigIll = 4, kSigTrap = 5, kSigSegv = 11;

/// Why the CPU stands still.
struct Stop {
    uint8_t signal = kSigTrap;
    std::optional<PointKind> watch{};  ///< kWrite, kRead, kAccess: at `address`
    uint64_t address = 0;
};

enum class Resume : uint8_t {
    kContinue,
    kStep,    ///< one instruction
    kDetach,  ///< gdb has left, or its connection is lost: go on without it
    kKill,
};

class Session {
  public:
    /// Both must outlive it.
    Session(Target& target, Connection& connection) : target_(target), connection_(connection) {}

    /// Tells gdb of the stop, unless it is the first one, about which gdb asks; then answers until
    /// gdb lets the CPU go on. After kDetach and kKill there is nobody to talk to.
    Resume serve(const Stop& stop);
    /// While the CPU runs: gdb wants it to stop, or has gone, which serve() will find. Does not
    /// block.
    bool wants_stop();
    /// The program has ended; gdb is told and the session is over.
    void exited(uint8_t code);

  private:
    /// An answer, or how to go on.
    struct Reply {
        std::string text{};
        std::optional<Resume> resume{};
    };

    std::optional<Received> receive(bool block);
    void send(std::string_view payload);
    Reply answer(std::string_view packet);
    Reply query(std::string_view packet);
    Reply set(std::string_view packet);
    Reply verbose(std::string_view packet);
    Reply resume(std::string_view address, Resume how);
    Reply detach();
    std::string read_registers() const;
    bool write_registers(std::string_view digits);
    std::string read_register(std::string_view number) const;
    bool write_register(std::string_view text);
    std::string read_memory(std::string_view place);
    bool write_memory(std::string_view text, bool binary);
    std::string point(std::string_view text, bool set);
    std::string transfer_description(std::string_view range) const;
    std::string monitor(std::string_view digits);

    Target& target_;
    Connection& connection_;
    PacketParser parser_;
    std::deque<uint8_t> bytes_;  ///< received, not taken yet
    std::string sent_;           ///< the last packet, to be sent again
    std::string stop_reply_;
    bool acks_ = true;
    bool first_ = true;
    bool gone_ = false;  ///< the connection is lost
    bool over_ = false;  ///< gdb has left or ended the program
};

}  // namespace tandem::host::gdb
