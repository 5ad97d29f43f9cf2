// SPDX-License-Identifier: Apache-2.0
#include "testbench/support/isa_interpreter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "testbench/support/naive_ops.h"

namespace tandem::testing {

namespace {

const isa::InstructionInfo& info_of(const isa::Words& words) {
    for (const auto& info : isa::kInstructions)
        if (static_cast<uint32_t>(info.opcode) == (words[0] & 0xff)) return info;
    throw std::runtime_error("unknown opcode");
}

void require(bool condition, const char* what) {
    if (!condition) throw std::runtime_error(what);
}

}  // namespace

IsaInterpreter::IsaInterpreter(const arch::ChipConfig& chip, const arch::Program& program,
                               const UnitOrder& order)
    : chip_(chip),
      program_(program),
      order_(order),
      random_(order.seed),
      // Rubbish rather than zeros, so that reading what was never written shows.
      buffer_(chip.unified_buffer_bytes, 0xa5),
      accumulators_(size_t{chip.mxu.accumulator_rows} * chip.mxu.cols, 0x5a5a5a5a) {
    size_t bytes = 0;
    for (const auto& output : program.outputs) bytes += output.bytes;
    host_out_.resize(bytes);
}

std::vector<int8_t> IsaInterpreter::run(const std::vector<int8_t>& inputs) {
    host_in_ = inputs;
    while (!halted_) {
        std::array<int, 6> units = order_.precedence;
        if (order_.random) std::shuffle(units.begin(), units.end(), random_);
        const bool moved = std::any_of(units.begin(), units.end(), [&](int u) { return step(u); });
        if (!moved) throw std::runtime_error("deadlock at instruction " + std::to_string(pc_));
    }
    return host_out_;
}

bool IsaInterpreter::flags_left() const {
    return std::any_of(flags_.begin() + 1, flags_.end(), [](int count) { return count != 0; });
}

bool IsaInterpreter::step(int unit) {
    if (unit == static_cast<int>(isa::Unit::kSequencer)) return step_sequencer();
    auto& queue = units_[static_cast<size_t>(unit)].queue;
    if (queue.empty()) return false;
    const uint32_t index = queue.front();
    const isa::Header header = isa::Nop::decode(program_.instructions[index]).header;
    const bool started = units_[static_cast<size_t>(unit)].progress != 0;
    if (!started && !ready(header)) return false;
    if (!execute(unit, index)) return false;
    return true;
}

bool IsaInterpreter::step_sequencer() {
    require(pc_ < program_.instructions.size(), "program ran past its end");
    const isa::Words& words = program_.instructions[pc_];
    const auto& info = info_of(words);
    if (info.unit != isa::Unit::kSequencer) {
        auto& queue = units_[static_cast<size_t>(info.unit)].queue;
        // The instruction that the unit works on has left the queue.
        if (queue.size() >= chip_.sequencer.queue_entries + 1) return false;
        queue.push_back(pc_++);
        return true;
    }
    const isa::Header header = isa::Nop::decode(words).header;
    if (!ready(header)) return false;
    if (info.opcode == isa::Opcode::kHalt) {
        for (const Unit& unit : units_)
            if (!unit.queue.empty()) return false;
        halted_ = true;
    } else {
        require(info.opcode == isa::Opcode::kNop, "scalar instructions are not interpreted");
    }
    finish(pc_++, header);
    return true;
}

bool IsaInterpreter::ready(const isa::Header& header) const {
    const auto count = [&](uint8_t flag) { return flag == 0 ? 2 : flags_[flag]; };
    if (header.wait_a == header.wait_b) return count(header.wait_a) >= 2;
    return count(header.wait_a) >= 1 && count(header.wait_b) >= 1;
}

void IsaInterpreter::finish(uint32_t index, const isa::Header& header) {
    for (const uint8_t flag : {header.wait_a, header.wait_b})
        if (flag != 0) --flags_[flag];
    for (const uint8_t flag : {header.signal_a, header.signal_b})
        if (flag != 0) ++flags_[flag];
    if (on_retire) on_retire(index);
}

bool IsaInterpreter::execute(int unit, uint32_t index) {
    const isa::Words& words = program_.instructions[index];
    switch (info_of(words).opcode) {
        case isa::Opcode::kReadHost:
        case isa::Opcode::kReadMemory:
        case isa::Opcode::kWriteHost:
            transfer(index);
            break;
        case isa::Opcode::kReadWeights:
            if (!read_weights(index)) return false;
            if (units_[static_cast<size_t>(unit)].progress != 0) return true;
            break;
        case isa::Opcode::kSetWindow:
            window_ = isa::SetWindow::decode(words).geometry;
            break;
        case isa::Opcode::kMatmul:
            if (!matmul(index)) return false;
            break;
        case isa::Opcode::kActivate:
            activate(index);
            break;
        case isa::Opcode::kAdd:
            add(index);
            break;
        case isa::Opcode::kSetPoolWindow:
            pool_window_ = isa::SetPoolWindow::decode(words).geometry;
            break;
        case isa::Opcode::kPool:
            pool(index);
            break;
        case isa::Opcode::kSoftmax:
            softmax(index);
            break;
        default:
            throw std::runtime_error("instruction is not interpreted");
    }
    units_[static_cast<size_t>(unit)].queue.pop_front();
    finish(index, isa::Nop::decode(words).header);
    return true;
}

int8_t& IsaInterpreter::at(uint64_t address) {
    require(address < buffer_.size(), "address beyond the unified buffer");
    return reinterpret_cast<int8_t&>(buffer_[address]);
}

int8_t IsaInterpreter::value(uint64_t address) const {
    require(address < buffer_.size(), "address beyond the unified buffer");
    return static_cast<int8_t>(buffer_[address]);
}

int32_t IsaInterpreter::word(uint32_t address) const {
    require(address % 4 == 0 && uint64_t{address} + 4 <= buffer_.size(), "parameter address");
    int32_t result;
    std::memcpy(&result, buffer_.data() + address, 4);
    return result;
}

void IsaInterpreter::transfer(uint32_t index) {
    // The transfers have the same fields.
    const auto t = isa::ReadHost::decode(program_.instructions[index]);
    const auto opcode = info_of(program_.instructions[index]).opcode;
    for (uint32_t i = 0; i < t.bytes; ++i) {
        const size_t from = size_t{t.offset} + i;
        if (opcode == isa::Opcode::kReadHost) {
            require(t.base == 2, "base register of the inputs");
            at(t.ub_addr + uint64_t{i}) = host_in_.at(from);
        } else if (opcode == isa::Opcode::kReadMemory) {
            require(t.base == 1, "base register of the data");
            at(t.ub_addr + uint64_t{i}) = static_cast<int8_t>(program_.data.at(from));
        } else {
            require(t.base == 3, "base register of the outputs");
            host_out_.at(from) = value(t.ub_addr + uint64_t{i});
        }
    }
}

/// One tile per step, so that fetching and computing interleave.
bool IsaInterpreter::read_weights(uint32_t index) {
    const auto r = isa::ReadWeights::decode(program_.instructions[index]);
    require(r.base == 1 && r.tiles >= 1, "read_weights");
    if (fifo_.size() >= chip_.mxu.weight_fifo_tiles) return false;
    uint32_t& progress = units_[static_cast<size_t>(isa::Unit::kWeights)].progress;
    const uint64_t first = r.offset + progress * chip_.tile_bytes();
    require(first + chip_.tile_bytes() <= program_.data.size(), "weights beyond the data");
    const auto begin = program_.data.begin() + static_cast<ptrdiff_t>(first);
    fifo_.emplace_back(begin, begin + static_cast<ptrdiff_t>(chip_.tile_bytes()));
    progress = progress + 1 == r.tiles ? 0 : progress + 1;
    return true;
}

int8_t IsaInterpreter::element(const isa::Matmul& m, uint64_t position, uint32_t k) const {
    const isa::Geometry& g = window_;
    const uint64_t image = position / (uint64_t{g.out_height} * g.out_width);
    const auto oh = static_cast<int64_t>(position / g.out_width % g.out_height);
    const auto ow = static_cast<int64_t>(position % g.out_width);
    const uint32_t channel = k % g.channels, kw = k / g.channels % g.kernel_w,
                   kh = k / (g.channels * g.kernel_w);
    const int64_t ih = oh * g.stride_h + int64_t{kh} * g.dilation_h - g.pad_top;
    const int64_t iw = ow * g.stride_w + int64_t{kw} * g.dilation_w - g.pad_left;
    if (ih < 0 || ih >= g.in_height || iw < 0 || iw >= g.in_width) return g.pad_value;
    return value(m.ub_addr + image * g.image_stride +
                 static_cast<uint64_t>(ih * g.in_width + iw) * g.pixel_stride + channel);
}

bool IsaInterpreter::matmul(uint32_t index) {
    const auto m = isa::Matmul::decode(program_.instructions[index]);
    const auto& mxu = chip_.mxu;
    require(m.rows >= 1 && m.k_len >= 1 && m.k_len <= mxu.rows && m.n_len <= mxu.cols, "matmul");
    require(uint32_t{m.acc_addr} + m.rows <= mxu.accumulator_rows, "accumulator rows");
    require(m.k_start + m.k_len <= uint32_t{window_.kernel_h} * window_.kernel_w * window_.channels,
            "reduction beyond the window");
    if (m.new_weights != 0) {
        if (fifo_.empty()) return false;
        tile_ = std::move(fifo_.front());
        fifo_.pop_front();
    }
    std::vector<int32_t> sums(mxu.cols);
    for (uint32_t i = 0; i < m.rows; ++i) {
        std::fill(sums.begin(), sums.end(), 0);
        for (uint32_t k = 0; k < m.k_len; ++k) {
            const int x = element(m, uint64_t{m.row_start} + i, m.k_start + k);
            const int8_t* weights = &tile_.at(size_t{k} * mxu.cols);
            for (uint32_t c = 0; c < mxu.cols; ++c) sums[c] += x * weights[c];
        }
        int32_t* row = &accumulators_[size_t{m.acc_addr + i} * mxu.cols];
        for (uint32_t c = 0; c < mxu.cols; ++c)
            row[c] = static_cast<int32_t>((m.accumulate != 0 ? static_cast<uint32_t>(row[c]) : 0u) +
                                          static_cast<uint32_t>(sums[c]));
    }
    macs_ += uint64_t{m.rows} * m.k_len * m.n_len;
    return true;
}

void IsaInterpreter::activate(uint32_t index) {
    const auto a = isa::Activate::decode(program_.instructions[index]);
    require(a.cols >= 1 && a.cols <= chip_.mxu.cols && a.rows >= 1, "activate");
    NaiveOutput output;
    output.zero_point = a.zero_point, output.low = a.clamp_min, output.high = a.clamp_max;
    output.rounding = a.rounding != 0 ? NaiveRounding::kGemmlowp : NaiveRounding::kSingle;
    std::vector<uint32_t> bias;
    for (uint32_t c = 0; c < a.cols; ++c) {
        const uint32_t params = a.params_addr + 12 * c;
        bias.push_back(static_cast<uint32_t>(word(params)));
        const int32_t multiplier = word(params + 4);
        output.scales.push_back({std::bit_cast<float>(multiplier), multiplier, word(params + 8)});
    }
    for (uint32_t i = 0; i < a.rows; ++i)
        for (uint32_t c = 0; c < a.cols; ++c) {
            const auto sum = static_cast<uint32_t>(
                accumulators_.at(size_t{a.acc_addr + i} * chip_.mxu.cols + c));
            at(a.ub_addr + uint64_t{i} * a.row_stride + c) =
                output.finish(static_cast<int32_t>(sum + bias[c]), static_cast<int>(c));
        }
}

void IsaInterpreter::add(uint32_t index) {
    const auto op = isa::Add::decode(program_.instructions[index]);
    const auto p = [&](uint32_t i) { return word(op.params_addr + 4 * i); };
    const auto scale = [&](uint32_t i) {
        return NaiveScale{std::bit_cast<float>(p(i)), p(i), p(i + 1)};
    };
    NaiveOutput output{{scale(7)},
                       p(2),
                       p(9),
                       p(10),
                       op.rounding != 0 ? NaiveRounding::kGemmlowp : NaiveRounding::kSingle};
    Int8s a, b;
    for (uint64_t i = 0; i < op.count; ++i) {
        a.push_back(value(op.a_addr + i));
        b.push_back(value(op.b_addr + i));
    }
    const Int8s sums = naive_add(a, b, p(0), p(1), scale(3), scale(5), output);
    for (uint64_t i = 0; i < op.count; ++i) at(op.out_addr + i) = sums[i];
}

void IsaInterpreter::pool(uint32_t index) {
    const auto op = isa::Pool::decode(program_.instructions[index]);
    const isa::Geometry& g = pool_window_;
    NaiveWindow w;
    w.batch = op.images, w.in_h = g.in_height, w.in_w = g.in_width, w.in_c = g.channels;
    w.out_h = g.out_height, w.out_w = g.out_width, w.kernel_h = g.kernel_h, w.kernel_w = g.kernel_w;
    w.stride_h = g.stride_h, w.stride_w = g.stride_w, w.pad_top = g.pad_top,
    w.pad_left = g.pad_left;
    require(g.pixel_stride == g.channels, "a pool takes whole pixels");
    Int8s input;
    for (uint64_t i = 0; i < uint64_t{op.images} * g.image_stride; ++i)
        input.push_back(value(op.in_addr + i));
    Int8s result;
    if (op.kind == 2) {
        const NaiveOutput output{
            {{std::bit_cast<float>(word(op.params_addr + 4)), word(op.params_addr + 4),
              word(op.params_addr + 8)}},
            op.zero_point,
            op.clamp_min,
            op.clamp_max,
            op.rounding != 0 ? NaiveRounding::kGemmlowp : NaiveRounding::kSingle};
        // A mean is a depthwise convolution with ones.
        const std::vector<int32_t> bias(g.channels, word(op.params_addr));
        result = naive_depthwise(
            w, input, 0, Int8s(size_t{g.kernel_h} * g.kernel_w * g.channels, 1), bias, 1, output);
    } else {
        result = op.kind == 0 ? naive_max_pool(w, input, op.clamp_min, op.clamp_max)
                              : naive_average_pool(w, input, op.clamp_min, op.clamp_max);
    }
    for (size_t i = 0; i < result.size(); ++i) at(op.out_addr + i) = result[i];
}

void IsaInterpreter::softmax(uint32_t index) {
    const auto op = isa::Softmax::decode(program_.instructions[index]);
    for (uint64_t row = 0; row < op.rows; ++row) {
        Int8s x;
        for (uint64_t c = 0; c < op.cols; ++c) x.push_back(value(op.in_addr + row * op.cols + c));
        const int largest = *std::max_element(x.begin(), x.end());
        const auto exponential = [&](int8_t v) {
            return std::bit_cast<float>(
                word(op.params_addr + 4 * static_cast<uint32_t>(largest - v)));
        };
        float sum = 0;
        for (const int8_t v : x) sum += exponential(v);
        const float inverse = 256.0f / sum;
        for (uint64_t c = 0; c < op.cols; ++c) {
            const float scaled = exponential(x[c]) * inverse + 0.5f;
            const int rounded = scaled > 0 ? static_cast<int>(std::min(scaled, 1000.0f)) : 0;
            at(op.out_addr + row * op.cols + c) = static_cast<int8_t>(std::min(rounded - 128, 127));
        }
    }
}

}  // namespace tandem::testing
