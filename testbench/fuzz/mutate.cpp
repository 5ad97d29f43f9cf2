// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/mutate.h"

#include <algorithm>
#include <cstring>

namespace tandem::fuzz {
namespace {

using testbench::Seeded;

/// Where numbers end, and what lies beside it.
constexpr uint64_t kLimits[] = {0,
                                1,
                                2,
                                3,
                                7,
                                8,
                                0x7f,
                                0x80,
                                0xff,
                                0x100,
                                0x7fff,
                                0x8000,
                                0xffff,
                                0x10000,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                0x100000000,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                ~uint64_t{0},
                                uint64_t{1} << 53,
                                uint64_t{1} << 31,
                                uint64_t{1} << 16};

class Mutation {
  public:
    Mutation(const std::vector<Bytes>& corpus, const Target& target, Seeded& random)
        : corpus_(corpus), target_(target), random_(random), bytes_(any()) {}

    Bytes run() {
        if (target_.change && random_.chance(50)) {
            target_.change(bytes_, random_);
            if (random_.chance(80)) return std::move(bytes_);
        }
        for (uint64_t i = 1 + random_.below(random_.chance(70) ? 3 : 8); i != 0; --i) change();
        if (bytes_.size() > kMostBytes) bytes_.resize(kMostBytes);
        return std::move(bytes_);
    }

  private:
    const Bytes& any() const { return corpus_[random_.below(corpus_.size())]; }
    size_t place() const { return random_.below(bytes_.size() + 1); }
    ptrdiff_t offset(size_t at) const { return static_cast<ptrdiff_t>(at); }

    void change() {
        if (target_.text && random_.chance(60)) return change_text();
        if (bytes_.empty()) return insert(0, random_.bytes(1 + random_.below(16)));
        switch (random_.below(9)) {
            case 0:
                bytes_[random_.below(bytes_.size())] ^= static_cast<uint8_t>(1 << random_.below(8));
                break;
            case 1:
                bytes_[random_.below(bytes_.size())] = static_cast<uint8_t>(random_.bits());
                break;
            case 2:
            case 3:
                set_number();
                break;
            case 4:
                erase(place(), 1 + random_.below(random_.chance(80) ? 8 : bytes_.size()));
                break;
            case 5:
                insert(place(), random_.bytes(1 + random_.below(8)));
                break;
            case 6:
                splice();
                break;
            case 7:
                copy_within();
                break;
            default:
                insert_word();
        }
    }

    void change_text() {
        switch (random_.below(8)) {
            case 0:
                return replace_number();
            case 1:
            case 2:
                return insert_word();
            case 3: {  // a line less
                const auto [from, to] = line();
                return erase(from, to - from);
            }
            case 4: {  // a line twice, or elsewhere
                const auto [from, to] = line();
                const Bytes copy(bytes_.begin() + offset(from), bytes_.begin() + offset(to));
                if (random_.chance(50)) erase(from, to - from);
                return insert(random_.chance(30) ? from : line().first, copy);
            }
            case 5: {  // a line of another
                const Bytes own = bytes_;
                bytes_ = any();
                const auto [from, to] = line();
                const Bytes copy(bytes_.begin() + offset(from), bytes_.begin() + offset(to));
                bytes_ = own;
                return insert(line().first, copy);
            }
            case 6:
                return repeat();
            default: {
                constexpr std::string_view kMarks =
                    ":,{}[]()\"'#-+*=.@%$&|<>!?/\\ \t\r\n0129eE_\xff";
                const uint8_t mark = static_cast<uint8_t>(kMarks[random_.below(kMarks.size())]);
                if (!bytes_.empty() && random_.chance(50))
                    bytes_[random_.below(bytes_.size())] = mark;
                else
                    insert(place(), {mark});
            }
        }
    }

    void erase(size_t at, size_t count) {
        count = std::min(count, bytes_.size() - at);
        bytes_.erase(bytes_.begin() + offset(at), bytes_.begin() + offset(at + count));
    }
    void insert(size_t at, const Bytes& piece) {
        if (bytes_.size() + piece.size() > kMostBytes) return;
        bytes_.insert(bytes_.begin() + offset(std::min(at, bytes_.size())), piece.begin(),
                      piece.end());
    }

