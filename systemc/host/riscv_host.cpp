// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/riscv_host.h"

#include <unicorn/unicorn.h>

#include <cstring>
#include <iomanip>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "firmware/include/tandem/platform.h"
#include "systemc/host/elf_loader.h"
#include "systemc/host/riscv_registers.h"
#include "systemc/host/unicorn_error.h"

namespace tandem::host {

namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr uint32_t kWfi = 0x10500073;
// Instructions have even addresses: the emulator never meets this one.
constexpr uint64_t kNoEndAddress = 1;

constexpr uint64_t kMstatusMie = 1u << 3;
constexpr uint64_t kMstatusMpie = 1u << 7;
constexpr uint64_t kMstatusMpp = 3u << 11;
constexpr uint64_t kMieMeie = 1u << 11;
constexpr uint64_t kCauseExternal = 0x8000000b;
constexpr uint64_t kExternalVector = 11;

std::string hex(uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << std::setw(8) << std::setfill('0') << value;
    return text.str();
}

/// For its translations, and some more. Where it does not get them it ends the process.
constexpr uint64_t kEmulatorBytes = (uint64_t{1} << 30) + (64 << 20);

uc_engine* open_engine() {
    base::require_memory(kEmulatorBytes, "the RISC-V CPU, which --host native does without");
    uc_engine* engine = nullptr;
    require(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &engine), "cannot create a CPU");
    return engine;
}

}  // namespace

/// What Unicorn calls. C frames lie between here and run_thread: no exception may pass.
struct RiscvHost::Callbacks {
    static void block(uc_engine*, uint64_t address, uint32_t bytes, void* host) {
        static_cast<RiscvHost*>(host)->on_block(address, bytes);
    }

    static uint64_t read(uc_engine*, uint64_t offset, unsigned bytes, void* user) {
        const auto* region = static_cast<const Region*>(user);
        return region->host->on_access(region->base + offset, bytes, 0, false);
    }

    static void write(uc_engine*, uint64_t offset, unsigned bytes, uint64_t value, void* user) {
        const auto* region = static_cast<const Region*>(user);
        region->host->on_access(region->base + offset, bytes, value, true);
    }

    static bool invalid(uc_engine*, uc_mem_type type, uint64_t address, int bytes, int64_t,
                        void* user) {
        const bool is_fetch = type == UC_MEM_FETCH_UNMAPPED || type == UC_MEM_FETCH_PROT;
        const bool is_write = type == UC_MEM_WRITE_UNMAPPED || type == UC_MEM_WRITE_PROT;
        static_cast<RiscvHost*>(user)->bad_access_ = std::string(is_fetch   ? "fetch"
                                                                 : is_write ? "write"
                                                                            : "read") +
                                                     " of " + std::to_string(bytes) + " bytes at " +
                                                     hex(address & 0xffffffff);
        return false;
    }
};

RiscvHost::RiscvHost(sc_core::sc_module_name name, const RiscvHostConfig& config, HostRam& memory)
    : HostCpu(name),
      config_(config),
      uc_(nullptr, [](uc_struct* engine) { uc_close(engine); }),
      registers_region_{this, platform::kTpuBase},
      device_region_{this, platform::kDeviceBase} {
    if (config.clock_hz == 0 || config.quantum_instructions == 0) {
        throw UserError("host CPU: clock and quantum must not be zero");
    }
    const auto file = base::read_file(config.firmware_elf);
    const auto ram = memory.at(platform::kRamBase, platform::kFirmwareBytes);
    if (ram.empty()) {
        throw UserError("host memory: smaller than the " +
                        std::to_string(platform::kFirmwareBytes) + " bytes of the firmware");
    }
    pc_ = load_elf(file, config.firmware_elf.string(), ram, platform::kRamBase);
    open(memory);
    if (config.gdb) open_debugger(memory);
    SC_HAS_PROCESS(RiscvHost);
    SC_THREAD(run_thread);
    set_stack_size(kStackBytes);
}

RiscvHost::~RiscvHost() = default;

