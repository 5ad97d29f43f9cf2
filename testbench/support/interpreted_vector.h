// SPDX-License-Identifier: Apache-2.0
// set_shape to set_constants, map, reduce, lookup and move by the text of arch/isa.yaml: element by
// element, with the chain of naive_chain.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/generated/isa.h"
#include "testbench/support/naive_chain.h"

namespace tandem::testbench {

/// All of it throws std::runtime_error where the machine would end the program.
class InterpretedVector {
  public:
    using Buffer = std::vector<uint8_t>;

    /// False: not an instruction that sets something.
    bool set(const isa::Words& words);
    /// What a map, reduce, lookup or move will write, in the order of the shape.
    std::vector<uint8_t> read(const isa::Words& words, const Buffer& buffer) const;
    /// Writes it where `out` wants it.
    void write(const isa::Words& words, const std::vector<uint8_t>& bytes, Buffer& buffer) const;

    /// r0 of the chain.
    uint32_t chain(uint32_t a, uint32_t b, uint32_t c) const {
        return naive_chain(steps_, constants_, a, b, c);
    }

  private:
    using Index = std::array<uint32_t, 6>;
    enum Type : uint8_t { kInt8, kInt32, kBf16, kFp32 };
    enum Operand : uint8_t { kOut, kA, kB, kC };
    struct View {
        uint8_t type = kInt8;
        std::array<int32_t, 6> strides{};
    };
    static constexpr uint32_t kAllAxes = 0x3f;

    static uint64_t size_of(uint8_t type);
    static uint32_t element(const View& view, const uint8_t* at, int8_t zero);
    template <class Op>
    static void append(std::vector<uint8_t>& bytes, const View& out, const Op& op, uint32_t r0);
    template <class Visit>
    void for_all(uint32_t axes, Index start, const Visit& visit) const;
    bool advanced(uint32_t axes, Index& i) const;
    int64_t place(Operand operand, uint32_t address, const Index& i) const;
    /// Nothing: outside the window.
    std::optional<int64_t> place_of_a(uint32_t address, const Index& i, bool taps) const;
    template <class Op>
    uint32_t reduced(const Op& op, const Index& kept, const Buffer& buffer) const;

    std::vector<uint8_t> read_map(const isa::Map& op, const Buffer& buffer) const;
    std::vector<uint8_t> read_reduce(const isa::Reduce& op, const Buffer& buffer) const;
    std::vector<uint8_t> read_lookup(const isa::Lookup& op, const Buffer& buffer) const;
    std::vector<uint8_t> read_move(const isa::Move& op, const Buffer& buffer) const;

    Index shape_{1, 1, 1, 1, 1, 1};
    std::array<View, 4> views_;
    isa::SetTaps taps_;
    std::array<NaiveStep, 12> steps_;
    std::array<uint32_t, 12> constants_{};
};

}  // namespace tandem::testbench
