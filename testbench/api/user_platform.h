// SPDX-License-Identifier: Apache-2.0
// A user's platform around the public modules: sees nothing of the library but its installed
// headers.
#pragma once

#include <gtest/gtest.h>
#include <tandem/systemc.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/virtual_platform/platform.h"
#include "testbench/support/tlm_checker.h"

namespace tandem::testbench {

using Bytes = std::vector<std::uint8_t>;

inline Bytes read_bytes(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(stream), {});
}

inline std::string digits(const std::string& name) {
    return std::string(std::getenv("TANDEM_SOURCE_DIR")) + "/models/digits/" + name;
}

/// What a call throws; empty: nothing.
inline std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

/// A chip alone, with an initiator for its registers and a memory.
struct ChipAlone : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<ChipAlone> out{"out"};
    sc_core::sc_signal<bool> irq{"irq"};
    Memory memory{"memory", 1 << 20};
    api::Chip chip;

    explicit ChipAlone(sc_core::sc_module_name name, const api::ChipOptions& options = {})
        : sc_module(name), chip("chip", options) {
        out.bind(chip.registers_in);
        chip.host_out.bind(memory.in);
        chip.irq_out.bind(irq);
    }
    tlm::tlm_response_status access(tlm::tlm_generic_payload& payload, unsigned char* data,
                                    std::uint64_t offset) {
        payload.set_address(offset);
        payload.set_data_ptr(data);
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        out->b_transport(payload, delay);
        return payload.get_response_status();
    }
    std::uint32_t read(std::uint64_t offset) {
        tlm::tlm_generic_payload payload;
        payload.set_read();
        unsigned char data[4] = {};
        EXPECT_EQ(access(payload, data, offset), tlm::TLM_OK_RESPONSE);
        std::uint32_t value;
        std::memcpy(&value, data, sizeof value);
        return value;
    }
    /// Runs `act` in simulated time.
    void run(const std::function<void()>& act) {
        bool done = false;
        sc_core::sc_spawn([&] {
            act();
            done = true;
            sc_core::sc_stop();
        });
        sc_core::sc_start();
        EXPECT_TRUE(done);
    }
};

/// Chip, host, bus and memory.
struct Platform {
    Memory memory{"memory", 16 << 20};
    Bus bus{"bus",
            {{api::kRamBase, 16 << 20},
             {api::kChipBase, api::kChipBytes},
             {api::kDeviceBase, api::kDeviceBytes}}};
    api::Chip chip;
    api::Host host;
    sc_core::sc_signal<bool> irq{"irq"};
    std::vector<std::string> lines;
    Checkers checkers;

    Platform(const api::ChipOptions& options, const std::string& cpu)
        : chip("chip", options), host("host", {memory.bytes.data(), memory.bytes.size()}, of(cpu)) {
        checkers.connect()(host.bus_out, bus.in);
        checkers.connect()(chip.host_out, bus.in);
        bus.out.bind(memory.in);
        bus.out.bind(chip.registers_in);
        bus.out.bind(host.device_in);
        chip.irq_out.bind(irq);
        host.irq_in.bind(irq);
    }
    api::HostOptions of(const std::string& cpu) {
        api::HostOptions options;
        options.cpu = cpu;
        options.console = [this](const std::string& line) { lines.push_back(line); };
        return options;
    }
    void run() {
        sc_core::sc_spawn([this] {
            sc_core::wait(host.finished_event());
            sc_core::sc_stop();
        });
        sc_core::sc_start();
    }
};

}  // namespace tandem::testbench
