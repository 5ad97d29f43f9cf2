// SPDX-License-Identifier: Apache-2.0
// A compiled network: instructions, the bytes that go with them into device memory, and what tools
// need to speak about it in terms of the source (nodes, tiles, tensors). File format: docs/isa.md
// has the instructions, arch/container.h the container.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "arch/generated/isa.h"
#include "arch/instruction_source.h"

namespace tandem::arch {

/// An operator of the source model.
struct ProgramNode {
    uint32_t index = 0;  ///< position in the source file
    std::string op;      ///< e.g. "CONV_2D"
    std::string name;    ///< name of the output tensor
    uint64_t macs = 0;   ///< useful multiply-accumulates for the whole batch: sum of M*N*K
    /// Its output stands whole in the unified buffer at `output_address` once instruction
    /// `last_instruction` has retired; else it goes through device memory in pieces.
    bool in_buffer = true;
    uint32_t output_address = 0;
    uint32_t output_bytes = 0;
    uint32_t last_instruction = 0;
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
    uint64_t isa_hash = isa::kHash;  ///< of the instruction set that the instructions are in
    uint64_t chip_hash = 0;          ///< ChipConfig::hash() of the chip it was compiled for
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

/// The container is described in arch/container.h.
void write_program(const Program& program, const std::filesystem::path& file);

/// Throws UserError for a file that is truncated, corrupt, or of another version of the container
/// or of the instruction set. Whether chip_hash is that of a chip is for the caller to ask.
Program read_program(const std::filesystem::path& file);

std::vector<uint8_t> serialise(const Program& program);
/// `origin` names the bytes in errors.
Program deserialise(const std::vector<uint8_t>& bytes, const std::string& origin);

}  // namespace tandem::arch
