// SPDX-License-Identifier: Apache-2.0
// A CPU as a debugger sees it, and the way to the debugger. A session calls a target only while it
// stands still.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem::host::gdb {

enum class PointKind : uint8_t { kBreak = 0, kHardwareBreak, kWrite, kRead, kAccess };

/// Numbers are those of the protocol: 0 to 31 x0 to x31, 32 pc, from 65 on control registers.
class Target {
  public:
    virtual ~Target() = default;
    /// What there is: XML for gdb,
    /// https://sourceware.org/gdb/current/onlinedocs/gdb.html/Target-Descriptions.html
    virtual std::string description() const = 0;
    /// Nothing, false: there is no such register.
    virtual std::optional<uint32_t> read_register(uint64_t number) const = 0;
    virtual bool write_register(uint64_t number, uint32_t value) = 0;
    /// False: not all of it can be read, or written. Without side effects in devices.
    virtual bool read_memory(uint64_t address, std::span<uint8_t> bytes) = 0;
    virtual bool write_memory(uint64_t address, std::span<const uint8_t> bytes) = 0;
    /// Setting twice is setting once. False: no such kind.
    virtual bool set_point(PointKind kind, uint64_t address, uint64_t bytes) = 0;
    virtual bool clear_point(PointKind kind, uint64_t address, uint64_t bytes) = 0;
    virtual void clear_points() = 0;
    /// For people: time and instructions so far.
    virtual std::string status() const = 0;
};

/// Bytes to and from one debugger.
class Connection {
  public:
    virtual ~Connection() = default;
    /// Some bytes, up to the size of `bytes`: blocks for the first one, or takes what is there. 0:
    /// none are there; nothing: the other side has gone.
    virtual std::optional<size_t> receive(std::span<uint8_t> bytes, bool block) = 0;
    /// False: the other side has gone.
    virtual bool send(std::string_view bytes) = 0;
};

}  // namespace tandem::host::gdb
