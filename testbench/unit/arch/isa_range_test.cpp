// SPDX-License-Identifier: Apache-2.0
// Encoders refuse values that a field cannot hold.
#include <gtest/gtest.h>

#include <functional>

#include "arch/generated/isa.h"

namespace tandem::isa {
namespace {

struct Limit {
    const char* field;
    std::function<Words(uint32_t)> encode;
    uint32_t largest;
};

void PrintTo(const Limit& limit, std::ostream* out) { *out << limit.field; }

uint8_t byte(uint32_t value) { return static_cast<uint8_t>(value); }

class IsaRange : public testing::TestWithParam<Limit> {};

TEST_P(IsaRange, TakesTheLargestValue) {
    EXPECT_NO_THROW(GetParam().encode(GetParam().largest)) << GetParam().field;
}

TEST_P(IsaRange, RejectsOneMoreAndNamesTheField) {
    try {
        GetParam().encode(GetParam().largest + 1);
        FAIL() << GetParam().field << ": expected std::out_of_range, found none";
    } catch (const std::out_of_range& error) {
        EXPECT_NE(std::string(error.what()).find(GetParam().field), std::string::npos)
            << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Fields, IsaRange,
    testing::Values(Limit{"header.core",
                          [](uint32_t v) { return Nop{.header = {.core = byte(v)}}.encode(); }, 31},
                    Limit{"set_scalar.rd",
                          [](uint32_t v) {
                              SetScalar m;
                              m.rd = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"add_scalar.rd",
                          [](uint32_t v) {
                              AddScalar m;
                              m.rd = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"add_scalar.rs",
                          [](uint32_t v) {
                              AddScalar m;
                              m.rs = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"branch_nonzero.rs",
                          [](uint32_t v) {
                              BranchNonzero m;
                              m.rs = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"read_host.base",
                          [](uint32_t v) {
                              ReadHost m;
                              m.base = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"read_memory.base",
                          [](uint32_t v) {
                              ReadMemory m;
                              m.base = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"write_host.base",
                          [](uint32_t v) {
                              WriteHost m;
                              m.base = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"write_memory.base",
                          [](uint32_t v) {
                              WriteMemory m;
                              m.base = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"read_host.offset_high",
                          [](uint32_t v) {
                              ReadHost m;
                              m.offset_high = static_cast<uint16_t>(v);
                              return m.encode();
                          },
                          0xfff},
                    Limit{"fence.unit",
                          [](uint32_t v) {
                              Fence m;
                              m.unit = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"read_weights.base",
                          [](uint32_t v) {
                              ReadWeights m;
                              m.base = byte(v);
                              return m.encode();
                          },
                          15},
                    Limit{"matmul.k_start",
                          [](uint32_t v) {
                              Matmul m;
                              m.k_start = v;
                              return m.encode();
                          },
                          0xfffff},
                    Limit{"matmul.k_len",
                          [](uint32_t v) {
                              Matmul m;
                              m.k_len = static_cast<uint16_t>(v);
                              return m.encode();
                          },
                          0xfff},
                    Limit{"matmul.new_weights",
                          [](uint32_t v) {
                              Matmul m;
                              m.new_weights = byte(v);
                              return m.encode();
                          },
                          1},
                    Limit{"matmul.accumulate",
                          [](uint32_t v) {
                              Matmul m;
                              m.accumulate = byte(v);
                              return m.encode();
                          },
                          1},
                    Limit{"requantise.rounding",
                          [](uint32_t v) {
                              Requantise m;
                              m.rounding = byte(v);
                              return m.encode();
                          },
                          1},
                    Limit{"map.operands",
                          [](uint32_t v) {
                              Map m;
                              m.operands = byte(v);
                              return m.encode();
                          },
                          3},
                    Limit{"reduce.axes",
                          [](uint32_t v) {
                              Reduce m;
                              m.axes = byte(v);
                              return m.encode();
                          },
                          0x3f},
                    Limit{"set_view.type",
                          [](uint32_t v) {
                              SetView m;
                              m.type = byte(v);
                              return m.encode();
                          },
                          7}));

}  // namespace
}  // namespace tandem::isa
