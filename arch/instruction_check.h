// SPDX-License-Identifier: Apache-2.0
// One instruction at a time against the sizes of a chip: fields, addresses, extents. Part of
// check_program.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arch/program_check.h"
#include "arch/vector_state.h"

namespace tandem::arch {

/// What a scalar register holds: a number, or an address in host memory that is not known before
/// the program is loaded.
struct ScalarValue {
    enum class Kind : uint8_t { kNumber, kInputs, kOutputs };
    Kind kind = Kind::kNumber;
    uint64_t value = 0;  ///< of a host address: what was added to the region's begin

    bool is_zero() const { return kind == Kind::kNumber && value == 0; }
};

/// Bytes of device memory that an instruction reads, or writes.
struct MemoryAccess {
    uint64_t address = 0, bytes = 0;
    bool writes = false;
};

/// What the checks of all cores share.
struct ProgramCheck {
    ProgramCheck(const ChipConfig& chip, const Program& program, std::string origin);

    /// At the end: all outputs were written.
    void finish();

    const ChipConfig& chip;
    const Program& image;
    const std::string origin;
    const ProgramLayout layout;
    uint64_t known_until;  ///< end of what device memory holds: data, and what was written
    std::vector<std::pair<uint64_t, uint64_t>> written{};  ///< of the outputs
    uint64_t spent = 0;
    ProgramWork work{};
};

/// Checks the instructions of one core's program.
class InstructionCheck {
  public:
    InstructionCheck(ProgramCheck& all, uint32_t core);

    /// Opcodes, unused bits and headers of all instructions, also of those that nothing leads to.
    void check_encodings() const;
    /// In the order of execution: windows are remembered. `base` is the value of the base register.
    void look_at(uint32_t index, const ScalarValue& base);
    /// What the instruction that was looked at does to device memory, for begin().
    const MemoryAccess& access() const { return access_; }
    /// It has its flags: what it reads of device memory is there, on whichever core it was written.
    void begin(uint32_t index, const MemoryAccess& access);

    /// Work that a check does for an instruction is limited: a file of a few bytes must not keep
    /// the checker busy for minutes.
    void spend(uint64_t units, uint32_t index);
    [[noreturn]] void fail(uint32_t index, const std::string& expected,
                           const std::string& found) const;
    uint64_t data_address() const { return all_.layout.data; }

  private:
    void check_encoding(uint32_t index) const;
    void check_transfer(uint32_t index, const ScalarValue& base);
    void check_host(uint32_t index, const isa::ReadHost& op, const ScalarValue& base, bool write);
    void check_memory(uint32_t index, const MemoryAccess& access);
    void check_weights(uint32_t index, const ScalarValue& base);
    void check_window(uint32_t index, const isa::Geometry& geometry) const;
    void check_matmul(uint32_t index);
    void check_requantise(uint32_t index);
    void check_params(uint32_t index, uint32_t address);
    void check_convert(uint32_t index);
    void check_drain(uint32_t index, uint32_t array, uint32_t acc_addr, uint32_t rows,
                     uint32_t cols, uint32_t element_bytes);
    /// set_shape to move, in vector_check.cpp; false: it is none of them.
    bool check_vector(uint32_t index);

    void require(bool holds, uint32_t index, const char* expected, uint64_t found) const {
        if (!holds) fail(index, expected, std::to_string(found));
    }
    void in_buffer(uint32_t index, const char* what, unsigned __int128 address,
                   unsigned __int128 bytes) const;
    uint64_t in_lanes(uint64_t elements) const {
        return (elements + chip_.vector.lanes - 1) / chip_.vector.lanes;
    }
    /// No unit may be busy for so long that the chip takes it for stuck.
    void in_time(uint32_t index, unsigned __int128 cycles) const;

    ProgramCheck& all_;
    const ChipConfig& chip_;
    const uint32_t core_;
    const CoreProgram& program_;
    MemoryAccess access_;  ///< of the instruction that is looked at
    isa::Geometry window_;
    VectorState vector_;
};

}  // namespace tandem::arch
