// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_drain.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "arch/bf16.h"
#include "arch/numerics.h"
#include "engine/vector_access.h"
#include "engine/vector_chain.h"

namespace tandem::engine {
namespace {

using numerics::ChannelParams;
using numerics::Rounding;

// Rows of `requantise` and `convert`: loops of which the compiler makes vectors, once for each
// instruction set.

struct Rows {
    const int32_t* sums;
    size_t sums_stride;  ///< elements
    uint8_t* out;
    size_t out_stride;  ///< bytes
    uint32_t count;
};

template <class Row>
struct DoRows {
    const Row& row;
    const Rows& rows;
    [[gnu::always_inline]] inline void operator()() const {
        for (uint32_t i = 0; i < rows.count; ++i)
            row(rows.sums + i * rows.sums_stride, rows.out + i * rows.out_stride);
    }
};

template <class Row>
void do_rows(const Row& row, const Rows& rows, VectorKernel kernel) {
    run_on(kernel, DoRows<Row>{row, rows});
}

std::vector<ChannelParams> channel_params(const isa::Requantise& op,
                                          std::span<const uint8_t> buffer) {
    std::vector<ChannelParams> params(op.cols);
    std::memcpy(params.data(), buffer.data() + op.params_addr,
                params.size() * sizeof(ChannelParams));
    return params;
}

class GemmlowpRow {
  public:
    GemmlowpRow(const isa::Requantise& op, std::span<const uint8_t> buffer)
        : op_(op), params_(channel_params(op, buffer)) {}

    [[gnu::always_inline]] inline void operator()(const int32_t* sums, uint8_t* out) const {
        for (size_t c = 0; c < params_.size(); ++c) {
            const ChannelParams& p = params_[c];
            const int32_t value = numerics::multiply_by_quantized(
                numerics::wrap_add(sums[c], p.bias), p.multiplier, p.shift);
            out[c] = static_cast<uint8_t>(
                numerics::to_int8(value, op_.zero_point, op_.clamp_min, op_.clamp_max));
        }
    }

  private:
    const isa::Requantise& op_;
    const std::vector<ChannelParams> params_;
};

/// numerics::requantise and to_int8 without branches and without a rounding instruction.
class SingleRow {
  public:
    SingleRow(const isa::Requantise& op, std::span<const uint8_t> buffer)
        : zero_point_(op.zero_point),
          low_(op.clamp_min),
          high_(std::max(op.clamp_min, op.clamp_max)) {
        for (const ChannelParams& p : channel_params(op, buffer)) {
            bias_.push_back(p.bias);
            factor_.push_back(std::bit_cast<float>(p.multiplier));
        }
    }

    [[gnu::always_inline]] inline void operator()(const int32_t* sums, uint8_t* out) const {
        // Beyond the limit every number becomes an end of the clamp. Next to 3 * 2^22 the fp32 are
        // whole numbers, so that adding it rounds half to even.
        constexpr float kLimit = 1 << 20, kWholes = 3 << 22;
        constexpr auto kBase = std::bit_cast<int32_t>(kWholes);
        const size_t count = bias_.size();
        const int32_t* bias = bias_.data();
        const float* factor = factor_.data();
        const int32_t zero_point = zero_point_, low = low_, high = high_;
        for (size_t c = 0; c < count; ++c) {
            float scaled = static_cast<float>(numerics::wrap_add(sums[c], bias[c])) * factor[c];
            scaled = scaled != scaled ? 0.0f : scaled;
            scaled = scaled < -kLimit ? -kLimit : scaled;
            scaled = scaled > kLimit ? kLimit : scaled;
            int32_t value = std::bit_cast<int32_t>(scaled + kWholes) - kBase + zero_point;
            value = value < low ? low : value;
            value = value > high ? high : value;
            out[c] = static_cast<uint8_t>(value);
        }
    }

  private:
    std::vector<int32_t> bias_;
    std::vector<float> factor_;
    int32_t zero_point_, low_, high_;
};

/// bf16::sum, then the function, to fp32 (`Wide`) or bf16. The host's own sum of numbers that are
/// not subnormal is right; where it is tiny it is exact.
template <bool Wide>
class FloatRow {
  public:
    FloatRow(const isa::Convert& op, std::span<const uint8_t> buffer)
        // Without a bias -0: the one number that changes no other.
        : bias_(op.cols, bf16::kSign), relu_(op.function == 1) {
        if (op.bias != 0)
            std::memcpy(bias_.data(), buffer.data() + op.params_addr,
                        bias_.size() * sizeof bias_[0]);
    }

