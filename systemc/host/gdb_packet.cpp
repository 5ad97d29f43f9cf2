// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/gdb_packet.h"

#include <algorithm>

namespace tandem::host::gdb {
namespace {

constexpr char kEscape = '}';
constexpr uint8_t kEscaped = 0x20;
constexpr uint8_t kInterrupt = 3;
constexpr char kDigits[] = "0123456789abcdef";

std::optional<uint8_t> digit(uint8_t character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return std::nullopt;
}

std::string unescape(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == kEscape && i + 1 < text.size();
        bytes += escape ? static_cast<char>(text[++i] ^ kEscaped) : text[i];
    }
    return bytes;
}

}  // namespace

std::optional<Received> PacketParser::take(uint8_t byte) {
    if (byte == '$') {
        state_ = State::kPayload;
        payload_.clear();
        too_long_ = false;
        sum_ = 0;
        return std::nullopt;
    }
    switch (state_) {
        case State::kOutside:
            return outside(byte);
        case State::kPayload:
            if (byte == '#') {
                state_ = State::kFirstDigit;
                return std::nullopt;
            }
            sum_ = static_cast<uint8_t>(sum_ + byte);
            too_long_ = too_long_ || payload_.size() == kMaxPayload;
            if (!too_long_) payload_ += static_cast<char>(byte);
            return std::nullopt;
        case State::kFirstDigit:
            first_digit_ = byte;
            state_ = State::kSecondDigit;
            return std::nullopt;
        case State::kSecondDigit:
            state_ = State::kOutside;
            return complete(byte);
    }
    return std::nullopt;
}

std::optional<Received> PacketParser::outside(uint8_t byte) {
    if (byte == '+') return Received{Received::Kind::kAck};
    if (byte == '-') return Received{Received::Kind::kNak};
    if (byte == kInterrupt) return Received{Received::Kind::kInterrupt};
    return std::nullopt;
}

Received PacketParser::complete(uint8_t second_digit) {
    const auto high = digit(first_digit_), low = digit(second_digit);
    if (!high || !low || (*high << 4 | *low) != sum_) return {Received::Kind::kDamaged};
    if (too_long_) return {Received::Kind::kTooLong};
    return {Received::Kind::kPacket, unescape(payload_)};
}

std::string encode_packet(std::string_view payload) {
    std::string packet = "$";
    for (const char character : payload) {
        if (character == '$' || character == '#' || character == kEscape || character == '*') {
            packet += kEscape;
            packet += static_cast<char>(character ^ kEscaped);
        } else {
            packet += character;
        }
    }
    uint8_t sum = 0;
    for (const char character : std::string_view(packet).substr(1))
        sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(character));
    packet += '#';
    packet += kDigits[sum >> 4];
    packet += kDigits[sum & 15];
    return packet;
}

std::string to_hex(std::span<const uint8_t> bytes) {
    std::string digits;
    digits.reserve(2 * bytes.size());
    for (const uint8_t byte : bytes) {
        digits += kDigits[byte >> 4];
        digits += kDigits[byte & 15];
    }
    return digits;
}

std::optional<std::string> from_hex(std::string_view digits) {
    if (digits.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(digits.size() / 2);
    for (size_t i = 0; i < digits.size(); i += 2) {
        const auto high = digit(static_cast<uint8_t>(digits[i]));
        const auto low = digit(static_cast<uint8_t>(digits[i + 1]));
        if (!high || !low) return std::nullopt;
        bytes += static_cast<char>(*high << 4 | *low);
    }
    return bytes;
}

std::optional<uint64_t> parse_number(std::string_view digits) {
    if (digits.empty() || digits.size() > 16) return std::nullopt;
    uint64_t number = 0;
    for (const char character : digits) {
        const auto value = digit(static_cast<uint8_t>(character));
        if (!value) return std::nullopt;
        number = number << 4 | *value;
    }
    return number;
}

std::optional<uint64_t> take_number(std::string_view& text, char separator) {
    const size_t end = std::min(text.find(separator), text.size());
    const auto number = parse_number(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return number;
}

}  // namespace tandem::host::gdb
