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

class InstructionCheck {
  public:
    InstructionCheck(const ChipConfig& chip, const Program& program, std::string origin);

    /// Opcodes, unused bits and headers of all instructions, also of those that nothing leads to.
    void check_encodings() const;
    /// In the order of execution: windows are remembered. `base` is the value of the base register.
    void look_at(uint32_t index, const ScalarValue& base);
    /// At the end: all inputs were read, all outputs written.
    void finish();

    /// Work that a check does for an instruction is limited: a file of a few bytes must not keep
    /// the checker busy for minutes.
    void spend(uint64_t units, uint32_t index);
    [[noreturn]] void fail(uint32_t index, const std::string& expected,
                           const std::string& found) const;
    const ProgramWork& work() const { return work_; }
    uint64_t data_address() const { return data_address_; }

  private:
    using Regions = std::vector<std::pair<uint64_t, uint64_t>>;

    void check_encoding(uint32_t index) const;
    void check_transfer(uint32_t index, const ScalarValue& base);
    void check_host(uint32_t index, const isa::ReadHost& op, const ScalarValue& base, bool write);
    void check_memory(uint32_t index, uint64_t address, uint64_t extent, bool write);
    void check_weights(uint32_t index, const ScalarValue& base);
    void check_window(uint32_t index, const isa::Geometry& geometry) const;
    void check_matmul(uint32_t index);
    void check_requantise(uint32_t index);
    void check_convert(uint32_t index);
    void check_drain(uint32_t index, uint32_t array, uint32_t acc_addr, uint32_t rows,
                     uint32_t cols, uint32_t element_bytes);
    void check_pool(uint32_t index);
    void check_add(uint32_t index) const;
    void check_softmax(uint32_t index) const;
    /// set_shape to move, in vector_check.cpp; false: it is none of them.
    bool check_vector(uint32_t index);
    uint64_t chain_cycles() const;

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

    const ChipConfig& chip_;
    const Program& program_;
    const std::string origin_;
    uint64_t data_address_ = 0;
    uint64_t known_until_ = 0;  ///< end of what device memory holds: data, and what was written
    isa::Geometry window_;
    bool pool_window_set_ = false;
    isa::Geometry pool_window_;
    VectorState vector_;
    Regions written_;  ///< of the outputs
    uint64_t spent_ = 0;
    ProgramWork work_;
};

}  // namespace tandem::arch
