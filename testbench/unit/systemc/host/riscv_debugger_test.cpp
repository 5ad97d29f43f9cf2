// SPDX-License-Identifier: Apache-2.0
// A client at the socket of a CPU that runs, sleeps, or fails.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

#include "base/error.h"
#include "systemc/host/gdb_packet.h"
#include "systemc/host/gdb_socket.h"
#include "testbench/unit/systemc/host/riscv_bench.h"

namespace tandem::host {
namespace {

constexpr uint32_t kIllegal = 0xffffffff;
constexpr uint32_t kEnableExternal[] = {
    0x00001337,  // lui t1, 1
    0x80030313,  // addi t1, t1, -2048
    0x30431073,  // csrw mie, t1
};

/// The other side of the conversation, in a thread of its own.
class Client {
  public:
    explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("cannot connect");
        timeval patience{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ask("QStartNoAckMode");
    }
    ~Client() { ::close(socket_); }

    void say(const std::string& bytes) const {
        (void)!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    void tell(const std::string& packet) const { say(gdb::encode_packet(packet)); }
    std::string ask(const std::string& packet) {
        tell(packet);
        return hear();
    }
    /// The next packet; empty when none comes.
    std::string hear() {
        for (uint8_t byte = 0; ::recv(socket_, &byte, 1, 0) == 1;) {
            const auto received = parser_.take(byte);
            if (received && received->kind == gdb::Received::Kind::kPacket)
                return received->payload;
        }
        return {};
    }

  private:
    int socket_;
    gdb::PacketParser parser_;
};

/// Runs the code while `talk` goes on.
void converse(const std::vector<uint32_t>& code, const std::function<void(Client&)>& talk,
              const std::function<void(Bench&)>& look) {
    std::string announced;
    Bench bench(code, kFirmwareBudget,
                GdbOptions{.announce = [&](std::string_view text) { announced = text; }});
    const std::string before = "waiting for gdb on 127.0.0.1:";
    ASSERT_TRUE(announced.starts_with(before)) << announced;
    const auto port = static_cast<uint16_t>(std::stoi(announced.substr(before.size())));
    std::thread thread([&] {
        Client client(port);
        talk(client);
    });
    while (!bench.cpu->finished() &&
           sc_core::sc_time_stamp() < sc_core::sc_time(100, sc_core::SC_SEC))
        bench.run();
    thread.join();
    look(bench);
}

TEST(RiscvDebugger, StopsALoopAndEndsIt) {
    converse(
        {kNop, kLoop},
        [](Client& client) {
            client.tell("c");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            client.say("\x03");
            EXPECT_EQ(client.hear(), "T02thread:1;");
            EXPECT_EQ(client.ask("p20"), "04000080");  // pc, at the loop
            client.tell("k");
        },
        [](Bench& bench) {
            EXPECT_TRUE(bench.cpu->killed());
            EXPECT_NE(bench.cpu->fault().find("gdb has ended the program"), std::string::npos);
        });
}

TEST(RiscvDebugger, StopsACpuThatSleeps) {
    std::vector<uint32_t> code(std::begin(kEnableExternal), std::end(kEnableExternal));
    code.insert(code.end(), {kWfi, kLoadDeviceBase, kLoad7, kStoreExit, kLoop});
    converse(
        code,
        [](Client& client) {
            client.tell("c");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            client.say("\x03");
            EXPECT_EQ(client.hear(), "T02thread:1;");
            EXPECT_EQ(client.ask("p20"), "10000080");  // behind the wfi
            client.tell("vKill;1");
        },
        [](Bench& bench) { EXPECT_TRUE(bench.cpu->killed()); });
}

TEST(RiscvDebugger, ShowsAFaultBeforeTheCpuEnds) {
    converse(
        {kNop, kIllegal},
        [](Client& client) {
            EXPECT_EQ(client.ask("c"), "T04thread:1;");
            client.tell("c");
        },
        [](Bench& bench) {
            EXPECT_FALSE(bench.cpu->killed());
            EXPECT_EQ(bench.cpu->exit_code(), 128u);
        });
}

TEST(RiscvDebugger, StepsSetsRegistersAndTellsTheExitCode) {
    converse(
        {kLoadDeviceBase, kLoad7, kStoreExit, kLoop},
        [](Client& client) {
            EXPECT_EQ(client.ask("s"), "T05thread:1;");
            EXPECT_EQ(client.ask("p5"), "00000110");  // t0
            EXPECT_EQ(client.ask("Z0,80000008,4"), "OK");
            EXPECT_EQ(client.ask("c"), "T05thread:1;");
            EXPECT_EQ(client.ask("p20"), "08000080");
            EXPECT_EQ(client.ask("P6=09000000"), "OK");        // t1
            EXPECT_EQ(client.ask("m80000008,4"), "23a26200");  // the store
            EXPECT_EQ(client.ask("m0,4"), "E02");
            EXPECT_EQ(client.ask("c"), "W09");
        },
        [](Bench& bench) {
            EXPECT_EQ(bench.cpu->exit_code(), 9u);
            EXPECT_EQ(bench.cpu->fault(), "");
        });
}

TEST(RiscvDebugger, ChangedInstructionsAreExecuted) {
    converse(
        {kLoadDeviceBase, kLoad7, kStoreExit, kLoop},
        [](Client& client) {
            EXPECT_EQ(client.ask("Z0,80000004,4"), "OK");
            EXPECT_EQ(client.ask("c"), "T05thread:1;");
            EXPECT_EQ(client.ask("M80000004,4:13030001"), "OK");  // li t1, 16
            EXPECT_EQ(client.ask("c"), "W10");
        },
        [](Bench& bench) { EXPECT_EQ(bench.cpu->exit_code(), 16u); });
}

TEST(RiscvDebugger, AClientThatGoesLetsItRun) {
    converse(
        {kLoadDeviceBase, kLoad7, kStoreExit, kLoop}, [](Client&) {},
        [](Bench& bench) { EXPECT_EQ(bench.cpu->exit_code(), 7u); });
}

TEST(RiscvDebugger, APortThatIsTakenIsAMistake) {
    gdb::Socket first(0);
    EXPECT_THROW(gdb::Socket second(first.port()), UserError);
}

}  // namespace
}  // namespace tandem::host
