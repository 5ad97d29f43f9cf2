// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/gdb_session.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tandem::host::gdb {
namespace {

constexpr uint64_t kGeneralRegisters = 33;  // with pc, the last one
constexpr uint64_t kPc = 32;
constexpr char kOk[] = "OK";
constexpr char kMalformed[] = "E01";
constexpr char kRefused[] = "E02";
// Of memory, in one answer: two digits for each byte.
constexpr uint64_t kMostBytes = kMaxPayload / 2;

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::string ok_or(bool good, const char* error) { return good ? kOk : error; }

std::string register_digits(uint32_t value) {
    std::array<uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    return to_hex(bytes);
}

std::optional<uint32_t> register_value(std::string_view digits) {
    const auto bytes = from_hex(digits);
    if (!bytes || bytes->size() != 4) return std::nullopt;
    uint32_t value = 0;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
}

std::string hex_number(uint64_t value) {
    std::string text;
    for (; value != 0 || text.empty(); value >>= 4)
        text.insert(text.begin(), "0123456789abcdef"[value & 15]);
    return text;
}

std::string stop_reply(const Stop& stop) {
    const std::string signal = to_hex(std::array<uint8_t, 1>{stop.signal});
    if (!stop.watch) return "T" + signal + "thread:1;";
    const char* const name = *stop.watch == PointKind::kWrite  ? "watch"
                             : *stop.watch == PointKind::kRead ? "rwatch"
                                                               : "awatch";
    return "T" + signal + name + ":" + hex_number(stop.address) + ";thread:1;";
}

std::span<const uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

Resume Session::serve(const Stop& stop) {
    stop_reply_ = stop_reply(stop);
    if (!first_) send(stop_reply_);
    first_ = false;
    while (!over_) {
        const auto received = receive(true);
        if (!received) break;
        switch (received->kind) {
            case Received::Kind::kPacket: {
                if (acks_) connection_.send("+");
                const Reply reply = answer(received->payload);
                if (!reply.resume) {
                    send(reply.text);
                    break;
                }
                if (!reply.text.empty()) send(reply.text);
                over_ = *reply.resume == Resume::kDetach || *reply.resume == Resume::kKill;
                return *reply.resume;
            }
            case Received::Kind::kTooLong:
                if (acks_) connection_.send("+");
                send(kMalformed);
                break;
            case Received::Kind::kDamaged:
                if (acks_) connection_.send("-");
                break;
            case Received::Kind::kNak:
                connection_.send(sent_);
                break;
            case Received::Kind::kAck:
            case Received::Kind::kInterrupt:  // it stands still already
                break;
        }
    }
    target_.clear_points();
    over_ = true;
    return Resume::kDetach;
}

bool Session::wants_stop() {
    if (over_) return false;
    while (const auto received = receive(false)) {
        if (received->kind == Received::Kind::kInterrupt) return true;
        if (received->kind == Received::Kind::kNak) connection_.send(sent_);
    }
    return gone_;
}

void Session::exited(uint8_t code) {
    if (!over_) send("W" + to_hex(std::array<uint8_t, 1>{code}));
    over_ = true;
}

/// Nothing: there is none yet, or the connection is lost.
std::optional<Received> Session::receive(bool block) {
    for (;;) {
        while (!bytes_.empty()) {
            const uint8_t byte = bytes_.front();
            bytes_.pop_front();
            if (auto received = parser_.take(byte)) return received;
        }
        if (gone_) return std::nullopt;
        std::array<uint8_t, 512> buffer{};
        const auto count = connection_.receive(buffer, block);
        gone_ = !count;
        if (!count || *count == 0) return std::nullopt;
        bytes_.insert(bytes_.end(), buffer.begin(),
                      buffer.begin() + static_cast<std::ptrdiff_t>(*count));
    }
}

void Session::send(std::string_view payload) {
    sent_ = encode_packet(payload);
    if (!connection_.send(sent_)) gone_ = true;
}

Session::Reply Session::answer(std::string_view packet) {
    if (packet.empty()) return {};
    const char command = packet.front();
    const std::string_view rest = packet.substr(1);
    switch (command) {
        case '?':
            return {stop_reply_};
        case 'g':
            return {read_registers()};
        case 'G':
            return {ok_or(write_registers(rest), kMalformed)};
        case 'p':
            return {read_register(rest)};
        case 'P':
            return {ok_or(write_register(rest), kMalformed)};
        case 'm':
            return {read_memory(rest)};
        case 'M':
        case 'X':
            return {ok_or(write_memory(rest, command == 'X'), kRefused)};
        case 'c':
            return resume(rest, Resume::kContinue);
        case 's':
            return resume(rest, Resume::kStep);
        case 'C':  // with a signal, which this CPU does not have
        case 'S':
            return resume(rest.substr(std::min(rest.find(';'), rest.size())),
                          command == 'C' ? Resume::kContinue : Resume::kStep);
        case 'Z':
        case 'z':
            return {point(rest, command == 'Z')};
        case 'H':
        case 'T':
            return {kOk};
        case 'D':
            return detach();
        case 'k':
            return {{}, Resume::kKill};
        case 'q':
            return query(rest);
        case 'Q':
            return set(rest);
        case 'v':
            return verbose(rest);
        default:
            return {};
    }
}

Session::Reply Session::query(std::string_view packet) {
    if (packet.starts_with("Supported"))
        return {"PacketSize=" + hex_number(kMaxPayload) +
                ";qXfer:features:read+;QStartNoAckMode+;vContSupported+"};
    if (take_prefix(packet, "Xfer:features:read:target.xml:"))
        return {transfer_description(packet)};
    if (take_prefix(packet, "Rcmd,")) return {monitor(packet)};
    if (packet.starts_with("Attached")) return {"1"};  // leaving it lets it run
    if (packet == "fThreadInfo") return {"m1"};
    if (packet == "sThreadInfo") return {"l"};
    if (packet == "C") return {"QC1"};
    if (packet.starts_with("Symbol:")) return {kOk};
    return {};
}

Session::Reply Session::set(std::string_view packet) {
    if (packet != "StartNoAckMode") return {};
    acks_ = false;
    return {kOk};
}

Session::Reply Session::verbose(std::string_view packet) {
    if (packet == "Cont?") return {"vCont;c;C;s;S"};
    if (packet.starts_with("Kill")) return {kOk, Resume::kKill};
    if (!take_prefix(packet, "Cont;")) return {};
    // There is one thread: the first action is its own.
    switch (packet.empty() ? 0 : packet.front()) {
        case 'c':
        case 'C':
            return {{}, Resume::kContinue};
        case 's':
        case 'S':
            return {{}, Resume::kStep};
        default:
            return {kMalformed};
    }
}

Session::Reply Session::resume(std::string_view address, Resume how) {
    take_prefix(address, ";");
    if (address.empty()) return {{}, how};
    const auto pc = parse_number(address);
    if (!pc || !target_.write_register(kPc, static_cast<uint32_t>(*pc))) return {kMalformed};
    return {{}, how};
}

Session::Reply Session::detach() {
    target_.clear_points();
    return {kOk, Resume::kDetach};
}

std::string Session::read_registers() const {
    std::string digits;
    for (uint64_t number = 0; number < kGeneralRegisters; ++number)
        digits += register_digits(target_.read_register(number).value_or(0));
    return digits;
}

bool Session::write_registers(std::string_view digits) {
    if (digits.size() != 8 * kGeneralRegisters || !from_hex(digits)) return false;
    for (uint64_t number = 0; number < kGeneralRegisters; ++number)
        target_.write_register(number, *register_value(digits.substr(8 * number, 8)));
    return true;
}

std::string Session::read_register(std::string_view text) const {
    const auto number = parse_number(text);
    const auto value = number ? target_.read_register(*number) : std::nullopt;
    return value ? register_digits(*value) : kMalformed;
}

bool Session::write_register(std::string_view text) {
    const auto number = take_number(text, '=');
    const auto value = register_value(text);
    return number && value && target_.write_register(*number, *value);
}

std::string Session::read_memory(std::string_view place) {
    const auto address = take_number(place, ',');
    const auto count = parse_number(place);
    if (!address || !count) return kMalformed;
    std::vector<uint8_t> bytes(std::min(*count, kMostBytes));
    return target_.read_memory(*address, bytes) ? to_hex(bytes) : kRefused;
}

bool Session::write_memory(std::string_view text, bool binary) {
    const auto address = take_number(text, ',');
    const auto count = take_number(text, ':');
    const auto bytes = binary ? std::string(text) : from_hex(text);
    if (!address || !count || !bytes || bytes->size() != *count) return false;
    return target_.write_memory(*address, as_bytes(*bytes));
}

std::string Session::point(std::string_view text, bool set) {
    const auto kind = take_number(text, ',');
    const auto address = take_number(text, ',');
    const auto bytes = take_number(text, ';');
    if (!kind || !address || !bytes) return kMalformed;
    if (*kind > static_cast<uint64_t>(PointKind::kAccess)) return {};
    const auto which = static_cast<PointKind>(*kind);
    return ok_or(set ? target_.set_point(which, *address, *bytes)
                     : target_.clear_point(which, *address, *bytes),
                 kRefused);
}

/// offset,length of the description; m: there is more, l: this is the last part.
std::string Session::transfer_description(std::string_view range) const {
    const auto offset = take_number(range, ',');
    const auto count = parse_number(range);
    const std::string all = target_.description();
    if (!offset || !count || *offset > all.size()) return kMalformed;
    const std::string part = all.substr(*offset, std::min(*count, kMostBytes));
    return (*offset + part.size() < all.size() ? "m" : "l") + part;
}

std::string Session::monitor(std::string_view digits) {
    const auto command = from_hex(digits);
    if (!command) return kMalformed;
    const std::string text = *command == "status"
                                 ? target_.status() + "\n"
                                 : "expected \"monitor status\", found \"" + *command + "\"\n";
    return to_hex(as_bytes(text));
}

}  // namespace tandem::host::gdb
