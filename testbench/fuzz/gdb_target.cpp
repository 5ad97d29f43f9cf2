// SPDX-License-Identifier: Apache-2.0
// What a gdb may say to the server of firmware runs.
#include "systemc/host/gdb_session.h"
#include "testbench/fuzz/target.h"
#include "testbench/support/gdb_table.h"

namespace tandem::fuzz {
namespace {

Bytes conversation(const std::vector<std::string>& packets) {
    std::string bytes = "+";
    for (const std::string& packet : packets) bytes += host::gdb::encode_packet(packet) + "+";
    return bytes_of(bytes);
}

}  // namespace

Target gdb_target() {
    return {
        .name = "gdb",
        .extension = ".gdb",
        .text = false,
        .words = {"$", "#", "}", "\x03", "+", "-", "$g#67", "$?#3f", "$c#63", "$s#73",
                  "Xfer:features:read:target.xml:", "vCont;", "Z0,", "ffffffffffffffff"},
        .seeds =
            [] {
                return std::vector<Bytes>{
                    conversation({"qSupported:xmlRegisters=i386", "QStartNoAckMode", "?", "Hg0",
                                  "qXfer:features:read:target.xml:0,ffb", "g", "m10,40"}),
                    conversation({"Z0,80,4", "vCont;c", "p20", "P5=78563412", "z0,80,4", "s"}),
                    conversation(
                        {"M10,2:0a0b", "X20,2:ab", "Z2,90,8", "qRcmd,737461747573", "C05", "D"})};
            },
        .change = {},
        .run =
            [](const Bytes& bytes) {
                testbench::TableTarget target;
                testbench::Script script(text_of(bytes));
                host::gdb::Session session(target, script);
                while (session.serve({}) != host::gdb::Resume::kDetach && !session.wants_stop()) {
                }
                // What it answers are packets as they should be.
                host::gdb::PacketParser parser;
                for (const char byte : script.heard) {
                    const auto heard = parser.take(static_cast<uint8_t>(byte));
                    require(!heard || heard->kind != host::gdb::Received::Kind::kDamaged,
                            "a damaged answer");
                }
                return std::string("answers");
            },
        .command = {}};
}

}  // namespace tandem::fuzz
