// SPDX-License-Identifier: Apache-2.0
#include "systemc/host_interface/core_table.h"

#include <cstring>

#include "arch/generated/registers.h"

namespace tandem::sim {
namespace {

constexpr uint64_t kEntry = TANDEM_CORE_ENTRY_BYTES;

struct Extent {
    uint64_t begin = 0, end = 0;
    bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};

/// Nothing: it does not lie in the memory.
std::optional<Extent> extent_of(uint64_t address, uint64_t bytes, uint64_t memory_bytes) {
    if (address > memory_bytes || bytes > memory_bytes - address) return std::nullopt;
    return Extent{address, address + bytes};
}

std::optional<Extent> code_of(const uint8_t* entry, uint64_t code, uint64_t memory_bytes) {
    uint64_t offset = 0, instructions = 0;
    std::memcpy(&offset, entry + TANDEM_CORE_ENTRY_OFFSET_OFFSET, sizeof offset);
    std::memcpy(&instructions, entry + TANDEM_CORE_ENTRY_INSTRUCTIONS_OFFSET, sizeof instructions);
    if (instructions == 0 || instructions > memory_bytes / isa::kInstructionBytes ||
        offset % isa::kInstructionBytes != 0 || offset > memory_bytes || code > memory_bytes)
        return std::nullopt;
    return extent_of(code + offset, instructions * isa::kInstructionBytes, memory_bytes);
}

}  // namespace

std::optional<ProgramError> read_core_table(MemoryInitiator& memory, uint64_t memory_bytes,
                                            uint32_t cores, const CoreTable& table,
                                            std::vector<CoreProgramRequest>& programs) {
    const auto refuse = [](uint32_t entry) {
        return ProgramError{arch::DeviceError::kBadCoreTable, entry, sc_core::sc_time_stamp()};
    };
    if (table.bytes == 0 || table.bytes % kEntry != 0 || table.bytes / kEntry > cores)
        return refuse(0);
    const auto place = extent_of(table.address, table.bytes, memory_bytes);
    if (!place) return refuse(0);
    std::vector<uint8_t> bytes(table.bytes);
    sc_core::sc_time delay;
    if (!memory.read(table.address, bytes.data(), bytes.size(), delay)) return refuse(0);
    sc_core::wait(delay);
    std::vector<Extent> taken{*place};
    for (uint32_t core = 0; core < table.bytes / kEntry; ++core) {
        const auto code = code_of(bytes.data() + core * kEntry, table.code, memory_bytes);
        if (!code) return refuse(core);
        for (const Extent& other : taken)
            if (code->overlaps(other)) return refuse(core);
        taken.push_back(*code);
        programs.push_back(
            {core, {code->begin, (code->end - code->begin) / isa::kInstructionBytes, {}}});
    }
    return std::nullopt;
}

}  // namespace tandem::sim