void RiscvHost::open(HostRam& memory) {
    uc_.reset(open_engine());
    const auto ram = memory.bytes();
    require(uc_mem_map_ptr(uc_.get(), memory.base(), ram.size(), UC_PROT_ALL, ram.data()),
            "cannot map memory");
    map_device(platform::kTpuBase, platform::kTpuBytes, &registers_region_);
    map_device(platform::kDeviceBase, platform::kDeviceBytes, &device_region_);

    uc_hook hook = 0;
    require(uc_hook_add(uc_.get(), &hook, UC_HOOK_BLOCK, reinterpret_cast<void*>(&Callbacks::block),
                        this, 1, 0),
            "cannot count instructions");
    require(uc_hook_add(uc_.get(), &hook, UC_HOOK_MEM_INVALID,
                        reinterpret_cast<void*>(&Callbacks::invalid), this, 1, 0),
            "cannot watch memory");
}

void RiscvHost::map_device(uint64_t address, uint64_t bytes, void* region) {
    require(
        uc_mmio_map(uc_.get(), address, bytes, &Callbacks::read, region, &Callbacks::write, region),
        "cannot map a device");
}

void RiscvHost::run_thread() {
    if (debugger_) {
        debugger_->accept();
        if (!serve_debugger(gdb::Stop{})) return;
    }
    quantum_end_ = config_.quantum_instructions;
    while (run_until_stop()) {
        if (interrupt_deliverable()) enter_interrupt();
    }
}

/// False when the CPU has ended.
bool RiscvHost::run_until_stop() {
    stop_ = Stop::kNone;
    stopped_before_.reset();
    bad_access_.clear();
    const uc_err error = uc_emu_start(uc_.get(), pc_, kNoEndAddress, 0, 0);
    pc_ = stopped_before_.value_or(read_register(UC_RISCV_REG_PC));
    return after_stop(error);
}

bool RiscvHost::after_stop(int error) {
    switch (stop_) {
        case Stop::kException:
            std::rethrow_exception(std::exchange(exception_, nullptr));
        case Stop::kBusError:
            fail_for("bus error: " + bad_access_, gdb::kSigSegv);
            return false;
        case Stop::kExit:
            synchronise();
            if (debugger_) debugger_->exited(exit_code());
            finish();
            return false;
        case Stop::kDebug:
            inside_block_ = true;
            return serve_debugger();
        case Stop::kQuantum:
            synchronise();
            quantum_end_ = instructions_ + config_.quantum_instructions;
            return true;
        case Stop::kInterrupt:
            return true;
        case Stop::kBudget:
            fail_for("the budget of " + std::to_string(config_.budget_instructions) +
                         " firmware instructions is used up (--firmware-budget); does the "
                         "firmware loop for ever?",
                     gdb::kSigInt);
            return false;
        case Stop::kNone:
            break;
    }
    if (error != UC_ERR_OK) {
        std::string reason = uc_strerror(static_cast<uc_err>(error));
        if (!bad_access_.empty()) reason += ", " + bad_access_;
        fail_for(reason, gdb::kSigIll);
        return false;
    }
    return wait_for_interrupt();
}

/// The emulator came back by itself: behind a wfi, or for a reason that this CPU does not know.
bool RiscvHost::wait_for_interrupt() {
    uint32_t instruction = 0;
    uc_mem_read(uc_.get(), pc_ - 4, &instruction, sizeof instruction);
    if (instruction != kWfi) {
        fail_for("the emulator stopped without a reason", gdb::kSigIll);
        return false;
    }
    if ((read_register(UC_RISCV_REG_MIE) & kMieMeie) == 0) {
        fail_for("wfi with all interrupts disabled would never end", gdb::kSigIll);
        return false;
    }
    synchronise();
    if (!irq_in.read() && !wait_for_line()) return false;
    quantum_end_ = instructions_ + config_.quantum_instructions;
    return true;
}

void RiscvHost::stop(Stop reason) {
    stop_ = reason;
    uc_emu_stop(uc_.get());
}

/// The instruction at `address` is not executed. With hooks on instructions the emulator's pc may
/// be that of the one before.
void RiscvHost::stop_before(uint64_t address, Stop reason) {
    stopped_before_ = address;
    stop(reason);
}

