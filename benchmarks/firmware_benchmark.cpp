// SPDX-License-Identifier: Apache-2.0
// How fast the RISC-V host CPU runs firmware: the driver checks a program image of 16 MiB (a
// checksum loop over all bytes), then finds no chip behind the bus and ends. Instructions per wall
// second of one such run; the caller repeats it. Writes JSON to stdout.
#include <tlm_utils/simple_target_socket.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <systemc>

#include "arch/program.h"
#include "run/paths.h"
#include "systemc/host/host_system.h"

namespace {

/// A bus without a chip: every register reads as zero, host memory is never asked for.
struct NoChip : sc_core::sc_module {
    tlm_utils::simple_target_socket<NoChip> registers_in{"registers_in"};
    tlm_utils::simple_initiator_socket<NoChip> memory_out{"memory_out"};
    explicit NoChip(sc_core::sc_module_name name) : sc_module(name) {
        registers_in.register_b_transport(this, &NoChip::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
        if (transaction.is_read())
            std::memset(transaction.get_data_ptr(), 0, transaction.get_data_length());
        transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

}  // namespace

// The library's main() is not used, but it refers to this.
int sc_main(int, char*[]) { return 0; }

int main() {
    using namespace tandem;
    arch::Program program;
    program.data.resize(16u << 20, 0x5a);
    const auto image = arch::serialise(program);
    host::HostConfig config;
    config.firmware_elf = run::firmware_elf();
    host::HostSystem host("host", config);
    NoChip chip("chip");
    sc_core::sc_signal<bool> irq;
    host.registers_out.bind(chip.registers_in);
    chip.memory_out.bind(host.dma_in);
    host.irq_in.bind(irq);
    host.load({image, {}, 1, 4, 10'000'000});
    const auto start = std::chrono::steady_clock::now();
    sc_core::sc_start();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double instructions = static_cast<double>(host.instructions());
    std::printf("%s\n", nlohmann::json{{"instructions", instructions},
                                       {"seconds", seconds},
                                       {"mips", instructions / seconds / 1e6}}
                            .dump()
                            .c_str());
    return 0;
}
