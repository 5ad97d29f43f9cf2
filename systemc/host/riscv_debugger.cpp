// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/riscv_debugger.h"

#include <unicorn/unicorn.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "systemc/host/riscv_registers.h"

namespace tandem::host {
namespace {

constexpr uint64_t kPc = 32;
// How often a CPU that runs looks whether gdb wants it to stop.
constexpr uint32_t kInstructionsPerPoll = 1u << 14;

struct ControlRegister {
    uint64_t number;  ///< for gdb
    const char* name;
    int id;  ///< for Unicorn
};
constexpr std::array<ControlRegister, 6> kControlRegisters = {{
    {65, "mstatus", UC_RISCV_REG_MSTATUS},
    {66, "mie", UC_RISCV_REG_MIE},
    {67, "mtvec", UC_RISCV_REG_MTVEC},
    {68, "mscratch", UC_RISCV_REG_MSCRATCH},
    {69, "mepc", UC_RISCV_REG_MEPC},
    {70, "mcause", UC_RISCV_REG_MCAUSE},
}};

/// Unicorn's number of a register that is not pc.
std::optional<int> id_of(uint64_t number) {
    if (number < kRegisterNames.size()) return UC_RISCV_REG_X0 + static_cast<int>(number);
    const auto found = std::ranges::find(kControlRegisters, number, &ControlRegister::number);
    return found == kControlRegisters.end() ? std::nullopt : std::optional(found->id);
}

}  // namespace

RiscvDebugger::RiscvDebugger(uint16_t port, Cpu cpu) : cpu_(std::move(cpu)), socket_(port) {}

bool RiscvDebugger::stops_before(uint64_t pc) {
    if (!attached_) return false;
    const bool again = resumed_at_ == pc;
    resumed_at_.reset();
    if (again) return false;
    if (seen_) {
        stop_ = *seen_;
        return true;
    }
    stop_ = {};
    if (step_ || breakpoints_.contains({pc, gdb::PointKind::kBreak}) ||
        breakpoints_.contains({pc, gdb::PointKind::kHardwareBreak}))
        return true;
    if (++polls_ % kInstructionsPerPoll != 0 || !session_.wants_stop()) return false;
    stop_.signal = gdb::kSigInt;
    return true;
}

void RiscvDebugger::on_memory(bool write, uint64_t address, uint64_t bytes) {
    for (const Watch& watch : watches_) {
        const bool kind = watch.kind == gdb::PointKind::kAccess ||
                          (watch.kind == gdb::PointKind::kWrite) == write;
        if (kind && address < watch.address + watch.bytes && watch.address < address + bytes)
            seen_ = gdb::Stop{.watch = watch.kind, .address = watch.address};
    }
}

gdb::Resume RiscvDebugger::serve(const std::optional<gdb::Stop>& stop) {
    seen_.reset();
    const gdb::Resume resume = session_.serve(stop.value_or(stop_));
    attached_ = resume == gdb::Resume::kContinue || resume == gdb::Resume::kStep;
    step_ = resume == gdb::Resume::kStep;
    resumed_at_ = *cpu_.pc;
    return resume;
}

void RiscvDebugger::exited(uint32_t code) {
    if (attached_) session_.exited(static_cast<uint8_t>(code));
    attached_ = false;
}

std::string RiscvDebugger::description() const {
    std::ostringstream xml;
    xml << "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target "
           "version=\"1.0\"><architecture>riscv:rv32</architecture>"
           "<feature name=\"org.gnu.gdb.riscv.cpu\">";
    const auto add = [&](const char* name, const char* type, uint64_t number) {
        xml << "<reg name=\"" << name << "\" bitsize=\"32\" type=\"" << type << "\" regnum=\""
            << number << "\"/>";
    };
    for (uint64_t number = 0; number < kRegisterNames.size(); ++number)
        add(kRegisterNames[number],
            number == 1                  ? "code_ptr"
            : number == 2 || number == 3 ? "data_ptr"
                                         : "int",
            number);
    add("pc", "code_ptr", kPc);
    xml << "</feature><feature name=\"org.gnu.gdb.riscv.csr\">";
    for (const ControlRegister& control : kControlRegisters)
        add(control.name, "int", control.number);
    xml << "</feature></target>";
    return xml.str();
}

std::optional<uint32_t> RiscvDebugger::read_register(uint64_t number) const {
    if (number == kPc) return static_cast<uint32_t>(*cpu_.pc);
    const auto id = id_of(number);
    uint64_t value = 0;  // the emulator writes the low word only
    if (!id || uc_reg_read(cpu_.engine, *id, &value) != UC_ERR_OK) return std::nullopt;
    return static_cast<uint32_t>(value);
}

bool RiscvDebugger::write_register(uint64_t number, uint32_t value) {
    if (number == 0) return true;
    if (number == kPc) {
        // The emulator does not know instructions at odd addresses.
        if (value % 4 == 0) *cpu_.pc = value;
        return value % 4 == 0;
    }
    const auto id = id_of(number);
    uint64_t wide = value;
    return id && uc_reg_write(cpu_.engine, *id, &wide) == UC_ERR_OK;
}

bool RiscvDebugger::read_memory(uint64_t address, std::span<uint8_t> bytes) {
    return cpu_.read(address, bytes);
}

bool RiscvDebugger::write_memory(uint64_t address, std::span<const uint8_t> bytes) {
    return cpu_.write(address, bytes);
}

bool RiscvDebugger::set_point(gdb::PointKind kind, uint64_t address, uint64_t bytes) {
    if (kind == gdb::PointKind::kBreak || kind == gdb::PointKind::kHardwareBreak)
        breakpoints_.insert({address, kind});
    else
        watches_.insert({kind, address, bytes});
    return true;
}

bool RiscvDebugger::clear_point(gdb::PointKind kind, uint64_t address, uint64_t bytes) {
    breakpoints_.erase({address, kind});
    watches_.erase({kind, address, bytes});
    return true;
}

void RiscvDebugger::clear_points() {
    breakpoints_.clear();
    watches_.clear();
}

}  // namespace tandem::host
