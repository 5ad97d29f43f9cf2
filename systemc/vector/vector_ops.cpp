// SPDX-License-Identifier: Apache-2.0
#include "systemc/vector/vector_ops.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/numerics.h"

namespace tandem::sim {
namespace {

using numerics::AddParams;
using numerics::ChannelParams;
using numerics::Rounding;

template <class T>
T load(std::span<const uint8_t> buffer, uint64_t address) {
    T value;
    std::memcpy(&value, buffer.data() + address, sizeof value);
    return value;
}

/// Calls visit(h, w) for every tap of the window at (oh, ow) that lies inside the image.
template <class Visit>
void for_each_tap(const isa::Geometry& g, uint32_t oh, uint32_t ow, Visit visit) {
    const int64_t h0 = int64_t{oh} * g.stride_h - g.pad_top,
                  w0 = int64_t{ow} * g.stride_w - g.pad_left;
    const int64_t h_end = std::min<int64_t>(h0 + int64_t{g.kernel_h} * g.dilation_h, g.in_height);
    const int64_t w_end = std::min<int64_t>(w0 + int64_t{g.kernel_w} * g.dilation_w, g.in_width);
    for (int64_t h = h0; h < h_end; h += g.dilation_h)
        for (int64_t w = w0; h >= 0 && w < w_end; w += g.dilation_w)
            if (w >= 0) visit(h, w);
}

int8_t reduce(const isa::Pool& op, const isa::Geometry& g, uint32_t oh, uint32_t ow,
              const int8_t* image, const ChannelParams& mean) {
    int32_t sum = 0, count = 0, largest = -128;
    for_each_tap(g, oh, ow, [&](int64_t h, int64_t w) {
        const int32_t value = image[(h * g.in_width + w) * g.pixel_stride];
        sum += value;
        ++count;
        largest = std::max(largest, value);
    });
    int32_t value = largest, zero_point = 0;
    if (op.kind == 1) value = count == 0 ? 0 : numerics::rounded_average(sum, count);
    if (op.kind == 2) {
        value = numerics::requantise(numerics::wrap_add(sum, mean.bias), mean.multiplier,
                                     mean.shift, static_cast<Rounding>(op.rounding));
        zero_point = op.zero_point;
    }
    return numerics::to_int8(value, zero_point, op.clamp_min, op.clamp_max);
}

}  // namespace

void activate_rows(const isa::Activate& op, std::span<const int32_t> sums, uint32_t array_cols,
                   std::span<uint8_t> buffer) {
    std::vector<ChannelParams> params(op.cols);
    std::memcpy(params.data(), buffer.data() + op.params_addr,
                params.size() * sizeof(ChannelParams));
    const auto rounding = static_cast<Rounding>(op.rounding);
    for (uint32_t row = 0; row < op.rows; ++row) {
        const int32_t* sum = sums.data() + size_t{row} * array_cols;
        uint8_t* out = buffer.data() + op.ub_addr + size_t{row} * op.row_stride;
        for (uint32_t c = 0; c < op.cols; ++c) {
            const ChannelParams& p = params[c];
            const int32_t value = numerics::requantise(numerics::wrap_add(sum[c], p.bias),
                                                       p.multiplier, p.shift, rounding);
            out[c] = static_cast<uint8_t>(
                numerics::to_int8(value, op.zero_point, op.clamp_min, op.clamp_max));
        }
    }
}

void add_elements(const isa::Add& op, std::span<uint8_t> buffer) {
    const auto params = load<AddParams>(buffer, op.params_addr);
    const auto rounding = static_cast<Rounding>(op.rounding);
    for (uint64_t i = 0; i < op.count; ++i) {
        const auto a = static_cast<int8_t>(buffer[op.a_addr + i]);
        const auto b = static_cast<int8_t>(buffer[op.b_addr + i]);
        buffer[op.out_addr + i] =
            static_cast<uint8_t>(numerics::quantised_add(a, b, params, rounding));
    }
}

void pool_windows(const isa::Pool& op, const isa::Geometry& g, std::span<uint8_t> buffer) {
    const auto mean = op.kind == 2 ? load<ChannelParams>(buffer, op.params_addr) : ChannelParams{};
    uint8_t* out = buffer.data() + op.out_addr;
    for (uint32_t image = 0; image < op.images; ++image) {
        const auto* in = reinterpret_cast<const int8_t*>(buffer.data() + op.in_addr +
                                                         uint64_t{image} * g.image_stride);
        for (uint32_t oh = 0; oh < g.out_height; ++oh)
            for (uint32_t ow = 0; ow < g.out_width; ++ow)
                for (uint32_t c = 0; c < g.channels; ++c)
                    *out++ = static_cast<uint8_t>(reduce(op, g, oh, ow, in + c, mean));
    }
}

void softmax_rows(const isa::Softmax& op, std::span<uint8_t> buffer) {
    std::vector<float> table(256);
    std::memcpy(table.data(), buffer.data() + op.params_addr, 256 * sizeof(float));
    for (uint32_t row = 0; row < op.rows; ++row) {
        const auto* in =
            reinterpret_cast<const int8_t*>(buffer.data() + op.in_addr + size_t{row} * op.cols);
        const int32_t largest = *std::max_element(in, in + op.cols);
        const auto exponential = [&](uint32_t c) {
            return table[static_cast<size_t>(largest - in[c])];
        };
        float sum = 0.0f;
        for (uint32_t c = 0; c < op.cols; ++c) sum += exponential(c);
        const float inverse = 256.0f / sum;
        std::vector<int8_t> out(op.cols);
        for (uint32_t c = 0; c < op.cols; ++c)
            out[c] = numerics::softmax_output(exponential(c), inverse);
        std::memcpy(buffer.data() + op.out_addr + size_t{row} * op.cols, out.data(), out.size());
    }
}

}  // namespace tandem::sim
