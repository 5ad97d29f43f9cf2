// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 128 bit: names what an array was built from, and finds damage in a cached file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::base {

class Fnv128 {
  public:
    /// Every item is closed by its length, so that neighbours cannot merge.
    void add(std::string_view bytes) {
        for (const char byte : bytes) step(static_cast<unsigned char>(byte));
        for (std::size_t length = bytes.size(), i = 0; i < 8; ++i, length >>= 8)
            step(static_cast<unsigned char>(length));
    }
    template <typename Range>
    void add_all(const Range& words) {
        for (const auto& word : words) add(std::string_view(word));
    }
    /// 32 digits.
    std::string hex() const {
        std::string text(32, '0');
        auto rest = value_;
        for (auto digit = text.rbegin(); digit != text.rend(); ++digit, rest >>= 4)
            *digit = "0123456789abcdef"[static_cast<unsigned>(rest & 15)];
        return text;
    }

  private:
    __extension__ typedef unsigned __int128 Word;
    static constexpr Word kPrime = (Word{1} << 88) + 0x13b;
    void step(unsigned char byte) { value_ = (value_ ^ byte) * kPrime; }
    Word value_ = (Word{0x6c62272e07bb0142ull} << 64) + 0x62b821756295c58dull;
};

}  // namespace tandem::base
