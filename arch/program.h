// SPDX-License-Identifier: Apache-2.0
// A compiled network: instructions, the bytes that go with them into device memory, and what tools
// need to speak about it in terms of the source (nodes, tiles, tensors). File format: docs/isa.md
// has the instructions; the container is described at write_program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/generated/isa.h"

namespace tandem::arch {

/// An operator of the source model.
struct ProgramNode {
    uint32_t index = 0;  ///< position in the source file
    std::string op;      ///< e.g. "CONV_2D"
    std::string name;    ///< name of the output tensor
    uint64_t macs = 0;   ///< useful multiply-accumulates for the whole batch: sum of M*N*K
    /// Where its output stands in the unified buffer once instruction `last_instruction` has
    /// retired; bytes == 0 when the node produces nothing there.
    uint32_t output_address = 0;
    uint32_t output_bytes = 0;
    uint32_t last_instruction = 0;
};

/// What one instruction does, in terms of the source.
struct InstructionSource {
    int32_t node = -1;  ///< index into Program::nodes, -1: none (set-up, synchronisation)
    // The tile, for matmul and activate; zero elsewhere.
    uint32_t m_start = 0;  ///< first row of the product
    uint32_t n_start = 0;  ///< first output channel
    uint32_t k_start = 0;  ///< first element of the reduction
};

struct ProgramTensor {
    std::string name;
    std::vector<uint32_t> shape;
    float scale = 0;
    int32_t zero_point = 0;
    uint32_t bytes = 0;  ///< of the whole batch
};

/// Bytes of all tensors together.
uint64_t bytes_of(const std::vector<ProgramTensor>& tensors);

struct Program {
    uint64_t hash = 0;  ///< ChipConfig::hash() of the chip it was compiled for
    std::string chip;
    std::string model;  ///< file name of the source
    uint32_t batch = 1;
    std::string rounding;  ///< "single" or "gemmlowp"
    std::vector<isa::Words> instructions;
    std::vector<uint8_t> data;               ///< loaded at the address in scalar register 1
    std::vector<InstructionSource> sources;  ///< one per instruction
    std::vector<ProgramNode> nodes;
    std::vector<ProgramTensor> inputs;   ///< side by side at the host address in register 2
    std::vector<ProgramTensor> outputs;  ///< side by side at the host address in register 3
};

/// Container: "TPUP", u32 container version, u64 hash, then sections {u32 tag, u32 crc32, u64
/// bytes, payload} in the order CODE, DATA, META (META is UTF-8 JSON), all little-endian.
void write_program(const Program& program, const std::filesystem::path& file);

/// Throws UserError for a file that is truncated, corrupt, or of another version.
Program read_program(const std::filesystem::path& file);

std::vector<uint8_t> serialise(const Program& program);
/// `origin` names the bytes in errors.
Program deserialise(const std::vector<uint8_t>& bytes, const std::string& origin);

}  // namespace tandem::arch
