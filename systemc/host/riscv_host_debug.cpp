// SPDX-License-Identifier: Apache-2.0
// The RISC-V CPU while gdb watches it.
#include <algorithm>

#include "base/process.h"
#include "systemc/host/riscv_host.h"
#include "systemc/host/unicorn_error.h"

namespace tandem::host {

/// Hooks before every instruction and access: slow, and there only when somebody debugs.
void RiscvHost::open_debugger(HostRam& memory) {
    RiscvDebugger::Cpu cpu;
    cpu.engine = uc_.get();
    cpu.pc = &pc_;
    cpu.read = [this, ram = memory](uint64_t address, std::span<uint8_t> bytes) mutable {
        const auto from = ram.at(address, bytes.size());
        if (from.size() == bytes.size()) return std::ranges::copy(from, bytes.begin()), true;
        return debug_transport(tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size());
    };
    // Through the emulator, which has to translate changed instructions anew.
    cpu.write = [this, ram = memory](uint64_t address, std::span<const uint8_t> bytes) mutable {
        return ram.at(address, bytes.size()).size() == bytes.size() &&
               uc_mem_write(uc_.get(), address, bytes.data(), bytes.size()) == UC_ERR_OK;
    };
    cpu.status = [this] {
        return std::to_string(instructions_) + " instructions, " +
               sc_core::sc_time_stamp().to_string();
    };
    debugger_ = std::make_unique<RiscvDebugger>(config_.gdb->port, std::move(cpu));
    // As Unicorn calls them.
    using Before = void (*)(uc_engine*, uint64_t, uint32_t, void*);
    using AtAccess = void (*)(uc_engine*, uc_mem_type, uint64_t, int, int64_t, void*);
    const Before before = [](uc_engine*, uint64_t address, uint32_t, void* host) {
        static_cast<RiscvHost*>(host)->on_instruction(address);
    };
    const AtAccess at_access = [](uc_engine*, uc_mem_type type, uint64_t address, int bytes,
                                  int64_t, void* host) {
        static_cast<RiscvHost*>(host)->on_memory(type == UC_MEM_WRITE, address,
                                                 static_cast<unsigned>(bytes));
    };
    uc_hook hook = 0;
    require(
        uc_hook_add(uc_.get(), &hook, UC_HOOK_CODE, reinterpret_cast<void*>(before), this, 1, 0),
        "cannot watch instructions");
    require(uc_hook_add(uc_.get(), &hook, UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE,
                        reinterpret_cast<void*>(at_access), this, 1, 0),
            "cannot watch accesses");
    if (config_.gdb->announce) {
        const std::string port = std::to_string(debugger_->port());
        config_.gdb->announce("waiting for gdb on 127.0.0.1:" + port + "; " +
                              base::quoted({"gdb-multiarch", config_.firmware_elf.string(), "-ex",
                                            "target remote :" + port}));
    }
}

bool RiscvHost::debug_transport(tlm::tlm_command command, uint64_t address, uint8_t* data,
                                uint64_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    return bytes == 0 || bus_out->transport_dbg(payload) == bytes;
}

bool RiscvHost::serve_debugger(const std::optional<gdb::Stop>& stop) {
    const uint64_t pc = pc_;
    const bool killed = debugger_->serve(stop) == gdb::Resume::kKill;
    if (pc_ != pc) inside_block_ = false;
    if (killed) kill(describe("gdb has ended the program (kill)"));
    return !killed;
}

void RiscvHost::fail_for(const std::string& reason, uint8_t signal) {
    if (debugger_ && debugger_->attached() && !serve_debugger(gdb::Stop{.signal = signal})) return;
    fail(describe(reason));
}

/// gdb may stop a CPU that sleeps: it looks up now and then. False: gdb has ended the program.
bool RiscvHost::wait_for_line() {
    const sc_core::sc_time nap(100, sc_core::SC_US);
    while (debugger_ && debugger_->attached() && !irq_in.read()) {
        wait(nap, irq_in.posedge_event());
        if (debugger_->interrupted() && !serve_debugger(gdb::Stop{.signal = gdb::kSigInt}))
            return false;
    }
    if (!irq_in.read()) wait(irq_in.posedge_event());
    return true;
}

void RiscvHost::on_instruction(uint64_t address) {
    if (stop_ == Stop::kNone && debugger_->stops_before(address))
        stop_before(address, Stop::kDebug);
}

void RiscvHost::on_memory(bool write, uint64_t address, unsigned bytes) {
    if (stop_ == Stop::kNone) debugger_->on_memory(write, address, bytes);
}

}  // namespace tandem::host