    [[gnu::always_inline]] inline void operator()(const int32_t* sums, uint8_t* out) const {
        const size_t count = bias_.size();
        const uint32_t* bias = bias_.data();
        const uint32_t dropped_signs = relu_ ? bf16::kSign : 0;
        for (size_t c = 0; c < count; ++c) {
            const float total = std::bit_cast<float>(bf16::flush(static_cast<uint32_t>(sums[c]))) +
                                std::bit_cast<float>(bf16::flush(bias[c]));
            uint32_t bits = bf16::flush(std::bit_cast<uint32_t>(total));
            bits = (bits & dropped_signs) != 0 ? 0 : bits;
            bits = total != total ? bf16::kNan : bits;
            if constexpr (Wide) {
                std::memcpy(out + 4 * c, &bits, sizeof bits);
            } else {
                const uint16_t narrow = bf16::narrow(bits);
                std::memcpy(out + 2 * c, &narrow, sizeof narrow);
            }
        }
    }

  private:
    std::vector<uint32_t> bias_;
    bool relu_;
};

/// r0 is the sum, r1 the bias or 0; r0 goes out as it is, or as bf16.
void convert_by_chain(const isa::Convert& op, const arch::VectorState& state, const Rows& rows,
                      std::span<uint8_t> buffer, VectorKernel kernel) {
    const uint32_t bytes = op.wide != 0 ? 4 : 2;
    const auto type = op.wide != 0 ? arch::VectorType::kInt32 : arch::VectorType::kBf16;
    const Chain chain(state, std::min<size_t>(op.cols, kBlock), kernel);
    alignas(64) std::array<Lane, arch::kVectorOperands> registers{};
    for (uint32_t row = 0; row < rows.count; ++row)
        for (size_t first = 0; first < op.cols; first += kBlock) {
            const size_t count = std::min(op.cols - first, kBlock);
            const int32_t* sums = rows.sums + row * rows.sums_stride + first;
            std::copy_n(sums, count, registers[0].begin());
            for (size_t reg = 1; reg < registers.size(); ++reg)
                std::fill_n(registers[reg].begin(), count, 0);
            if (op.bias != 0)
                std::memcpy(registers[1].data(), buffer.data() + op.params_addr + 4 * first,
                            4 * count);
            chain.run(registers, count);
            finish({type, 0, 0, 0}, registers[0].data(), count, kernel);
            const auto at =
                static_cast<int64_t>(op.ub_addr + row * rows.out_stride + first * bytes);
            store_bits(bytes, registers[0].data(), buffer, {true, at, bytes, count}, kernel);
        }
}

}  // namespace

void requantise_rows(const isa::Requantise& op, std::span<const int32_t> sums, uint32_t array_cols,
                     std::span<uint8_t> buffer, VectorKernel kernel) {
    const Rows rows{sums.data(), array_cols, buffer.data() + op.ub_addr, op.row_stride, op.rows};
    if (static_cast<Rounding>(op.rounding) == Rounding::kGemmlowp)
        do_rows(GemmlowpRow(op, buffer), rows, VectorKernel::kPlain);
    else
        do_rows(SingleRow(op, buffer), rows, kernel);
}

void convert_rows(const isa::Convert& op, const arch::VectorState& state,
                  std::span<const int32_t> sums, uint32_t array_cols, std::span<uint8_t> buffer,
                  VectorKernel kernel) {
    constexpr uint8_t kChain = 2;
    const Rows rows{sums.data(), array_cols, buffer.data() + op.ub_addr, op.row_stride, op.rows};
    if (op.function == kChain)
        convert_by_chain(op, state, rows, buffer, kernel);
    else if (op.wide != 0)
        do_rows(FloatRow<true>(op, buffer), rows, kernel);
    else
        do_rows(FloatRow<false>(op, buffer), rows, kernel);
}

}  // namespace tandem::engine