/// Called before each basic block; a block that is stopped here is not executed.
void RiscvHost::on_block(uint64_t address, uint32_t bytes) {
    // uc_emu_stop may let the block behind the one that called it begin.
    if (stop_ != Stop::kNone) return uc_emu_stop(uc_.get()), void();
    const uint64_t end = address + bytes;
    // The rest of a block has been counted with its beginning.
    if (inside_block_ && end <= block_end_) {
        inside_block_ = end != block_end_;
        return;
    }
    const uint64_t count = bytes / 4;
    if (instructions_ + count > config_.budget_instructions)
        return stop_before(address, Stop::kBudget);
    // A block longer than the quantum must still be executed some time.
    if (instructions_ + count > quantum_end_ && instructions_ != synchronised_) {
        return stop_before(address, Stop::kQuantum);
    }
    if (interrupt_deliverable()) return stop_before(address, Stop::kInterrupt);
    instructions_ += count;
    block_end_ = end;
    inside_block_ = false;
}

uint64_t RiscvHost::on_access(uint64_t address, unsigned bytes, uint64_t value, bool is_write) {
    if (stop_ != Stop::kNone) return 0;  // the rest of a block that is being left
    try {
        synchronise();
        uint8_t data[sizeof value];
        std::memcpy(data, &value, sizeof value);
        const auto command = is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
        const auto response = access(command, address, data, bytes);
        if (response != tlm::TLM_OK_RESPONSE) {
            bad_access_ = std::string(is_write ? "write" : "read") + " of " +
                          std::to_string(bytes) + " bytes at " + hex(address) + ", TLM response " +
                          std::to_string(response);
            stop(Stop::kBusError);
        } else if (exit_requested()) {
            stop(Stop::kExit);
        }
        std::memcpy(&value, data, bytes);
    } catch (...) {
        exception_ = std::current_exception();
        stop(Stop::kException);
    }
    return value;
}

/// Lets simulated time catch up with the instructions executed.
void RiscvHost::synchronise() {
    const uint64_t behind = instructions_ - synchronised_;
    if (behind == 0) return;
    synchronised_ = instructions_;
    quantum_end_ = instructions_ + config_.quantum_instructions;
    wait(sc_core::sc_time(static_cast<double>(behind) / static_cast<double>(config_.clock_hz),
                          sc_core::SC_SEC));
}

bool RiscvHost::interrupt_deliverable() const {
    // The line first: it is cheap to look at and nearly always low.
    return irq_in.read() && (read_register(UC_RISCV_REG_MSTATUS) & kMstatusMie) != 0 &&
           (read_register(UC_RISCV_REG_MIE) & kMieMeie) != 0;
}

/// Trap entry as in the privileged architecture; the emulator has no way to raise this interrupt.
void RiscvHost::enter_interrupt() {
    uint64_t mstatus = read_register(UC_RISCV_REG_MSTATUS);
    mstatus = (mstatus & ~(kMstatusMie | kMstatusMpie)) | kMstatusMpp | kMstatusMpie;
    write_register(UC_RISCV_REG_MSTATUS, mstatus);
    write_register(UC_RISCV_REG_MEPC, pc_);
    write_register(UC_RISCV_REG_MCAUSE, kCauseExternal);
    const uint64_t mtvec = read_register(UC_RISCV_REG_MTVEC);
    pc_ = (mtvec & ~uint64_t{3}) + ((mtvec & 1) != 0 ? 4 * kExternalVector : 0);
}

uint64_t RiscvHost::read_register(int id) const {
    uint64_t value = 0;  // the emulator writes the low word only
    uc_reg_read(uc_.get(), id, &value);
    return value & 0xffffffff;
}

void RiscvHost::write_register(int id, uint64_t value) { uc_reg_write(uc_.get(), id, &value); }

std::string RiscvHost::describe(const std::string& reason) const {
    std::ostringstream text;
    text << name() << ": RISC-V CPU stopped at pc " << hex(pc_) << ": " << reason << "\n"
         << "after " << instructions_ << " instructions at " << sc_core::sc_time_stamp();
    for (int i = 0; i < 32; ++i) {
        text << (i % 4 == 0 ? "\n" : "  ") << std::setw(4) << kRegisterNames[i] << ' '
             << hex(read_register(UC_RISCV_REG_X0 + i));
    }
    return text.str();
}

}  // namespace tandem::host
