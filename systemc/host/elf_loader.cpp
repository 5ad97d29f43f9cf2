// SPDX-License-Identifier: Apache-2.0
#include "systemc/host/elf_loader.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "base/error.h"

namespace tandem::host {

namespace {

std::string hex(uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

class Elf {
  public:
    Elf(std::span<const uint8_t> file, const std::string& origin) : file_(file), origin_(origin) {}

    uint32_t load(std::span<uint8_t> ram, uint64_t base) const {
        const auto header = take<Elf32_Ehdr>(0, "ELF header");
        check(header);
        for (unsigned i = 0; i < header.e_phnum; ++i) {
            const uint64_t offset = uint64_t{header.e_phoff} + i * sizeof(Elf32_Phdr);
            const auto segment = take<Elf32_Phdr>(offset, "program header " + std::to_string(i));
            if (segment.p_type == PT_LOAD) load_segment(segment, i, ram, base);
        }
        if (header.e_entry < base || header.e_entry - base >= ram.size() || header.e_entry % 4 != 0)
            fail("entry point", "an aligned address in RAM", hex(header.e_entry));
        return header.e_entry;
    }

  private:
    [[noreturn]] void fail(const std::string& where, const std::string& expected,
                           const std::string& found) const {
        throw UserError(origin_, where, expected, found);
    }

    template <class T>
    T take(uint64_t offset, const std::string& what) const {
        if (offset > file_.size() || sizeof(T) > file_.size() - offset)
            fail(what, std::to_string(sizeof(T)) + " bytes at offset " + std::to_string(offset),
                 "the end of the file");
        T value;
        std::memcpy(&value, file_.data() + offset, sizeof value);
        return value;
    }

    void check(const Elf32_Ehdr& header) const {
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
            fail("ELF header", "an ELF file", "another kind of file");
        if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_ident[EI_DATA] != ELFDATA2LSB)
            fail("ELF header", "32 bits, little-endian", "another class");
        if (header.e_machine != EM_RISCV)
            fail("ELF header", "machine RISC-V", "machine " + std::to_string(header.e_machine));
        if (header.e_type != ET_EXEC)
            fail("ELF header", "an executable", "type " + std::to_string(header.e_type));
        if ((header.e_flags & EF_RISCV_RVC) != 0)
            fail("ELF header", "no compressed instructions (-march=rv32im)", "flag RVC");
        if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf32_Phdr))
            fail("ELF header", "program headers of 32 bytes",
                 std::to_string(header.e_phnum) + " of " + std::to_string(header.e_phentsize));
    }

    void load_segment(const Elf32_Phdr& segment, unsigned index, std::span<uint8_t> ram,
                      uint64_t base) const {
        const std::string where = "segment " + std::to_string(index);
        const uint64_t address = segment.p_paddr;
        if (segment.p_filesz > segment.p_memsz)
            fail(where, "at most " + hex(segment.p_memsz) + " bytes", hex(segment.p_filesz));
        if (segment.p_offset > file_.size() || segment.p_filesz > file_.size() - segment.p_offset)
            fail(where, hex(segment.p_filesz) + " bytes in the file", "the end of the file");
        if (segment.p_memsz == 0) return;
        if (address < base || address - base > ram.size() ||
            segment.p_memsz > ram.size() - (address - base))
            fail(where, "addresses " + hex(base) + " to " + hex(base + ram.size() - 1),
                 hex(address) + " and " + hex(segment.p_memsz) + " bytes");
        const auto target = ram.subspan(address - base, segment.p_memsz);
        const auto bytes = file_.subspan(segment.p_offset, segment.p_filesz);
        std::fill(std::copy(bytes.begin(), bytes.end(), target.begin()), target.end(), uint8_t{0});
    }

    std::span<const uint8_t> file_;
    const std::string& origin_;
};

}  // namespace

uint32_t load_elf(std::span<const uint8_t> file, const std::string& origin, std::span<uint8_t> ram,
                  uint64_t base) {
    return Elf(file, origin).load(ram, base);
}

}  // namespace tandem::host
