// SPDX-License-Identifier: Apache-2.0
// A session with a scripted client and a CPU that is a table.
#include "systemc/host/gdb_session.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "testbench/support/gdb_table.h"

namespace tandem::host::gdb {
namespace {

using testbench::Script;
using testbench::TableTarget;

/// A session in which the client says these packets, without acknowledgements.
struct Talk {
    explicit Talk(const std::vector<std::string>& packets) : script(encoded(packets)) {}

    static std::string encoded(const std::vector<std::string>& packets) {
        std::string bytes = encode_packet("QStartNoAckMode");
        for (const std::string& packet : packets) bytes += encode_packet(packet);
        return bytes;
    }
    /// Answers of one serve(), the one to QStartNoAckMode left out.
    std::vector<std::string> answers() {
        resume = session.serve({});
        PacketParser parser;
        std::vector<std::string> all;
        for (const char byte : std::exchange(script.heard, {})) {
            const auto received = parser.take(static_cast<uint8_t>(byte));
            if (received && received->kind == Received::Kind::kPacket)
                all.push_back(received->payload);
        }
        if (!all.empty() && first) all.erase(all.begin());
        first = false;
        return all;
    }
    std::string answer() {
        const auto all = answers();
        return all.size() == 1 ? all.front() : std::to_string(all.size()) + " answers";
    }

