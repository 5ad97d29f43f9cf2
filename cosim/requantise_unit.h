// SPDX-License-Identifier: Apache-2.0
// Verilated `tpu_requantise` at its ports (rtl/README.md), one edge at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/numerics.h"
#include "cosim/unit_library.h"
#include "cosim/unit_spec.h"

namespace tandem::cosim {

struct RequantiseShape {
    uint32_t cols = 16;   ///< 1 to 256
    uint32_t lanes = 16;  ///< 1 to cols, worked on per edge
};

/// Throws UserError for a shape that is out of range.
void check(const RequantiseShape& shape);

/// A row of accumulators and all that is done to it.
struct RequantiseRow {
    uint32_t cols = 0;  ///< that count
    bool gemmlowp = false;
    int8_t zero_point = 0, clamp_min = -128, clamp_max = 127;
    std::vector<int32_t> sums;                    ///< at least cols
    std::vector<numerics::ChannelParams> params;  ///< at least cols

    /// What the model makes of a column.
    int8_t expected(uint32_t col) const;
    /// For people: the operands of a column.
    std::string operands(uint32_t col) const;
};

class RequantiseUnit {
  public:
    /// `seed`: of registers that no reset sets; 0: zeros. Throws std::runtime_error for a library
    /// with other ports.
    RequantiseUnit(const RequantiseShape& shape, std::shared_ptr<const UnitLibrary> library,
                   uint64_t seed = 0);

    const RequantiseShape& shape() const { return shape_; }

    // Inputs, for the edges to come.
    void set_reset(bool on) { *reset_n_ = std::byte{!on}; }
    void set_valid(bool on) { *row_valid_ = std::byte{on}; }
    void set_out_ready(bool on) { *out_ready_ = std::byte{on}; }
    void set_row(const RequantiseRow& row);

    /// The inputs settle; then row_ready() is what the coming edge sees.
    void settle() { unit_.settle(); }
    bool row_ready() const { return *row_ready_ != std::byte{0}; }
    void edge() { unit_.edge(); }
    // After an edge.
    bool out_valid() const { return *out_valid_ != std::byte{0}; }
    bool busy() const { return *busy_ != std::byte{0}; }
    int8_t out(uint32_t col) const { return static_cast<int8_t>(out_data_[col]); }
    std::string failure() const { return unit_.failure(); }

  private:
    const RequantiseShape shape_;
    UnitInstance unit_;
    std::byte *reset_n_, *row_valid_, *row_data_, *row_cols_, *row_params_, *row_gemmlowp_,
        *row_zero_point_, *row_clamp_min_, *row_clamp_max_, *out_ready_;
    const std::byte *row_ready_, *out_valid_, *out_data_, *busy_;
};

}  // namespace tandem::cosim
