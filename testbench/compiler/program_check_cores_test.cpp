// SPDX-License-Identifier: Apache-2.0
// The check of programs for two cores.
#include <gtest/gtest.h>

#include "testbench/compiler/checked_product.h"

namespace tandem::testbench {
namespace {

isa::Header to_core(uint32_t core, uint32_t flag) {
    return {.signal_b = static_cast<uint8_t>(flag), .core = static_cast<uint8_t>(core + 1)};
}

/// The product on core 0, and a program of nops, fences and transfers on core 1.
arch::Program with_second(const Product& product, std::vector<isa::Words> second) {
    arch::Program program = product.program();
    second.push_back(isa::Halt{}.encode());
    auto& core = program.cores.emplace_back();
    core.instructions = std::move(second);
    core.sources.resize(core.instructions.size());
    return program;
}

arch::ChipConfig two_cores() {
    arch::ChipConfig chip = chip8();
    chip.cores = 2;
    return chip;
}

TEST(ProgramCheckCores, TakesFlagsThatCross) {
    Product product;
    product.after = {isa::Nop{.header = to_core(1, 9)}.encode(), nop(8, 0)};
    const auto program =
        with_second(product, {nop(9, 0), isa::Nop{.header = to_core(0, 8)}.encode()});
    EXPECT_EQ(refusal(two_cores(), program), "");
    EXPECT_NE(refusal(chip8(), program).find("programs of 1 to 1 cores"), std::string::npos);
}

TEST(ProgramCheckCores, RefusesADeadlockOverCores) {
    Product product;
    product.after = {nop(8, 0), isa::Nop{.header = to_core(1, 9)}.encode()};
    EXPECT_NE(refusal(two_cores(),
                      with_second(product, {nop(9, 0), isa::Nop{.header = to_core(0, 8)}.encode()}))
                  .find("core 0 instruction 6 (nop): expected a program without deadlock"),
              std::string::npos);
}

TEST(ProgramCheckCores, RefusesAFlagOfACoreThatIsNotThereAndOneThatIsLeft) {
    Product product;
    EXPECT_NE(
        refusal(two_cores(), with_second(product, {isa::Nop{.header = to_core(2, 8)}.encode()}))
            .find("core 1 instruction 0 (nop): expected signals to cores of the program"),
        std::string::npos);
    EXPECT_NE(
        refusal(two_cores(), with_second(product, {isa::Nop{.header = to_core(0, 8)}.encode()}))
            .find("no flag left over, found 1 of flag 8"),
        std::string::npos);
}

TEST(ProgramCheckCores, WhatAnotherCoreHasWrittenMayBeRead) {
    Product product;
    isa::WriteMemory spill{.header = to_core(1, 9), .offset = 600, .bytes = 32, .base = 1};
    product.after = {spill.encode()};
    isa::ReadMemory back{
        .header = {.wait_a = 9}, .ub_addr = 64, .offset = 600, .bytes = 32, .base = 1};
    EXPECT_EQ(refusal(two_cores(), with_second(product, {back.encode()})), "");
    back.bytes = 33;
    EXPECT_NE(
        refusal(two_cores(), with_second(product, {back.encode()})).find("what was written before"),
        std::string::npos);
}

TEST(ProgramCheckCores, AllOfThemTogetherWriteTheOutputs) {
    Product product;
    product.output.bytes = 20;
    EXPECT_NE(refusal(two_cores(), with_second(product, {})).find("none of byte 20"),
              std::string::npos);
    const isa::WriteHost rest{.header = {}, .ub_addr = 0, .offset = 20, .bytes = 20, .base = 3};
    EXPECT_EQ(refusal(two_cores(), with_second(product, {rest.encode()})), "");
}

/// Knowledge of a drain goes through another core and back.
TEST(ProgramCheckCores, AFlagThereAndBackOrdersAMatmulBehindADrain) {
    Product product;
    product.drain.header.signal_b = 9;
    product.drain.header.core = 2;
    isa::Matmul again = product.matmul;
    again.header = {.wait_a = 8};
    again.new_weights = 0;
    product.after = {again.encode()};
    EXPECT_EQ(
        refusal(two_cores(),
                with_second(product, {nop(9, 0), isa::Nop{.header = to_core(0, 8)}.encode()})),
        "");
}

}  // namespace
}  // namespace tandem::testbench