    TableTarget target;
    Script script;
    Session session{target, script};
    Resume resume = Resume::kContinue;
    bool first = true;
};

std::string answer_to(const std::string& packet) { return Talk({packet}).answer(); }

TEST(GdbSession, SaysWhatItCan) {
    EXPECT_EQ(answer_to("qSupported:swbreak+;xmlRegisters=i386"),
              "PacketSize=1000;qXfer:features:read+;QStartNoAckMode+;vContSupported+");
    EXPECT_EQ(answer_to("?"), "T05thread:1;");
    EXPECT_EQ(answer_to("vCont?"), "vCont;c;C;s;S");
    EXPECT_EQ(answer_to("qAttached"), "1");
    EXPECT_EQ(answer_to("qfThreadInfo"), "m1");
    EXPECT_EQ(answer_to("Hg0"), "OK");
}

TEST(GdbSession, AnswersWhatItDoesNotKnowWithNothing) {
    for (const char* packet : {"vMustReplyEmpty", "qTStatus", "QUnknown", "!", "R00", "Z9,0,4", ""})
        EXPECT_EQ(answer_to(packet), "") << packet;
}

TEST(GdbSession, ReadsAndWritesRegisters) {
    Talk talk({"P5=78563412", "p5", "p20", "p21", "P99=00000000", "P5=1234", "p", "G00"});
    talk.target.registers[32] = 0x80000010;
    const auto answers = talk.answers();
    const std::vector<std::string> expected = {"OK",  "78563412", "10000080", "E01",
                                               "E01", "E01",      "E01",      "E01"};
    EXPECT_EQ(answers, expected);
    EXPECT_EQ(talk.target.registers[5], 0x12345678u);
}

TEST(GdbSession, AllRegistersGoThereAndBack) {
    Talk reader({"g"});
    for (uint32_t i = 0; i < 33; ++i) reader.target.registers[i] = 0x01020304 * i;
    const std::string digits = reader.answer();
    ASSERT_EQ(digits.size(), 33u * 8);
    Talk writer({"G" + digits});
    EXPECT_EQ(writer.answer(), "OK");
    EXPECT_EQ(writer.target.registers, reader.target.registers);
}

TEST(GdbSession, ReadsAndWritesMemory) {
    Talk talk({"M10,3:0a0b0c", "m10,3", "X20,2:#z", "m20,2", "mff,2", "m10", "M10,3:0a0b",
               "Mfffffffffffffff0,2:0000", "m0,ffffffffffffffff"});
    const std::vector<std::string> expected = {"OK",  "0a0b0c", "OK",  "237a", "E02",
                                               "E01", "E02",    "E02", "E02"};
    EXPECT_EQ(talk.answers(), expected);
}

TEST(GdbSession, SetsAndClearsPoints) {
    Talk talk({"Z0,80,4", "Z2,90,8", "z0,80,4", "Z0,80", "Z0,xx,4"});
    const std::vector<std::string> expected = {"OK", "OK", "OK", "E01", "E01"};
    EXPECT_EQ(talk.answers(), expected);
}

TEST(GdbSession, GoesOnAsAsked) {
    const std::vector<std::pair<const char*, Resume>> ways = {
        {"c", Resume::kContinue},       {"s", Resume::kStep},       {"vCont;c", Resume::kContinue},
        {"vCont;s:1;c", Resume::kStep}, {"C05", Resume::kContinue}, {"S05", Resume::kStep},
        {"D", Resume::kDetach},         {"k", Resume::kKill},       {"vKill;1", Resume::kKill}};
    for (const auto& [packet, resume] : ways) {
        Talk talk({packet});
        talk.answers();
        EXPECT_EQ(talk.resume, resume) << packet;
    }
    Talk elsewhere({"c40"});
    elsewhere.answers();
    EXPECT_EQ(elsewhere.target.registers[32], 0x40u);
}

TEST(GdbSession, TellsWhyTheCpuStands) {
    Talk talk({"c", "c", "c"});
    talk.answers();
    EXPECT_EQ(talk.session.serve({.signal = kSigInt}), Resume::kContinue);
    EXPECT_EQ(talk.session.serve({.watch = PointKind::kWrite, .address = 0x80001234}),
              Resume::kContinue);
    talk.session.exited(7);
    EXPECT_EQ(talk.script.heard, encode_packet("T02thread:1;") +
                                     encode_packet("T05watch:80001234;thread:1;") +
                                     encode_packet("W07"));
}

TEST(GdbSession, AClientThatHangsUpHasLeft) {
    Talk talk({"Z0,80,4"});
    talk.answers();
    EXPECT_EQ(talk.resume, Resume::kDetach);
    EXPECT_TRUE(talk.target.points.empty());
    EXPECT_EQ(talk.session.serve({}), Resume::kDetach);
    EXPECT_FALSE(talk.session.wants_stop());
}

TEST(GdbSession, StopsForTheInterruptByte) {
    TableTarget target;
    Script script(encode_packet("c") + "\x03");
    Session session(target, script);
    EXPECT_EQ(session.serve({}), Resume::kContinue);
    EXPECT_TRUE(session.wants_stop());
}

TEST(GdbSession, AcknowledgesUntilToldNotTo) {
    TableTarget target;
    Script script("$?#3f$?#3e-" + encode_packet("c"));
    Session session(target, script);
    session.serve({});
    const std::string stop = encode_packet("T05thread:1;");
    EXPECT_EQ(script.heard, "+" + stop + "-" + stop + "+");
}

TEST(GdbSession, SendsItsDescriptionInParts) {
    std::string all;
    for (std::string part = "m"; part.front() == 'm';) {
        part = answer_to("qXfer:features:read:target.xml:" +
                         std::string(all.empty()          ? "0"
                                     : all.size() == 2048 ? "800"
                                                          : "1000") +
                         ",fff");
        ASSERT_FALSE(part.empty());
        all += part.substr(1);
        ASSERT_LE(all.size(), 5003u);
    }
    EXPECT_EQ(all, TableTarget().description());
    EXPECT_EQ(answer_to("qXfer:features:read:target.xml:fffff,10"), "E01");
    EXPECT_EQ(answer_to("qXfer:features:read:other.xml:0,10"), "");
}

TEST(GdbSession, SurvivesAnyPacket) {
    const std::vector<std::string> words = {
        "m", "M",    "X",  "g",    "G",  "p",    "P",
        "Z", "z",    "q",  "v",    "Q",  "C",    "S",
        "H", "T",    "?",  "0",    "1",  "4",    ",",
        ":", ";",    "=",  "Cont", "ff", "80",   "{}",
        "}", "Rcmd", "68", "fff",  "-1", "\x03", "Xfer:features:read:target.xml:"};
    std::mt19937 random(0);
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::string> packets;
        for (uint32_t i = random() % 6; i > 0; --i) {
            std::string packet;
            for (uint32_t word = random() % 8; word > 0; --word)
                packet += words[random() % words.size()];
            if (random() % 20 == 0) packet += std::string(random() % 6000, '0');
            packets.push_back(packet);
        }
        TableTarget target;
        std::string bytes = Talk::encoded(packets);
        for (uint32_t flips = random() % 3; flips > 0; --flips)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        bytes.resize(bytes.size() - random() % 4);
        Script script(bytes);
        Session session(target, script);
        while (session.serve({}) != Resume::kDetach && !session.wants_stop()) {
        }
        PacketParser parser;
        for (const char byte : script.heard) {
            const auto received = parser.take(static_cast<uint8_t>(byte));
            ASSERT_TRUE(!received || received->kind != Received::Kind::kDamaged) << round;
        }
    }
}

}  // namespace
}  // namespace tandem::host::gdb
