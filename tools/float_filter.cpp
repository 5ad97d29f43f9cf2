// SPDX-License-Identifier: Apache-2.0
// Filter for GTKWave: reads bf16 (four hexadecimal digits) or fp32 (eight) line by line and answers
// with the number.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const bool number = (line.size() == 4 || line.size() == 8) &&
                            line.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
        if (!number) {
            std::cout << line << std::endl;  // x, z, or nothing that it knows
            continue;
        }
        auto bits = static_cast<uint32_t>(std::stoul(line, nullptr, 16));
        if (line.size() == 4) bits <<= 16;
        char text[32];
        std::snprintf(text, sizeof text, "%.6g", static_cast<double>(std::bit_cast<float>(bits)));
        std::cout << text << std::endl;
    }
    return 0;
}
