// SPDX-License-Identifier: Apache-2.0
#include "cosim/array_arithmetic.h"

#include <bit>

#include "arch/bf16.h"
#include "arch/numerics.h"

namespace tandem::cosim {

PortRow ArrayArithmetic::sums(std::span<const std::byte> activations,
                              std::span<const std::byte> weights, uint64_t tile) {
    if (weights.empty()) return {};
    PortRow sums(shape_.cols);
    if (shape_.dtype == arch::Dtype::kInt8)
        int8_.multiply(reinterpret_cast<const int8_t*>(activations.data()), 1, shape_.rows,
                       reinterpret_cast<const int8_t*>(weights.data()), shape_.rows, shape_.cols,
                       false, sums.data(), tile);
    else
        bf16_.multiply(reinterpret_cast<const uint16_t*>(activations.data()), 1, shape_.rows,
                       reinterpret_cast<const uint16_t*>(weights.data()), shape_.rows, shape_.rows,
                       shape_.cols, false, sums.data(), shape_.sum4, tile);
    return sums;
}

void ArrayArithmetic::add(PortRow& row, const PortRow& sums) const {
    if (row.empty() || sums.empty()) return row.clear();
    for (size_t c = 0; c < row.size(); ++c)
        row[c] = shape_.dtype == arch::Dtype::kBf16
                     ? std::bit_cast<int32_t>(bf16::sum(std::bit_cast<uint32_t>(row[c]),
                                                        std::bit_cast<uint32_t>(sums[c])))
                     : numerics::wrap_add(row[c], sums[c]);
}

}  // namespace tandem::cosim
