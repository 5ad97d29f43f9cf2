// SPDX-License-Identifier: Apache-2.0
// Drives the pins of a Verilated MAC array: out = a * w over two weight tiles, the second one added
// to the first, checked against plain loops. Exit status 0: every sum is right.
// All values are small whole numbers, which bf16 and fp32 hold exactly.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <systemc>

#include "array_config.h"

using namespace sc_core;
using sc_dt::sc_bv;

namespace {

constexpr unsigned kTiles = 2;
constexpr unsigned kRows = array::kAccDepth < 16 ? array::kAccDepth : 16;  // of the product

int activation(unsigned row, unsigned k) { return static_cast<int>((7 * row + 3 * k) % 11) - 5; }
int weight(unsigned k, unsigned col) { return static_cast<int>((5 * k + 2 * col) % 9) - 4; }

/// An element at the pins: int8, or bf16, which is the upper half of an fp32.
uint32_t element(int value) {
    if (!array::kBf16) return static_cast<uint8_t>(value);
    const float number = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits >> 16;
}

/// The sum `value` at the pins: int32 or fp32.
uint32_t sum_of(int value) {
    if (!array::kBf16) return static_cast<uint32_t>(value);
    const float number = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

SC_MODULE(Bench) {
    array::Array dut{"dut"};
    sc_clock clk{"clk", sc_time(10, SC_NS), 0.5, sc_time(10, SC_NS)};
    // High first: the reset begins with a falling edge, before the first edge of the clock.
    sc_signal<bool> rst_n{"rst_n", true};
    sc_signal<bool> wgt_valid{"wgt_valid"}, wgt_ready{"wgt_ready"};
    sc_signal<bool> act_valid{"act_valid"}, act_ready{"act_ready"}, act_swap{"act_swap"};
    sc_signal<bool> act_accumulate{"act_accumulate"}, cmt_valid{"cmt_valid"};
    sc_signal<bool> rd_valid{"rd_valid"}, rd_ready{"rd_ready"}, res_valid{"res_valid"};
    sc_signal<bool> res_ready{"res_ready"}, busy{"busy"};
    sc_signal<array::Weights> wgt_data{"wgt_data"};
    sc_signal<array::Activations> act_data{"act_data"};
    sc_signal<array::Address> act_addr{"act_addr"}, cmt_addr{"cmt_addr"}, rd_addr{"rd_addr"};
    sc_signal<array::Sums> cmt_data{"cmt_data"}, res_data{"res_data"};
    unsigned wrong = 0, edges = 0;
    bool done = false;

    SC_CTOR(Bench) {
        dut.clk_i(clk);
        dut.rst_ni(rst_n);
        dut.wgt_valid_i(wgt_valid);
        dut.wgt_ready_o(wgt_ready);
        dut.wgt_data_i(wgt_data);
        dut.act_valid_i(act_valid);
        dut.act_ready_o(act_ready);
        dut.act_data_i(act_data);
        dut.act_swap_i(act_swap);
        dut.act_addr_i(act_addr);
        dut.act_accumulate_i(act_accumulate);
        dut.cmt_valid_o(cmt_valid);
        dut.cmt_addr_o(cmt_addr);
        dut.cmt_data_o(cmt_data);
        dut.rd_valid_i(rd_valid);
        dut.rd_ready_o(rd_ready);
        dut.rd_addr_i(rd_addr);
        dut.res_valid_o(res_valid);
        dut.res_ready_i(res_ready);
        dut.res_data_o(res_data);
        dut.busy_o(busy);
        SC_THREAD(run);
        sensitive << clk.posedge_event();
    }

    static array::Address address(unsigned row) {
        array::Address pins;
        pins = row;
        return pins;
    }

    /// What is read right after it are the outputs as they stood before the edge.
    void edge() {
        wait();
        ++edges;
    }

    /// Row Rows-1 of the tile first.
    void load_tile(unsigned tile) {
        for (unsigned left = array::kRows; left > 0; --left) {
            array::Weights beat;
            for (unsigned col = 0; col < array::kCols; ++col)
                beat.range((col + 1) * array::kElementBits - 1, col * array::kElementBits) =
                    element(weight(tile * array::kRows + left - 1, col));
            wgt_data.write(beat);
            wgt_valid.write(true);
            do edge();
            while (!wgt_ready.read());
        }
        wgt_valid.write(false);
    }

    /// The first row swaps the tile in; rows of later tiles are added to what is there.
    void send_rows(unsigned tile) {
        for (unsigned row = 0; row < kRows; ++row) {
            array::Activations values;
            for (unsigned k = 0; k < array::kRows; ++k)
                values.range((k + 1) * array::kElementBits - 1, k * array::kElementBits) =
                    element(activation(row, tile * array::kRows + k));
            act_data.write(values);
            act_addr.write(address(row));
            act_swap.write(row == 0);
            act_accumulate.write(tile > 0);
            act_valid.write(true);
            do edge();
            while (!act_ready.read());
        }
        act_valid.write(false);
        act_swap.write(false);
    }

    void check_row(unsigned row) {
        rd_addr.write(address(row));
        rd_valid.write(true);
        res_ready.write(true);
        do edge();
        while (!rd_ready.read());
        rd_valid.write(false);
        do edge();
        while (!res_valid.read());
        for (unsigned col = 0; col < array::kCols; ++col) {
            int expected = 0;
            for (unsigned k = 0; k < kTiles * array::kRows; ++k)
                expected += activation(row, k) * weight(k, col);
            const uint32_t found = res_data.read().range(col * 32 + 31, col * 32).to_uint();
            if (found == sum_of(expected)) continue;
            std::cerr << "row " << row << ", column " << col << ": expected " << sum_of(expected)
                      << ", the array has " << found << '\n';
            ++wrong;
        }
    }

    void run() {
        rst_n.write(false);
        edge();
        edge();
        rst_n.write(true);
        edge();
        for (unsigned tile = 0; tile < kTiles; ++tile) {
            load_tile(tile);
            send_rows(tile);
        }
        do edge();
        while (busy.read());
        for (unsigned row = 0; row < kRows; ++row) check_row(row);
        done = true;
        sc_stop();
    }
};

}  // namespace

int sc_main(int, char**) {
    Bench bench("bench");
    sc_start(sc_time(100, SC_MS));
    if (!bench.done) std::cerr << "the array does not go on\n";
    std::cout << array::kRows << 'x' << array::kCols << (array::kBf16 ? " bf16: " : " int8: ")
              << bench.wrong << " of " << kRows * array::kCols << " sums are wrong, " << bench.edges
              << " edges\n";
    return bench.done && bench.wrong == 0 ? 0 : 1;
}
