// SPDX-License-Identifier: Apache-2.0
// gdb's packets: what is right is taken, everything else is answered for and hurts nobody.
#include "systemc/host/gdb_packet.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tandem::host::gdb {
namespace {

using Kind = Received::Kind;

std::vector<Received> parse(std::string_view bytes) {
    PacketParser parser;
    std::vector<Received> all;
    for (const char byte : bytes)
        if (auto received = parser.take(static_cast<uint8_t>(byte)))
            all.push_back(std::move(*received));
    return all;
}

std::string packet_of(const std::string& bytes) {
    const auto all = parse(bytes);
    return all.size() == 1 && all.front().kind == Kind::kPacket ? all.front().payload
                                                                : "not one packet";
}

TEST(GdbPacket, TakesAPacketWithItsChecksum) {
    EXPECT_EQ(packet_of("$m80000000,4#55"), "m80000000,4");
    EXPECT_EQ(packet_of("$#00"), "");
    EXPECT_EQ(packet_of("$m80000000,4#55"), "m80000000,4");
}

TEST(GdbPacket, AsksAgainForADamagedOne) {
    for (const char* bytes : {"$m80000000,4#56", "$g#6", "$g#zz", "$g#6g"}) {
        const auto all = parse(std::string(bytes) + "+");
        ASSERT_GE(all.size(), 1u) << bytes;
        EXPECT_EQ(all.front().kind, Kind::kDamaged) << bytes;
    }
}

TEST(GdbPacket, UndoesEscapes) {
    EXPECT_EQ(packet_of(std::string("$}\x03}\x04}]#db")), "#$}");
    EXPECT_EQ(packet_of("$a}#de"), "a}");  // nothing behind the escape
}

TEST(GdbPacket, TellsAckNakAndInterruptBetweenPackets) {
    const auto all = parse("noise+-\x03$g#67");
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].kind, Kind::kAck);
    EXPECT_EQ(all[1].kind, Kind::kNak);
    EXPECT_EQ(all[2].kind, Kind::kInterrupt);
    EXPECT_EQ(all[3].payload, "g");
}

TEST(GdbPacket, BeginsAnewWithEachDollar) {
    EXPECT_EQ(packet_of("$m8000$g#67"), "g");
    EXPECT_EQ(packet_of("$m8000#$g#67"), "g");
    EXPECT_EQ(packet_of("$m8000#1$g#67"), "g");
}

TEST(GdbPacket, DropsOneThatIsTooLong) {
    const std::string most(kMaxPayload, 'a');
    EXPECT_EQ(packet_of(encode_packet(most)), most);
    const auto all = parse(encode_packet(most + "a") + "$g#67");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].kind, Kind::kTooLong);
    EXPECT_EQ(all[1].payload, "g");
}

TEST(GdbPacket, EncodesWhatItTakes) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    EXPECT_EQ(packet_of(encode_packet(bytes)), bytes);
}

TEST(GdbPacket, NumbersAreDigitsAndNothingElse) {
    EXPECT_EQ(parse_number("80000000"), 0x80000000u);
    EXPECT_EQ(parse_number("ffffffffffffffff"), ~uint64_t{0});
    for (const char* text : {"", "-1", "0x1", "1 ", "10000000000000000"})
        EXPECT_EQ(parse_number(text), std::nullopt) << text;
    std::string_view text = "1f,2";
    EXPECT_EQ(take_number(text, ','), 0x1fu);
    EXPECT_EQ(take_number(text, ','), 2u);
    EXPECT_EQ(take_number(text, ','), std::nullopt);
    EXPECT_EQ(from_hex("0"), std::nullopt);
    EXPECT_EQ(from_hex("0g"), std::nullopt);
    EXPECT_EQ(from_hex("6768"), "gh");
}

TEST(GdbPacket, SurvivesAnyBytes) {
    std::mt19937 random(0);
    const std::string syntax = "$#}+-\x03*0123456789abcdefgmMXZzqvG,:;=";
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        const size_t count = random() % (round % 100 == 0 ? 3 * kMaxPayload : 200);
        for (size_t i = 0; i < count; ++i)
            bytes +=
                random() % 4 == 0 ? static_cast<char>(random()) : syntax[random() % syntax.size()];
        for (const Received& received : parse(bytes)) {
            EXPECT_LE(received.payload.size(), kMaxPayload) << "round " << round;
            EXPECT_TRUE(received.kind == Kind::kPacket || received.payload.empty());
        }
        // Whatever came before: the next packet is understood.
        const auto all = parse(bytes + "$g#67");
        ASSERT_FALSE(all.empty()) << "round " << round;
        EXPECT_EQ(all.back().payload, "g") << "round " << round;
    }
}

}  // namespace
}  // namespace tandem::host::gdb
