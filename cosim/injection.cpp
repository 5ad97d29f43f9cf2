// SPDX-License-Identifier: Apache-2.0
#include "cosim/injection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <regex>

#include "base/error.h"

namespace tandem::cosim {

std::string to_string(PeRegister which) {
    switch (which) {
        case PeRegister::kActivation:
            return "activation";
        case PeRegister::kWeight:
            return "weight";
        case PeRegister::kShadow:
            return "shadow";
        case PeRegister::kPsum:
            return "psum";
        case PeRegister::kSwap:
            return "swap";
        case PeRegister::kLoad:
            return "load";
    }
    return {};
}

uint32_t bits_of(PeRegister which, arch::Dtype dtype) {
    switch (which) {
        case PeRegister::kPsum:
            return 32;
        case PeRegister::kSwap:
        case PeRegister::kLoad:
            return 1;
        default:
            return 8 * arch::element_bytes(dtype);
    }
}

std::string Injection::to_string() const {
    return fmt::format("pe[{}][{}].{}:bit{}@cycle={}", pe_row, pe_col, cosim::to_string(which), bit,
                       cycle);
}

Injection parse_injection(const std::string& text, const engine::MxuShape& shape) {
    static const std::regex form(
        R"(pe\[(\d{1,9})\]\[(\d{1,9})\]\.(\w+):bit(\d{1,9})@cycle=(\d{1,18}))");
    std::smatch match;
    if (!std::regex_match(text, match, form))
        throw UserError(
            "--inject", "form",
            "pe[R][C].psum:bitB@cycle=T (or .weight, .activation, .shadow, .swap, .load), or "
            "seed=N",
            text);
    Injection injection;
    injection.pe_row = static_cast<uint32_t>(std::stoul(match[1]));
    injection.pe_col = static_cast<uint32_t>(std::stoul(match[2]));
    injection.bit = static_cast<uint32_t>(std::stoul(match[4]));
    injection.cycle = std::stoull(match[5]);
    if (injection.pe_row >= shape.rows)
        throw UserError("--inject", "PE row", fmt::format("0..{}", shape.rows - 1), match[1]);
    if (injection.pe_col >= shape.cols)
        throw UserError("--inject", "PE column", fmt::format("0..{}", shape.cols - 1), match[2]);
    bool known = false;
    for (const auto which : {PeRegister::kActivation, PeRegister::kWeight, PeRegister::kShadow,
                             PeRegister::kPsum, PeRegister::kSwap, PeRegister::kLoad})
        if (to_string(which) == match[3].str()) {
            injection.which = which;
            known = true;
        }
    if (!known)
        throw UserError("--inject", "register", "psum, weight, shadow, activation, swap or load",
                        match[3]);
    const uint32_t bits = bits_of(injection.which, shape.dtype);
    if (injection.bit >= bits)
        throw UserError("--inject", "bit", fmt::format("0..{}", bits - 1), match[4]);
    return injection;
}

std::optional<uint64_t> parse_injection_seed(const std::string& text) {
    constexpr std::string_view kForm = "seed=";
    if (!text.starts_with(kForm)) return std::nullopt;
    uint64_t seed = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + kForm.size(), last, seed);
    if (error != std::errc{} || end != last)
        throw UserError("--inject", "seed", "seed=N with a whole number N", text);
    return seed;
}

Injection random_injection(uint64_t seed, const engine::MxuShape& shape, uint64_t total_rows) {
    std::mt19937_64 random(seed);
    Injection injection;
    constexpr PeRegister kinds[] = {PeRegister::kPsum, PeRegister::kWeight,
                                    PeRegister::kActivation};
    injection.which = kinds[random() % 3];
    injection.pe_row = static_cast<uint32_t>(random() % shape.rows);
    injection.pe_col = static_cast<uint32_t>(random() % shape.cols);
    injection.bit = static_cast<uint32_t>(random() % bits_of(injection.which, shape.dtype));
    injection.at_row = random() % total_rows;
    // Registers stand only at the borders of a band.
    const uint32_t k = shape.pipeline;
    if (injection.which == PeRegister::kActivation) injection.pe_col -= injection.pe_col % k;
    if (injection.which == PeRegister::kPsum)
        injection.pe_row = std::min(injection.pe_row / k * k + k - 1, shape.rows - 1);
    return injection;
}

}  // namespace tandem::cosim
