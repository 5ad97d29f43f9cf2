// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/interpreted_core.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "testbench/support/naive_bf16.h"

namespace tandem::testbench {

namespace {

isa::Opcode opcode_of(const Execution& e) {
    return static_cast<isa::Opcode>(isa::opcode_of(e.words));
}

/// The transfers have the same fields.
isa::ReadHost transfer_of(const Execution& e) { return isa::ReadHost::decode(e.words); }

uint64_t far_address(const isa::ReadHost& t, uint64_t base, uint64_t plane, uint64_t row) {
    return base + (uint64_t{t.offset_high} << 32) + t.offset + plane * t.plane_stride +
           row * t.row_stride;
}

NaiveRounding rounding_of(uint8_t field) {
    return field != 0 ? NaiveRounding::kGemmlowp : NaiveRounding::kSingle;
}

}  // namespace

InterpretedCore::InterpretedCore(const arch::ChipConfig& chip, InterpretedMemory& device,
                                 InterpretedMemory& host, std::mt19937& random)
    : chip_(chip), device_(device), host_(host), arrays_(chip.mxu.count) {
    buffer_ = rubbish(chip.unified_buffer_bytes, random);
    for (Array& array : arrays_) {
        array.accumulators.resize(size_t{chip.mxu.accumulator_rows} * chip.mxu.cols);
        for (uint32_t& sum : array.accumulators) sum = static_cast<uint32_t>(random());
    }
}

void InterpretedCore::read(Execution& e) {
    e.has_read = true;
    switch (opcode_of(e)) {
        case isa::Opcode::kReadHost:
        case isa::Opcode::kReadMemory:
            return transfer_in(e);
        case isa::Opcode::kWriteHost:
        case isa::Opcode::kWriteMemory:
            return transfer_out(e, false);
        case isa::Opcode::kMatmul:
            return read_matmul(e);
        case isa::Opcode::kRequantise:
            return read_requantise(e);
        case isa::Opcode::kConvert:
            return read_convert(e);
        case isa::Opcode::kMap:
        case isa::Opcode::kReduce:
        case isa::Opcode::kLookup:
        case isa::Opcode::kMove:
            e.bytes = vector_.read(e.words, buffer_);
            return;
        case isa::Opcode::kReadWeights:  // tile by tile
        case isa::Opcode::kSetShape:
        case isa::Opcode::kSetView:
        case isa::Opcode::kSetTaps:
        case isa::Opcode::kSetChain:
        case isa::Opcode::kSetConstants:
        case isa::Opcode::kFence:
            return;
        default:
            throw std::runtime_error("an instruction that no unit knows");
    }
}

void InterpretedCore::write(Execution& e) {
    const auto bytes = static_cast<uint64_t>(e.bytes.size());
    switch (opcode_of(e)) {
        case isa::Opcode::kReadHost:
        case isa::Opcode::kReadMemory:
            return write_rows(e, transfer_of(e).ub_addr, 1, bytes);
        case isa::Opcode::kWriteHost:
        case isa::Opcode::kWriteMemory:
            return transfer_out(e, true);
        case isa::Opcode::kMatmul:
            return write_matmul(e);
        case isa::Opcode::kRequantise: {
            const auto op = isa::Requantise::decode(e.words);
            return write_rows(e, op.ub_addr, op.rows, op.row_stride);
        }
        case isa::Opcode::kConvert: {
            const auto op = isa::Convert::decode(e.words);
            return write_rows(e, op.ub_addr, op.rows, op.row_stride);
        }
        case isa::Opcode::kMap:
        case isa::Opcode::kReduce:
        case isa::Opcode::kLookup:
        case isa::Opcode::kMove:
            return vector_.write(e.words, e.bytes, buffer_);
        default:
            vector_.set(e.words);
    }
}

uint8_t* InterpretedCore::at(uint64_t address, uint64_t bytes) {
    require(address + bytes <= buffer_.size(),
            "address " + std::to_string(address) + " beyond the unified buffer");
    return buffer_.data() + address;
}

int32_t InterpretedCore::word(uint64_t address) {
    require(address % 4 == 0, "parameter address");
    int32_t result;
    std::memcpy(&result, at(address, 4), 4);
    return result;
}

void InterpretedCore::write_rows(const Execution& e, uint64_t address, uint64_t rows,
                                 uint64_t stride) {
    const uint64_t width = e.bytes.size() / rows;
    for (uint64_t row = 0; row < rows; ++row)
        std::memcpy(at(address + row * stride, width), e.bytes.data() + row * width, width);
}

// ---- transfers

void InterpretedCore::transfer_in(Execution& e) {
    const auto t = transfer_of(e);
    require(t.rows >= 1 && t.planes >= 1, "a transfer without runs");
    InterpretedMemory& far = opcode_of(e) == isa::Opcode::kReadHost ? host_ : device_;
    for (uint64_t plane = 0; plane < t.planes; ++plane)
        for (uint64_t row = 0; row < t.rows; ++row) {
            const uint8_t* from = far.at(far_address(t, e.base, plane, row), t.bytes);
            e.bytes.insert(e.bytes.end(), from, from + t.bytes);
        }
}

void InterpretedCore::transfer_out(Execution& e, bool writes) {
    const auto t = transfer_of(e);
    require(t.rows >= 1 && t.planes >= 1, "a transfer without runs");
    const uint64_t total = uint64_t{t.planes} * t.rows * t.bytes;
    if (!writes) {
        const uint8_t* from = at(t.ub_addr, total);
        e.bytes.assign(from, from + total);
        return;
    }
    InterpretedMemory& far = opcode_of(e) == isa::Opcode::kWriteHost ? host_ : device_;
    for (uint64_t run = 0; run < uint64_t{t.planes} * t.rows; ++run)
        std::memcpy(far.at(far_address(t, e.base, run / t.rows, run % t.rows), t.bytes),
                    e.bytes.data() + run * t.bytes, t.bytes);
}

// ---- arrays

InterpretedCore::Array& InterpretedCore::array(uint32_t index) {
    require(index < arrays_.size(), "an array that the core does not have");
    return arrays_[index];
}

uint32_t* InterpretedCore::accumulator_rows(uint32_t index, uint64_t first, uint64_t rows) {
    require(rows >= 1 && first + rows <= chip_.mxu.accumulator_rows, "accumulator rows");
    return array(index).accumulators.data() + first * chip_.mxu.cols;
}

size_t InterpretedCore::tiles_left() const {
    size_t count = 0;
    for (const Array& array : arrays_) count += array.fifo.size();
    return count;
}

bool InterpretedCore::fifo_full(uint32_t index) const {
    return arrays_.at(index).fifo.size() >= chip_.mxu.weight_fifo_tiles;
}

void InterpretedCore::fetch_tile(const Execution& e, uint32_t tile) {
    const auto r = isa::ReadWeights::decode(e.words);
    const uint64_t bytes = chip_.tile_bytes();
    const uint8_t* from =
        device_.at(e.base + (uint64_t{r.offset_high} << 32) + r.offset + tile * bytes, bytes);
    array(r.mxu).fifo.push_back(std::make_shared<const std::vector<uint8_t>>(from, from + bytes));
}

void InterpretedCore::begin_matmul(Execution& e) {
    const auto m = isa::Matmul::decode(e.words);
    Array& mxu = array(m.mxu);
    if (m.new_weights != 0) {
        mxu.tile = mxu.fifo.front();
        mxu.fifo.pop_front();
    }
    require(mxu.tile != nullptr, "a matmul without weights");
    e.tile = mxu.tile;
}

/// The bits of one activation.
uint32_t InterpretedCore::element(const isa::Matmul& m, const isa::Geometry& g, uint64_t position,
                                  uint32_t k) {
    const uint64_t image = position / (uint64_t{g.out_height} * g.out_width);
    const auto oh = static_cast<int64_t>(position / g.out_width % g.out_height);
    const auto ow = static_cast<int64_t>(position % g.out_width);
    const uint32_t channel = k % g.channels, kw = k / g.channels % g.kernel_w,
                   kh = k / (uint32_t{g.channels} * g.kernel_w);
    const int64_t ih = oh * g.stride_h + int64_t{kh} * g.dilation_h - g.pad_top;
    const int64_t iw = ow * g.stride_w + int64_t{kw} * g.dilation_w - g.pad_left;
    const bool inside = ih >= 0 && ih < g.in_height && iw >= 0 && iw < g.in_width;
    if (is_bf16()) require(g.pad_value == 0, "padding of a bf16 array");
    if (!inside) return static_cast<uint32_t>(g.pad_value);
    const uint64_t pixel = m.ub_addr + image * g.image_stride +
                           static_cast<uint64_t>(ih * g.in_width + iw) * g.pixel_stride;
    if (!is_bf16()) return static_cast<uint32_t>(value(pixel + channel));
    const uint8_t* bytes = at(pixel + uint64_t{channel} * 2, 2);
    return bytes[0] | uint32_t{bytes[1]} << 8;
}

std::vector<uint32_t> InterpretedCore::products_int8(const std::vector<uint32_t>& row,
                                                     const Execution& e) const {
    const uint32_t cols = chip_.mxu.cols;
    std::vector<uint32_t> sums(cols);
    for (size_t k = 0; k < row.size(); ++k)
        for (uint32_t c = 0; c < cols; ++c)
            sums[c] += row[k] * static_cast<uint32_t>(static_cast<int8_t>((*e.tile)[k * cols + c]));
    return sums;
}

std::vector<uint32_t> InterpretedCore::products_bf16(const std::vector<uint32_t>& row,
                                                     const Execution& e) const {
    const uint32_t cols = chip_.mxu.cols;
    const size_t step = chip_.mxu.sum4 ? 4 : 1;
    std::vector<uint32_t> sums(cols);
    for (uint32_t c = 0; c < cols; ++c)
        for (size_t k = 0; k < row.size(); k += step) {
            std::vector<uint32_t> products;
            for (size_t i = k; i < std::min(k + step, row.size()); ++i) {
                uint16_t weight;
                std::memcpy(&weight, e.tile->data() + (i * cols + c) * 2, 2);
                products.push_back(naive_bf16::product(static_cast<uint16_t>(row[i]), weight));
            }
            sums[c] = naive_bf16::sum(
                sums[c], chip_.mxu.sum4 ? naive_bf16::sum4(products) : products.front());
        }
    return sums;
}

void InterpretedCore::read_matmul(Execution& e) {
    const auto m = isa::Matmul::decode(e.words);
    const auto& mxu = chip_.mxu;
    const isa::Geometry& g = e.window;
    require(m.rows >= 1 && m.k_len >= 1 && m.k_len <= mxu.rows && m.n_len <= mxu.cols, "matmul");
    require(m.k_start + m.k_len <= uint32_t{g.kernel_h} * g.kernel_w * g.channels,
            "reduction beyond the window");
    for (uint32_t i = 0; i < m.rows; ++i) {
        std::vector<uint32_t> row;
        for (uint32_t k = 0; k < m.k_len; ++k)
            row.push_back(element(m, g, uint64_t{m.row_start} + i, m.k_start + k));
        const auto sums = is_bf16() ? products_bf16(row, e) : products_int8(row, e);
        e.sums.insert(e.sums.end(), sums.begin(), sums.end());
    }
    macs_ += uint64_t{m.rows} * m.k_len * m.n_len;
}

void InterpretedCore::write_matmul(const Execution& e) {
    const auto m = isa::Matmul::decode(e.words);
    uint32_t* rows = accumulator_rows(m.mxu, m.acc_addr, m.rows);
    for (size_t i = 0; i < e.sums.size(); ++i) {
        if (m.accumulate == 0)
            rows[i] = e.sums[i];
        else
            rows[i] = is_bf16() ? naive_bf16::sum(rows[i], e.sums[i]) : rows[i] + e.sums[i];
    }
}

// ---- vector unit

void InterpretedCore::read_requantise(Execution& e) {
    const auto a = isa::Requantise::decode(e.words);
    require(a.cols >= 1 && a.cols <= chip_.mxu.cols && !is_bf16(), "requantise");
    NaiveOutput output;
    output.zero_point = a.zero_point, output.low = a.clamp_min, output.high = a.clamp_max;
    output.rounding = rounding_of(a.rounding);
    std::vector<uint32_t> bias;
    for (uint32_t c = 0; c < a.cols; ++c) {
        const uint64_t params = a.params_addr + uint64_t{12} * c;
        bias.push_back(static_cast<uint32_t>(word(params)));
        const int32_t multiplier = word(params + 4);
        output.scales.push_back({std::bit_cast<float>(multiplier), multiplier, word(params + 8)});
    }
    const uint32_t* rows = accumulator_rows(a.mxu, a.acc_addr, a.rows);
    for (uint32_t i = 0; i < a.rows; ++i)
        for (uint32_t c = 0; c < a.cols; ++c)
            e.bytes.push_back(static_cast<uint8_t>(
                output.finish(static_cast<int32_t>(rows[size_t{i} * chip_.mxu.cols + c] + bias[c]),
                              static_cast<int>(c))));
}

uint32_t InterpretedCore::converted(const isa::Convert& op, uint32_t sum, uint32_t column) {
    const auto bias = [&] { return static_cast<uint32_t>(word(op.params_addr + 4ull * column)); };
    if (op.function == 2) {  // all bits as they are
        const uint32_t result = vector_.chain(sum, op.bias != 0 ? bias() : 0, 0);
        return op.wide != 0 ? result : naive_plain_float(result);
    }
    const uint32_t none = 0x80000000;  // -0 changes no number
    const uint32_t x = naive_bf16::sum(sum, op.bias != 0 ? bias() : none);
    return op.function == 1 && (x >> 31) != 0 ? 0 : x;
}

void InterpretedCore::read_convert(Execution& e) {
    const auto a = isa::Convert::decode(e.words);
    require(a.cols >= 1 && a.cols <= chip_.mxu.cols && a.function <= 2, "convert");
    require(is_bf16() || a.function == 2, "convert of int32 without a chain");
    const uint32_t* rows = accumulator_rows(a.mxu, a.acc_addr, a.rows);
    for (uint32_t i = 0; i < a.rows; ++i)
        for (uint32_t c = 0; c < a.cols; ++c) {
            uint32_t x = converted(a, rows[size_t{i} * chip_.mxu.cols + c], c);
            if (a.wide == 0) x = naive_bf16::narrow(x);
            for (int byte = 0; byte < (a.wide != 0 ? 4 : 2); ++byte)
                e.bytes.push_back(static_cast<uint8_t>(x >> (8 * byte)));
        }
}

}  // namespace tandem::testbench
