// SPDX-License-Identifier: Apache-2.0
#include "arch/instruction_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/geometry.h"
#include "arch/numerics.h"
#include "arch/vector_rules.h"
#include "base/error.h"

namespace tandem::arch {
namespace {

using Wide = unsigned __int128;

/// In visits of an accumulator row, about a nanosecond each. An instruction costs as much as many
/// of them.
constexpr uint64_t kMostWork = 400'000'000;
constexpr uint64_t kInstructionWork = 100;

const isa::InstructionInfo* info_of(const isa::Words& words) {
    for (const auto& info : isa::kInstructions)
        if (static_cast<uint32_t>(info.opcode) == isa::opcode_of(words)) return &info;
    return nullptr;
}

isa::Words mask_of(const isa::InstructionInfo& info) {
    isa::Words mask{};
    const auto add = [&](const isa::FieldInfo& field) {
        const auto [word, lsb, width, is_signed] = field.position;
        mask[word] |= (width == 32 ? ~0u : (1u << width) - 1) << lsb;
    };
    for (const auto& field : isa::kHeaderFields) add(field);
    for (uint32_t i = 0; i < info.field_count; ++i) add(info.fields[i]);
    return mask;
}

std::string decimal(Wide value) {
    return value >> 64 == 0 ? std::to_string(static_cast<uint64_t>(value)) : "more than 2^64";
}

}  // namespace

ProgramCheck::ProgramCheck(const ChipConfig& chip, const Program& program, std::string origin)
    : chip(chip),
      image(program),
      origin(std::move(origin)),
      layout(layout_of(program)),
      known_until(layout.data + program.data.size()) {}

InstructionCheck::InstructionCheck(ProgramCheck& all, uint32_t core)
    : all_(all),
      chip_(all.chip),
      core_(core),
      program_(all.image.cores[core]),
      window_(isa::kSinglePixel) {}

void InstructionCheck::fail(uint32_t index, const std::string& expected,
                            const std::string& found) const {
    const isa::InstructionInfo* info =
        index < program_.instructions.size() ? info_of(program_.instructions[index]) : nullptr;
    const std::string name = info == nullptr ? "" : fmt::format(" ({})", info->name);
    const std::string place = all_.image.cores.size() == 1 ? "" : fmt::format("core {} ", core_);
    throw UserError(all_.origin, fmt::format("{}instruction {}{}", place, index, name), expected,
                    found);
}

void InstructionCheck::spend(uint64_t units, uint32_t index) {
    all_.spent += units;
    if (all_.spent > kMostWork || units > kMostWork)
        fail(index, "a program that comes to its end soon", "a longer one");
}

void InstructionCheck::in_buffer(uint32_t index, const char* what, Wide address, Wide bytes) const {
    if (address + bytes > chip_.unified_buffer_bytes)
        fail(index,
             fmt::format("{} inside the unified buffer of {} bytes", what,
                         chip_.unified_buffer_bytes),
             fmt::format("{} bytes at {}", decimal(bytes), decimal(address)));
}

void InstructionCheck::in_time(uint32_t index, Wide cycles) const {
    if (cycles >= chip_.sequencer.watchdog_cycles)
        fail(index,
             fmt::format("less than the watchdog's {} cycles", chip_.sequencer.watchdog_cycles),
             decimal(cycles));
}

void InstructionCheck::look_at(uint32_t index, const ScalarValue& base) {
    access_ = {};
    spend(kInstructionWork, index);
    ++all_.work.instructions;
    const isa::Words& words = program_.instructions[index];
    switch (static_cast<isa::Opcode>(isa::opcode_of(words))) {
        case isa::Opcode::kReadHost:
        case isa::Opcode::kReadMemory:
        case isa::Opcode::kWriteHost:
        case isa::Opcode::kWriteMemory:
            return check_transfer(index, base);
        case isa::Opcode::kReadWeights:
            return check_weights(index, base);
        case isa::Opcode::kSetWindow:
            window_ = isa::SetWindow::decode(words).geometry;
            return check_window(index, window_);
        case isa::Opcode::kMatmul:
            return check_matmul(index);
        case isa::Opcode::kRequantise:
            return check_requantise(index);
        case isa::Opcode::kConvert:
            return check_convert(index);
        default:
            check_vector(index);
    }
}

void InstructionCheck::begin(uint32_t index, const MemoryAccess& access) {
    if (access.bytes == 0) return;
    const uint64_t end = access.address + access.bytes;
    if (access.writes)
        all_.known_until = std::max(all_.known_until, end);
    else if (end > all_.known_until)
        fail(index, fmt::format("data, or what was written before, up to {}", all_.known_until),
             fmt::format("{} bytes at {}", access.bytes, access.address));
}

void InstructionCheck::check_encodings() const {
    for (uint32_t index = 0; index < program_.instructions.size(); ++index) check_encoding(index);
}

void InstructionCheck::check_encoding(uint32_t index) const {
    const isa::Words& words = program_.instructions[index];
    const isa::InstructionInfo* info = info_of(words);
    if (info == nullptr) fail(index, "a known opcode", fmt::format("0x{:02x}", words[0] & 0xff));
    const isa::Words mask = mask_of(*info);
    for (size_t word = 0; word < words.size(); ++word)
        if ((words[word] & ~mask[word]) != 0)
            fail(index, "zeros where no field is",
                 fmt::format("0x{:08x} in word {}", words[word] & ~mask[word], word));
    const isa::Header header = isa::header_of(words);
    require(header.core <= all_.image.cores.size(), index, "signals to cores of the program",
            header.core);
    if (info->opcode == isa::Opcode::kFence) {
        const auto op = isa::Fence::decode(words);
        require(op.unit < isa::kUnitNames.size(), index, "a unit that there is", op.unit);
        require(op.mxu < chip_.mxu.count, index, "an array that the chip has", op.mxu);
    }
    // Every array would take and raise them once.
    if (info->opcode == isa::Opcode::kSetWindow)
        require((header.wait_a | header.wait_b | header.signal_a | header.signal_b) == 0, index,
                "no flags", header.wait_a | header.wait_b | header.signal_a | header.signal_b);
}

void InstructionCheck::check_transfer(uint32_t index, const ScalarValue& base) {
    const isa::Words& words = program_.instructions[index];
    const auto op = isa::ReadHost::decode(words);  // all four have the same fields
    const auto opcode = static_cast<isa::Opcode>(isa::opcode_of(words));
    const bool host = opcode == isa::Opcode::kReadHost || opcode == isa::Opcode::kWriteHost;
    const bool write = opcode == isa::Opcode::kWriteHost || opcode == isa::Opcode::kWriteMemory;
    require(op.rows != 0 && op.planes != 0, index, "at least one row and one plane", 0);
    const Wide total = Wide{op.bytes} * op.rows * op.planes;
    in_buffer(index, "the bytes", op.ub_addr, total);
    const uint64_t rate =
        host ? chip_.host.bytes_per_second : chip_.memory.usable_bytes_per_second();
    in_time(index, total * chip_.clock_hz / std::max<uint64_t>(rate, 1));
    if (host) return check_host(index, op, base, write);
    require(base.kind == ScalarValue::Kind::kNumber, index, "a base in device memory", op.base);
    const Wide extent =
        Wide{op.planes - 1u} * op.plane_stride + Wide{op.rows - 1u} * op.row_stride + op.bytes;
    check_memory(index, {base.value + op.offset + (uint64_t{op.offset_high} << 32),
                         static_cast<uint64_t>(extent), write});
}

void InstructionCheck::check_memory(uint32_t index, const MemoryAccess& access) {
    const uint64_t size = chip_.memory.bytes + chip_.cmem.bytes;
    const auto refuse = [&](const std::string& expected) {
        fail(index, expected, fmt::format("{} bytes at {}", access.bytes, access.address));
    };
    if (Wide{access.address} + access.bytes > size)
        refuse(fmt::format("an extent inside device memory of {} bytes", size));
    if (access.bytes == 0) return;
    if (access.address < data_address())
        refuse(fmt::format("an extent behind the code, from {} on", data_address()));
    access_ = access;
}

void InstructionCheck::check_host(uint32_t index, const isa::ReadHost& op, const ScalarValue& base,
                                  bool write) {
    const auto wanted = write ? ScalarValue::Kind::kOutputs : ScalarValue::Kind::kInputs;
    require(base.kind == wanted, index, write ? "the outputs as base" : "the inputs as base",
            op.base);
    const uint64_t size = bytes_of(write ? all_.image.outputs : all_.image.inputs);
    const uint64_t first = base.value + op.offset + (uint64_t{op.offset_high} << 32);
    const uint64_t extent = uint64_t{op.planes - 1u} * op.plane_stride +
                            uint64_t{op.rows - 1u} * op.row_stride + op.bytes;
    if (Wide{first} + extent > size)
        fail(index,
             fmt::format("an extent inside the {} ({} bytes)", write ? "outputs" : "inputs", size),
             fmt::format("{} bytes at {}", extent, first));
    if (op.bytes == 0 || !write) return;
    spend(uint64_t{op.planes} * op.rows * kInstructionWork, index);
    for (uint64_t plane = 0; plane < op.planes; ++plane)
        for (uint64_t row = 0; row < op.rows; ++row) {
            const uint64_t begin = first + plane * op.plane_stride + row * op.row_stride;
            if (!all_.written.empty() && all_.written.back().second == begin)
                all_.written.back().second += op.bytes;
            else
                all_.written.emplace_back(begin, begin + op.bytes);
        }
}

void InstructionCheck::check_weights(uint32_t index, const ScalarValue& base) {
    const auto op = isa::ReadWeights::decode(program_.instructions[index]);
    require(op.tiles != 0, index, "at least one tile", 0);
    require(op.mxu < chip_.mxu.count, index, "an array that the chip has", op.mxu);
    require(base.kind == ScalarValue::Kind::kNumber, index, "a base in device memory", op.base);
    check_memory(index, {base.value + op.offset + (uint64_t{op.offset_high} << 32),
                         op.tiles * chip_.tile_bytes(), false});
    all_.work.weight_tiles += op.tiles;
}

void InstructionCheck::check_window(uint32_t index, const isa::Geometry& g) const {
    const bool valid = g.in_height != 0 && g.in_width != 0 && g.channels != 0 && g.kernel_h != 0 &&
                       g.kernel_w != 0 && g.stride_h != 0 && g.stride_w != 0 && g.dilation_h != 0 &&
                       g.dilation_w != 0 && g.out_height != 0 && g.out_width != 0;
    require(valid, index, "no size, stride or dilation of zero", 0);
}

void InstructionCheck::check_matmul(uint32_t index) {
    const auto op = isa::Matmul::decode(program_.instructions[index]);
    const isa::Geometry& g = window_;
    require(op.mxu < chip_.mxu.count, index, "an array that the chip has", op.mxu);
    require(op.rows != 0, index, "at least one row", 0);
    require(op.k_len != 0 && op.k_len <= chip_.mxu.rows, index,
            "k_len between 1 and the array's rows", op.k_len);
    require(op.n_len <= chip_.mxu.cols, index, "n_len of at most the array's columns", op.n_len);
    require(uint32_t{op.acc_addr} + op.rows <= chip_.mxu.accumulator_rows, index,
            "rows inside the accumulators", op.acc_addr);
    require(op.k_start + uint64_t{op.k_len} <= uint64_t{g.kernel_h} * g.kernel_w * g.channels,
            index, "elements inside the window", op.k_start);
    const uint64_t last = uint64_t{op.row_start} + op.rows - 1;
    const uint64_t image = last / (uint64_t{g.out_height} * g.out_width);
    in_buffer(index, "all images that are read", op.ub_addr,
              Wide{image} * g.image_stride +
                  Wide{uint64_t{g.in_height} * g.in_width - 1} * g.pixel_stride +
                  uint64_t{g.channels} * element_bytes(chip_.mxu.dtype));
    all_.work.rows += op.rows;
    all_.work.macs += uint64_t{op.rows} * op.k_len * op.n_len;
}

void InstructionCheck::check_drain(uint32_t index, uint32_t array, uint32_t acc_addr, uint32_t rows,
                                   uint32_t cols, uint32_t element_bytes) {
    require(array < chip_.mxu.count, index, "an array that the chip has", array);
    require(rows != 0, index, "at least one row", 0);
    require(cols != 0 && cols <= chip_.mxu.cols, index, "cols between 1 and the array's columns",
            cols);
    require(acc_addr + rows <= chip_.mxu.accumulator_rows, index, "rows inside the accumulators",
            acc_addr);
    in_time(index, Wide{rows} * in_lanes(cols) * element_bytes);
}

void InstructionCheck::check_params(uint32_t index, uint32_t address) {
    require(address % 4 == 0, index, "parameters at a multiple of 4 bytes", address);
}

void InstructionCheck::check_requantise(uint32_t index) {
    const auto op = isa::Requantise::decode(program_.instructions[index]);
    check_drain(index, op.mxu, op.acc_addr, op.rows, op.cols, 1);
    check_params(index, op.params_addr);
    in_buffer(index, "the parameters", op.params_addr, op.cols * sizeof(numerics::ChannelParams));
    in_buffer(index, "the rows", op.ub_addr, Wide{op.rows - 1u} * op.row_stride + op.cols);
}

void InstructionCheck::check_convert(uint32_t index) {
    const auto op = isa::Convert::decode(program_.instructions[index]);
    require(op.function <= 2, index, "function 0, 1 or 2", op.function);
    require(chip_.mxu.dtype == Dtype::kBf16 || op.function == 2, index,
            "a bf16 array, or a chain for the sums of an int8 one", op.function);
    const uint32_t bytes = op.wide != 0 ? 4 : 2;
    check_drain(index, op.mxu, op.acc_addr, op.rows, op.cols, bytes);
    if (op.function == 2)
        in_time(index, Wide{op.rows} * in_lanes(op.cols) * chain_cycles(vector_, chip_.vector));
    if (op.bias != 0) {
        check_params(index, op.params_addr);
        in_buffer(index, "the bias", op.params_addr, op.cols * sizeof(float));
    }
    in_buffer(index, "the rows", op.ub_addr,
              Wide{op.rows - 1u} * op.row_stride + Wide{op.cols} * bytes);
}

void ProgramCheck::finish() {
    std::sort(written.begin(), written.end());
    uint64_t until = 0;
    for (const auto& [begin, end] : written) {
        if (begin > until) break;
        until = std::max(until, end);
    }
    if (const uint64_t bytes = bytes_of(image.outputs); until < bytes)
        throw UserError(origin, "outputs", fmt::format("transfers of all {} bytes", bytes),
                        fmt::format("none of byte {}", until));
}

}  // namespace tandem::arch
