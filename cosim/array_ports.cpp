// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_ports.h"

#include <algorithm>
#include <bit>

namespace tandem::cosim {

uint32_t address_bits(const engine::MxuShape& shape) {
    return std::max(1u, static_cast<uint32_t>(std::bit_width(shape.accumulator_rows - 1)));
}

std::vector<ArrayPort> array_ports(const engine::MxuShape& shape) {
    const auto beat = static_cast<uint32_t>(8 * shape.beat_bytes()),
               row = static_cast<uint32_t>(8 * shape.row_bytes()), sums = 32 * shape.cols,
               address = address_bits(shape);
    return {{"clk_i", true, 1},
            {"rst_ni", true, 1},
            {"wgt_valid_i", true, 1},
            {"wgt_ready_o", false, 1},
            {"wgt_data_i", true, beat},
            {"act_valid_i", true, 1},
            {"act_ready_o", false, 1},
            {"act_swap_i", true, 1},
            {"act_accumulate_i", true, 1},
            {"act_addr_i", true, address},
            {"act_data_i", true, row},
            {"cmt_valid_o", false, 1},
            {"cmt_addr_o", false, address},
            {"cmt_data_o", false, sums},
            {"rd_valid_i", true, 1},
            {"rd_ready_o", false, 1},
            {"rd_addr_i", true, address},
            {"res_valid_o", false, 1},
            {"res_ready_i", true, 1},
            {"res_data_o", false, sums},
            {"busy_o", false, 1}};
}

}  // namespace tandem::cosim
