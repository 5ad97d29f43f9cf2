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

/// One core's part of an operator's output, complete when instruction `last_instruction` of that
/// core has retired. In a unified buffer: bytes `offset` to offset + bytes - 1 of the output; else
/// the output is complete when all of its parts are.
struct NodePart {
    uint32_t core = 0;
    uint32_t last_instruction = 0;
    uint64_t offset = 0, bytes = 0;
};

/// An operator of the source model.
struct ProgramNode {
    /// Where its output stands when it is complete.
    enum class Place {
        kBuffer,  ///< in the unified buffers, each core with its part
        kMemory,  ///< in device memory
        kHost,    ///< among the outputs in host memory
    };

    uint32_t index = 0;  ///< position in the source file
    std::string op;      ///< e.g. "CONV_2D"
    std::string name;    ///< name of the output tensor
    uint64_t macs = 0;   ///< useful multiply-accumulates for the whole batch: sum of M*N*K
    Place place = Place::kBuffer;
    /// In every core's buffer; in device memory from the data's begin on; from the first output on.
    uint64_t output_address = 0;
    uint32_t output_bytes = 0;
    std::vector<NodePart> parts;  ///< at most one for each core; none: nothing computes it
};

struct ProgramTensor {
    std::string name;
    std::vector<uint32_t> shape;
    float scale = 0;
    int32_t zero_point = 0;
    uint32_t bytes = 0;         ///< of the whole batch
    std::string type = "INT8";  ///< of elements: INT8, INT32, BFLOAT16, FLOAT32
};

/// 1 for int8, 2 for bf16, 4 for fp32.
uint32_t element_bytes(const ProgramTensor& tensor, uint32_t batch);

/// Bytes of all tensors together.
uint64_t bytes_of(const std::vector<ProgramTensor>& tensors);

/// What one core runs.
struct CoreProgram {
    std::vector<isa::Words> instructions;
    std::vector<InstructionSource> sources;  ///< one per instruction
};

struct Program {
    uint64_t isa_hash = isa::kHash;  ///< of the instruction set that the instructions are in
    uint64_t chip_hash = 0;          ///< ChipConfig::hash() of the chip it was compiled for
    std::string chip;
    std::string model;  ///< file name of the source
    uint32_t batch = 1;
    std::string rounding;            ///< "single" or "gemmlowp"
    std::vector<CoreProgram> cores;  ///< of the chip's first cores, which all take part
    std::vector<uint8_t> data;       ///< loaded at the address in scalar register 1
    std::vector<ProgramNode> nodes;
    std::vector<ProgramTensor> inputs;   ///< side by side at the host address in register 2
    std::vector<ProgramTensor> outputs;  ///< side by side at the host address in register 3
};

/// Instructions of all cores.
uint64_t instructions_of(const Program& program);

/// Where the parts of a program stand in device memory, as the firmware loads them.
struct ProgramLayout {
    std::vector<uint64_t> code;  ///< of each core; the first at address 0
    uint64_t code_bytes = 0;     ///< of all programs with what lies between them
    uint64_t table = 0;          ///< of the cores
    uint64_t data = 0;
};
ProgramLayout layout_of(const Program& program);

/// The container is described in arch/container.h.
void write_program(const Program& program, const std::filesystem::path& file);

/// Throws UserError for a file that is truncated, corrupt, or of another version of the container
/// or of the instruction set. Whether chip_hash is that of a chip is for the caller to ask.
Program read_program(const std::filesystem::path& file);

std::vector<uint8_t> serialise(const Program& program);
/// `origin` names the bytes in errors.
Program deserialise(const std::vector<uint8_t>& bytes, const std::string& origin);

}  // namespace tandem::arch
