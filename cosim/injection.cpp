// SPDX-License-Identifier: Apache-2.0
#include "cosim/injection.h"

#include <fmt/format.h>

#include <random>
#include <regex>

#include "arch/error.h"

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
    }
    return {};
}

std::string Injection::to_string() const {
    return fmt::format("pe[{}][{}].{}:bit{}@cycle={}", pe_row, pe_col, cosim::to_string(which), bit,
                       cycle);
}

Injection parse_injection(const std::string& text, uint32_t rows, uint32_t cols) {
    static const std::regex form(
        R"(pe\[(\d{1,9})\]\[(\d{1,9})\]\.(\w+):bit(\d{1,9})@cycle=(\d{1,18}))");
    std::smatch match;
    if (!std::regex_match(text, match, form))
        throw UserError("--inject", "form",
                        "pe[R][C].psum:bitB@cycle=T (or .weight, .activation, .shadow), or seed=N",
                        text);
    Injection injection;
    injection.pe_row = static_cast<uint32_t>(std::stoul(match[1]));
    injection.pe_col = static_cast<uint32_t>(std::stoul(match[2]));
    injection.bit = static_cast<uint32_t>(std::stoul(match[4]));
    injection.cycle = std::stoull(match[5]);
    if (injection.pe_row >= rows)
        throw UserError("--inject", "PE row", fmt::format("0..{}", rows - 1), match[1]);
    if (injection.pe_col >= cols)
        throw UserError("--inject", "PE column", fmt::format("0..{}", cols - 1), match[2]);
    bool known = false;
    for (const auto which :
         {PeRegister::kActivation, PeRegister::kWeight, PeRegister::kShadow, PeRegister::kPsum})
        if (to_string(which) == match[3].str()) {
            injection.which = which;
            known = true;
        }
    if (!known)
        throw UserError("--inject", "register", "psum, weight, shadow or activation", match[3]);
    const uint32_t bits = injection.which == PeRegister::kPsum ? 32 : 8;
    if (injection.bit >= bits)
        throw UserError("--inject", "bit", fmt::format("0..{}", bits - 1), match[4]);
    return injection;
}

Injection random_injection(uint64_t seed, uint32_t rows, uint32_t cols, uint64_t total_rows) {
    std::mt19937_64 random(seed);
    Injection injection;
    constexpr PeRegister kinds[] = {PeRegister::kPsum, PeRegister::kWeight,
                                    PeRegister::kActivation};
    injection.which = kinds[random() % 3];
    injection.pe_row = static_cast<uint32_t>(random() % rows);
    injection.pe_col = static_cast<uint32_t>(random() % cols);
    injection.bit =
        static_cast<uint32_t>(random() % (injection.which == PeRegister::kPsum ? 32 : 8));
    injection.at_row = random() % total_rows;
    return injection;
}

}  // namespace tandem::cosim
