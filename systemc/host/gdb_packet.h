// SPDX-License-Identifier: Apache-2.0
// Packets of gdb's remote serial protocol, from bytes and to bytes; no sockets, no meaning.
// https://sourceware.org/gdb/current/onlinedocs/gdb.html/Overview.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem::host::gdb {

/// Of a packet's payload, in either direction, before escapes are undone.
inline constexpr size_t kMaxPayload = 4096;

/// What stands in a stream of bytes.
struct Received {
    enum class Kind : uint8_t {
        kPacket,     ///< whole, its checksum is right
        kDamaged,    ///< its checksum is wrong or none: to be sent again
        kTooLong,    ///< more than kMaxPayload bytes: dropped
        kAck,        ///< '+'
        kNak,        ///< '-': what was sent last is wanted again
        kInterrupt,  ///< byte 3: the program is to stop
    };
    Kind kind = Kind::kPacket;
    std::string payload{};  ///< of kPacket, escapes undone
};

/// Takes bytes as they come, in pieces of any size. Bytes between packets that mean nothing are
/// dropped; a '$' begins a new packet wherever it stands.
class PacketParser {
  public:
    /// What the byte completes, if it does.
    std::optional<Received> take(uint8_t byte);

  private:
    enum class State : uint8_t { kOutside, kPayload, kFirstDigit, kSecondDigit };

    std::optional<Received> outside(uint8_t byte);
    Received complete(uint8_t second_digit);

    State state_ = State::kOutside;
    std::string payload_;  ///< escapes in it
    bool too_long_ = false;
    uint8_t sum_ = 0;
    uint8_t first_digit_ = 0;
};

/// $payload#checksum, with escapes where they are needed.
std::string encode_packet(std::string_view payload);

std::string to_hex(std::span<const uint8_t> bytes);
/// Two digits per byte; nothing for anything else.
std::optional<std::string> from_hex(std::string_view digits);
/// All of the text, up to 16 digits; nothing for anything else.
std::optional<uint64_t> parse_number(std::string_view digits);
/// Digits up to `separator`, which is taken off with them; without the separator all of the text.
std::optional<uint64_t> take_number(std::string_view& text, char separator);

}  // namespace tandem::host::gdb
