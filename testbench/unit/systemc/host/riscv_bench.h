// SPDX-License-Identifier: Apache-2.0
// A RISC-V CPU with memory, platform device and stub chip, running a few words of code.
#pragma once

#include <elf.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/output_file.h"
#include "firmware/include/tandem/platform.h"
#include "systemc/host/host_bus.h"
#include "systemc/host/host_memory.h"
#include "systemc/host/platform_device.h"
#include "systemc/host/riscv_host.h"
#include "testbench/unit/systemc/host/stub_tpu.h"

namespace tandem::host {

inline constexpr uint32_t kNop = 0x00000013;
inline constexpr uint32_t kWfi = 0x10500073;
inline constexpr uint32_t kLoadDeviceBase = 0x100102b7;  // lui t0, 0x10010
inline constexpr uint32_t kLoad7 = 0x00700313;           // li t1, 7
inline constexpr uint32_t kStoreExit = 0x0062a223;       // sw t1, 4(t0)
inline constexpr uint32_t kLoop = 0x0000006f;            // j .

/// A minimal ELF with one segment at the start of RAM.
inline std::vector<uint8_t> make_elf(const std::vector<uint32_t>& code) {
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_EXEC;
    header.e_machine = EM_RISCV;
    header.e_entry = static_cast<uint32_t>(platform::kRamBase);
    header.e_phoff = sizeof header;
    header.e_phnum = 1;
    header.e_phentsize = sizeof(Elf32_Phdr);
    Elf32_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_offset = sizeof header + sizeof segment;
    segment.p_vaddr = segment.p_paddr = static_cast<uint32_t>(platform::kRamBase);
    segment.p_filesz = segment.p_memsz = static_cast<uint32_t>(code.size() * 4);
    std::vector<uint8_t> file(segment.p_offset + segment.p_filesz);
    std::memcpy(file.data(), &header, sizeof header);
    std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
    std::memcpy(file.data() + segment.p_offset, code.data(), segment.p_filesz);
    return file;
}

/// A CPU with memory, platform device and stub chip, running `code`.
struct Bench {
    explicit Bench(const std::vector<uint32_t>& code, uint64_t budget = kFirmwareBudget,
                   std::optional<GdbOptions> gdb = std::nullopt)
        : file(std::filesystem::temp_directory_path() /
               ("tandem_riscv_host_test_" + std::to_string(getpid()) + ".elf")) {
        base::write_file(file, make_elf(code));
        RiscvHostConfig config;
        config.firmware_elf = file;
        config.budget_instructions = budget;
        config.gdb = std::move(gdb);
        cpu = std::make_unique<RiscvHost>("cpu", config, memory);
        std::filesystem::remove(file);
        cpu->bus_out.bind(bus.cpu_in);
        tpu.dma_out.bind(bus.dma_in);
        bus.memory_out.bind(memory.in);
        bus.registers_out.bind(tpu.registers_in);
        bus.device_out.bind(device.in);
        tpu.irq_out.bind(irq_tpu);
        device.irq_tpu_in.bind(irq_tpu);
        device.irq_cpu_out.bind(irq_cpu);
        cpu->irq_in.bind(irq_cpu);
        device.on_exit([this](uint32_t exit_code) { cpu->request_exit(exit_code); });
    }

    void run() { sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_MS)); }

    std::filesystem::path file;
    HostMemory memory{"memory", platform::kRamBase, 2 << 20};
    HostBus bus{"bus", 2 << 20};
    PlatformDevice device{"device"};
    testbench::StubTpu tpu{"tpu"};
    sc_core::sc_signal<bool> irq_tpu{"irq_tpu"}, irq_cpu{"irq_cpu"};
    std::unique_ptr<RiscvHost> cpu;
};

}  // namespace tandem::host
