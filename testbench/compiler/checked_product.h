// SPDX-License-Identifier: Apache-2.0
// A product as a program that the check takes; tests spoil one of its parts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/program_check.h"
#include "base/error.h"
#include "testbench/compiler/test_chips.h"
#include "testbench/support/chip_programs.h"

namespace tandem::testbench {

/// Why a program is refused; empty: it is not.
inline std::string refusal(const arch::ChipConfig& chip, const arch::Program& program) {
    try {
        arch::check_program(chip, program, "p.tpu");
        return {};
    } catch (const UserError& error) {
        return error.what();
    }
}

inline arch::ChipConfig chip8() {
    arch::ChipConfig chip = test_chip(8, 4);
    chip.unified_buffer_bytes = 4096;
    chip.mxu.accumulator_rows = 64;
    chip.mxu.weight_fifo_tiles = 2;
    chip.memory.bytes = 1 << 20;
    chip.sequencer.queue_entries = 4;
    return chip;
}

/// 10 rows of 8 bytes times one tile; the parts are public, for a test spoils one of them.
struct Product {
    isa::ReadHost input{
        .header = {.signal_a = 1}, .ub_addr = 0, .offset = 0, .bytes = 80, .base = 2};
    isa::ReadWeights weights{.header = {}, .offset = 0, .tiles = 1, .base = 1};
    isa::SetWindow window{.header = {}, .geometry = testbench::matrix_window(10, 8)};
    isa::Matmul matmul{.header = {.wait_a = 1, .signal_a = 2},
                       .ub_addr = 0,
                       .row_start = 0,
                       .rows = 10,
                       .acc_addr = 0,
                       .k_start = 0,
                       .k_len = 8,
                       .n_len = 4,
                       .new_weights = 1};
    isa::Requantise drain{.header = {.wait_a = 2, .signal_a = 3},
                          .ub_addr = 1024,
                          .params_addr = 2048,
                          .acc_addr = 0,
                          .rows = 10,
                          .row_stride = 4,
                          .cols = 4};
    isa::WriteHost output{
        .header = {.wait_a = 3}, .ub_addr = 1024, .offset = 0, .bytes = 40, .base = 3};
    std::vector<isa::Words> before, between, after;  ///< the product; its drain; everything
    std::function<void(arch::Program&)> change = [](arch::Program&) {};

    arch::Program program() const {
        arch::Program p;
        p.rounding = "single";
        p.data.resize(512);
        auto& code = p.cores.emplace_back().instructions;
        code = before;
        for (const isa::Words& words :
             {input.encode(), weights.encode(), window.encode(), matmul.encode()})
            code.push_back(words);
        code.insert(code.end(), between.begin(), between.end());
        code.push_back(drain.encode());
        code.push_back(output.encode());
        code.insert(code.end(), after.begin(), after.end());
        code.push_back(isa::Halt{}.encode());
        p.cores[0].sources.resize(code.size());
        p.inputs = {{"in", {1, 80}, 1.0f, 0, 80}};
        p.outputs = {{"out", {10, 4}, 1.0f, 0, 40}};
        p.nodes = {{0,
                    "FULLY_CONNECTED",
                    "out",
                    320,
                    arch::ProgramNode::Place::kBuffer,
                    1024,
                    40,
                    {{0, 4, 0, 40}}}};
        change(p);
        return p;
    }
};

inline isa::Words nop(uint8_t wait, uint8_t signal) {
    return isa::Nop{.header = {.wait_a = wait, .signal_a = signal}}.encode();
}

}  // namespace tandem::testbench
