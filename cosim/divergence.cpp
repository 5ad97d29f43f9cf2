// SPDX-License-Identifier: Apache-2.0
#include "cosim/divergence.h"

#include <fmt/format.h>

#include <bit>

namespace tandem::cosim {
namespace {

std::string fp32_text(uint32_t bits) {
    return fmt::format("0x{:08x} ({:.9g})", bits, std::bit_cast<float>(bits));
}

}  // namespace

std::string sum_text(arch::Dtype dtype, int64_t sum) {
    if (dtype == arch::Dtype::kInt8) return std::to_string(sum);
    return fp32_text(static_cast<uint32_t>(sum));
}

void blame(Divergence& divergence, const PeMismatch& pe) {
    divergence.pe = pe;
    divergence.unit = to_string(Unit::kPe);
    divergence.signal = to_string(pe.which);
}

void blame(Divergence& divergence, const UnitMismatch& net, const engine::MxuShape& shape) {
    divergence.net = net;
    divergence.unit = to_string(net.unit);
    divergence.signal = net.signal;
    if (net.unit != Unit::kPe) return;
    // Its register was right: the output of the PE, or the wire behind it.
    const auto number = [&](uint64_t bits) {
        return shape.dtype == arch::Dtype::kInt8 ? static_cast<int32_t>(bits)
                                                 : static_cast<int64_t>(bits);
    };
    divergence.pe = {PeRegister::kPsum, shape.rows - 1,       net.lane,
                     net.cycle,         number(net.expected), number(net.actual)};
}

std::string net_text(const UnitMismatch& net) {
    return fmt::format("unit {}, {} (lane {}), cycle {}: expected 0x{:x}, has 0x{:x}",
                       to_string(net.unit), net.signal, net.lane, net.cycle, net.expected,
                       net.actual);
}

std::string register_text(arch::Dtype dtype, PeRegister which, int64_t value) {
    switch (which) {
        case PeRegister::kPsum:
            return sum_text(dtype, value);
        case PeRegister::kSwap:
        case PeRegister::kLoad:
            return std::to_string(value);
        default:
            break;
    }
    if (dtype == arch::Dtype::kInt8) return std::to_string(value);
    const auto bits = static_cast<uint32_t>(value);
    return fmt::format("0x{:04x} ({:.9g})", bits, std::bit_cast<float>(bits << 16));
}

}  // namespace tandem::cosim