    /// Lengths and offsets mostly stand at multiples of their size.
    void set_number() {
        const size_t width = size_t{1} << random_.below(4);
        if (bytes_.size() < width) return;
        size_t at = random_.below(bytes_.size() - width + 1);
        if (random_.chance(80)) at -= at % width;
        uint64_t value = 0;
        std::memcpy(&value, bytes_.data() + at, width);
        if (random_.chance(50))
            value += static_cast<uint64_t>(random_.between(-16, 16));
        else
            value = kLimits[random_.below(std::size(kLimits))];
        std::memcpy(bytes_.data() + at, &value, width);
    }

    void splice() {
        const Bytes& other = any();
        if (other.empty()) return;
        const size_t from = random_.below(other.size());
        const size_t count = 1 + random_.below(std::min<size_t>(other.size() - from, 256));
        const Bytes piece(other.begin() + offset(from), other.begin() + offset(from + count));
        const size_t at = place();
        if (random_.chance(50)) erase(at, count);
        insert(at, piece);
    }

    void copy_within() {
        const size_t from = random_.below(bytes_.size());
        const size_t count = 1 + random_.below(std::min<size_t>(bytes_.size() - from, 64));
        const Bytes piece(bytes_.begin() + offset(from), bytes_.begin() + offset(from + count));
        const size_t at = place();
        if (random_.chance(70)) erase(at, count);
        insert(at, piece);
    }

    void insert_word() {
        if (target_.words.empty()) return;
        const size_t at = place();
        if (random_.chance(30)) erase(at, 1 + random_.below(12));
        insert(at, bytes_of(target_.words[random_.below(target_.words.size())]));
    }

    /// Other digits where digits are.
    void replace_number() {
        const size_t start = place();
        const auto digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
        const auto first = std::find_if(bytes_.begin() + offset(start), bytes_.end(), digit);
        const auto last = std::find_if_not(first, bytes_.end(), digit);
        const auto at = static_cast<size_t>(first - bytes_.begin());
        erase(at, static_cast<size_t>(last - first));
        const uint64_t limit = kLimits[random_.below(std::size(kLimits))];
        std::string number = std::to_string(random_.chance(60) ? limit : random_.below(300));
        if (random_.chance(10)) number.insert(0, 1, '-');
        if (random_.chance(5)) number += random_.chance(50) ? ".5" : "e99";
        insert(at, bytes_of(number));
    }

    std::pair<size_t, size_t> line() const {
        const size_t at = place();
        const auto middle = bytes_.begin() + offset(at);
        const auto before = std::find(std::make_reverse_iterator(middle), bytes_.rend(), '\n');
        const auto behind = std::find(middle, bytes_.end(), '\n');
        return {static_cast<size_t>(before.base() - bytes_.begin()),
                static_cast<size_t>(behind - bytes_.begin()) + (behind != bytes_.end())};
    }

    /// Seldom very often: whoever recurses for each runs out of stack.
    void repeat() {
        if (bytes_.empty()) return;
        const size_t from = random_.below(bytes_.size());
        const size_t count = 1 + random_.below(std::min<size_t>(bytes_.size() - from, 16));
        const Bytes piece(bytes_.begin() + offset(from), bytes_.begin() + offset(from + count));
        const size_t times =
            random_.chance(95) ? 1 + random_.below(40) : kMostBytes / 2 / piece.size();
        Bytes all;
        all.reserve(times * piece.size());
        for (size_t i = 0; i < times; ++i) all.insert(all.end(), piece.begin(), piece.end());
        insert(from, all);
    }

    const std::vector<Bytes>& corpus_;
    const Target& target_;
    Seeded& random_;
    Bytes bytes_;
};

}  // namespace

Bytes mutated(const std::vector<Bytes>& corpus, const Target& target, Seeded& random) {
    return Mutation(corpus, target, random).run();
}

}  // namespace tandem::fuzz
