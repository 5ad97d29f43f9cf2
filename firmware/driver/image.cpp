// SPDX-License-Identifier: Apache-2.0
#include "firmware/driver/image.h"

#include "arch/container.h"
#include "arch/generated/registers.h"

namespace tandem::firmware {

namespace {

// Byte by byte: the container promises no alignment.
uint32_t read_u32(const uint8_t* bytes) {
    return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
           uint32_t{bytes[3]} << 24;
}

uint64_t read_u64(const uint8_t* bytes) {
    return uint64_t{read_u32(bytes + 4)} << 32 | read_u32(bytes);
}

struct Section {
    uint64_t offset = 0;
    uint64_t bytes = 0;
};

class Reader {
  public:
    Reader(const uint8_t* bytes, uint64_t size) : bytes_(bytes), size_(size) {}

    Status section(uint32_t tag, Section* section) {
        // Compared with what is left, never added to the position: a sum could wrap.
        if (size_ - position_ < container::kSectionHeaderBytes) return Status::kImageTruncated;
        const uint8_t* header = bytes_ + position_;
        if (read_u32(header + container::kTagOffset) != tag) return Status::kImageSection;
        const uint32_t checksum = read_u32(header + container::kChecksumOffset);
        const uint64_t length = read_u64(header + container::kLengthOffset);
        position_ += container::kSectionHeaderBytes;
        if (length > size_ - position_) return Status::kImageTruncated;
        if (crc32(bytes_ + position_, length) != checksum) return Status::kImageChecksum;
        *section = Section{position_, length};
        position_ += length;
        return Status::kOk;
    }

    void skip(uint64_t count) { position_ += count; }
    bool at_end() const { return position_ == size_; }

  private:
    const uint8_t* bytes_;
    uint64_t size_;
    uint64_t position_ = 0;
};

/// CODE: number of cores, core table, programs one behind the other.
Status parse_code(const uint8_t* code, const Section& section, Image* image) {
    if (section.bytes < container::kEntriesOffset) return Status::kImageCode;
    const uint32_t cores = read_u32(code + container::kCoresOffset);
    if (cores == 0 || cores > container::kMostCores) return Status::kImageCode;
    const uint64_t table_bytes = uint64_t{cores} * TANDEM_CORE_ENTRY_BYTES;
    if (section.bytes - container::kEntriesOffset < table_bytes) return Status::kImageCode;
    const uint64_t code_bytes = section.bytes - container::kEntriesOffset - table_bytes;
    uint64_t end = 0;
    for (uint32_t core = 0; core < cores; ++core) {
        const uint8_t* entry = code + container::kEntriesOffset + core * TANDEM_CORE_ENTRY_BYTES;
        const uint64_t offset = read_u64(entry + TANDEM_CORE_ENTRY_OFFSET_OFFSET);
        const uint64_t count = read_u64(entry + TANDEM_CORE_ENTRY_INSTRUCTIONS_OFFSET);
        // Divided, never multiplied: a product could wrap.
        if (offset != container::aligned(end, container::kCodeAlignment) || offset > code_bytes ||
            count == 0 || count > (code_bytes - offset) / TANDEM_INSTRUCTION_BYTES)
            return Status::kImageCode;
        end = offset + count * TANDEM_INSTRUCTION_BYTES;
    }
    if (end != code_bytes) return Status::kImageCode;
    image->cores = cores;
    image->table_offset = section.offset + container::kEntriesOffset;
    image->table_bytes = table_bytes;
    image->code_offset = image->table_offset + table_bytes;
    image->code_bytes = code_bytes;
    return Status::kOk;
}

}  // namespace

uint32_t crc32(const uint8_t* bytes, uint64_t size) {
    uint32_t crc = 0xffffffffu;
    for (const uint8_t* end = bytes + size; bytes != end; ++bytes) {
        crc ^= *bytes;
#pragma GCC unroll 8  // a quarter fewer instructions on the RISC-V
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

Status parse_image(const uint8_t* bytes, uint64_t size, Image* image) {
    if (bytes == nullptr || image == nullptr || size > UINTPTR_MAX) return Status::kBadArgument;
    if (size < container::kHeaderBytes) return Status::kImageTruncated;
    if (read_u32(bytes + container::kMagicOffset) != container::kMagic) return Status::kImageMagic;
    if (read_u32(bytes + container::kVersionOffset) != container::kVersion)
        return Status::kImageVersion;

    Reader reader(bytes, size);
    reader.skip(container::kHeaderBytes);
    Section code, data, meta;
    Status status = reader.section(container::kCode, &code);
    if (status == Status::kOk) status = reader.section(container::kData, &data);
    if (status == Status::kOk) status = reader.section(container::kMeta, &meta);
    if (status != Status::kOk) return status;
    if (!reader.at_end()) return Status::kImageTruncated;
    Image found;
    status = parse_code(bytes + code.offset, code, &found);
    if (status != Status::kOk) return status;
    found.isa_hash = read_u64(bytes + container::kIsaHashOffset);
    found.chip_hash = read_u64(bytes + container::kChipHashOffset);
    found.data_offset = data.offset;
    found.data_bytes = data.bytes;
    *image = found;
    return Status::kOk;
}

}  // namespace tandem::firmware
