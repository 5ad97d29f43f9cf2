// SPDX-License-Identifier: Apache-2.0
#include "cosim/requantise_unit.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/error.h"

namespace tandem::cosim {

void check(const RequantiseShape& shape) {
    constexpr uint32_t kMostCols = 256;
    if (shape.cols < 1 || shape.cols > kMostCols)
        throw UserError(fmt::format("requantisation: expected 1 to {} columns, found {}", kMostCols,
                                    shape.cols));
    if (shape.lanes < 1 || shape.lanes > shape.cols)
        throw UserError(
            fmt::format("requantisation: expected 1 to {} lanes, as many as there are "
                        "columns, found {}",
                        shape.cols, shape.lanes));
}

int8_t RequantiseRow::expected(uint32_t col) const {
    const numerics::ChannelParams& p = params[col];
    const auto rounding = gemmlowp ? numerics::Rounding::kGemmlowp : numerics::Rounding::kSingle;
    const int32_t sum = numerics::wrap_add(sums[col], p.bias);
    return numerics::to_int8(numerics::requantise(sum, p.multiplier, p.shift, rounding), zero_point,
                             clamp_min, clamp_max);
}

std::string RequantiseRow::operands(uint32_t col) const {
    const numerics::ChannelParams& p = params[col];
    const std::string factor =
        gemmlowp
            ? fmt::format("Q31 {:#010x}, shift {}", p.multiplier, p.shift)
            : fmt::format("fp32 {:#010x} ({:g})", p.multiplier, std::bit_cast<float>(p.multiplier));
    return fmt::format("accumulator {}, bias {}, multiplier {}, zero point {}, clamp {} to {}",
                       sums[col], p.bias, factor, zero_point, clamp_min, clamp_max);
}

RequantiseUnit::RequantiseUnit(const RequantiseShape& shape,
                               std::shared_ptr<const UnitLibrary> library, uint64_t seed)
    : shape_(shape), unit_(std::move(library), seed) {
    reset_n_ = unit_.input("rst_ni", 1);
    row_valid_ = unit_.input("row_valid_i", 1);
    row_data_ = unit_.input("row_data_i", shape.cols * 32);
    row_cols_ = unit_.input("row_cols_i", static_cast<uint32_t>(std::bit_width(shape.cols)));
    row_params_ = unit_.input("row_params_i", shape.cols * 96);
    row_gemmlowp_ = unit_.input("row_gemmlowp_i", 1);
    row_zero_point_ = unit_.input("row_zero_point_i", 8);
    row_clamp_min_ = unit_.input("row_clamp_min_i", 8);
    row_clamp_max_ = unit_.input("row_clamp_max_i", 8);
    out_ready_ = unit_.input("out_ready_i", 1);
    row_ready_ = unit_.output("row_ready_o", 1);
    out_valid_ = unit_.output("out_valid_o", 1);
    out_data_ = unit_.output("out_data_o", shape.cols * 8);
    busy_ = unit_.output("busy_o", 1);
}

void RequantiseUnit::set_row(const RequantiseRow& row) {
    // 256 columns need nine bits, which stand in two bytes.
    const auto cols = static_cast<uint16_t>(row.cols);
    std::memcpy(row_cols_, &cols, shape_.cols > 255 ? 2 : 1);
    std::memcpy(row_data_, row.sums.data(), row.sums.size() * sizeof(int32_t));
    std::memcpy(row_params_, row.params.data(),
                row.params.size() * sizeof(numerics::ChannelParams));
    *row_gemmlowp_ = std::byte{row.gemmlowp};
    *row_zero_point_ = static_cast<std::byte>(row.zero_point);
    *row_clamp_min_ = static_cast<std::byte>(row.clamp_min);
    *row_clamp_max_ = static_cast<std::byte>(row.clamp_max);
}

}  // namespace tandem::cosim
