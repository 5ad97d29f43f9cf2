// SPDX-License-Identifier: Apache-2.0
#include "cosim/injection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

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

namespace {

/// pe[R][C].REGISTER:bitB@cycle=T, part by part.
struct Form {
    uint64_t pe_row = 0, pe_col = 0, bit = 0, cycle = 0;
    std::string which;
};

bool take(std::string_view& text, std::string_view literal) {
    if (!text.starts_with(literal)) return false;
    text.remove_prefix(literal.size());
    return true;
}

/// Without a sign, of at most so many digits.
bool take(std::string_view& text, uint64_t& value, ptrdiff_t digits) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const ptrdiff_t taken = end - text.data();
    if (error != std::errc{} || taken > digits) return false;
    text.remove_prefix(static_cast<size_t>(taken));
    return true;
}

std::optional<Form> parse_form(std::string_view text) {
    constexpr ptrdiff_t kDigits = 9, kCycleDigits = 18;
    Form form;
    if (!take(text, "pe[") || !take(text, form.pe_row, kDigits) || !take(text, "][") ||
        !take(text, form.pe_col, kDigits) || !take(text, "]."))
        return std::nullopt;
    form.which = text.substr(0, text.find(':'));
    text.remove_prefix(form.which.size());
    if (!take(text, ":bit") || !take(text, form.bit, kDigits) || !take(text, "@cycle=") ||
        !take(text, form.cycle, kCycleDigits) || !text.empty())
        return std::nullopt;
    return form;
}

/// What a message repeats of the user's text.
std::string shortened(const std::string& text) {
    constexpr size_t kMost = 100;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

Injection parse_injection(const std::string& text, const engine::MxuShape& shape) {
    const auto form = parse_form(text);
    if (!form)
        throw UserError(
            "--inject", "form",
            "pe[R][C].psum:bitB@cycle=T (or .weight, .activation, .shadow, .swap, .load), or "
            "seed=N",
            text.empty() ? "nothing" : shortened(text));
    const auto below = [](const char* part, uint64_t value, uint32_t limit) {
        if (value >= limit)
            throw UserError("--inject", part, fmt::format("0..{}", limit - 1),
                            std::to_string(value));
        return static_cast<uint32_t>(value);
    };
    Injection injection;
    injection.pe_row = below("PE row", form->pe_row, shape.rows);
    injection.pe_col = below("PE column", form->pe_col, shape.cols);
    constexpr PeRegister kRegisters[] = {PeRegister::kActivation, PeRegister::kWeight,
                                         PeRegister::kShadow,     PeRegister::kPsum,
                                         PeRegister::kSwap,       PeRegister::kLoad};
    const auto which = std::ranges::find(kRegisters, form->which,
                                         [](PeRegister known) { return to_string(known); });
    if (which == std::end(kRegisters))
        throw UserError("--inject", "register", "psum, weight, shadow, activation, swap or load",
                        shortened(form->which));
    injection.which = *which;
    injection.bit = below("bit", form->bit, bits_of(injection.which, shape.dtype));
    injection.cycle = form->cycle;
    return injection;
}

std::optional<uint64_t> parse_injection_seed(const std::string& text) {
    constexpr std::string_view kForm = "seed=";
    if (!text.starts_with(kForm)) return std::nullopt;
    uint64_t seed = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + kForm.size(), last, seed);
    if (error != std::errc{} || end != last)
        throw UserError("--inject", "seed", "seed=N with a whole number N", shortened(text));
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
