// SPDX-License-Identifier: Apache-2.0
#include "run/array_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "cosim/array_ports.h"

namespace tandem::run {
namespace {

struct Port {
    const char* direction;
    std::string name;
    uint32_t bits;
    const char* what;
};

uint32_t element_bits(const engine::MxuShape& shape) { return 8 * shape.element_bytes(); }

bool is_bf16(const engine::MxuShape& shape) { return shape.dtype == arch::Dtype::kBf16; }

std::vector<Port> ports_of(const engine::MxuShape& shape) {
    const uint32_t weights = shape.cols * element_bits(shape), sums = shape.cols * 32;
    const uint32_t activations = shape.rows * element_bits(shape),
                   address = cosim::address_bits(shape);
    return {{"input", "clk_i", 1, "rising edge"},
            {"input", "rst_ni", 1, "asynchronous, low"},
            {"input", "wgt_valid_i", 1, "a beat of weights: one row of a tile, the last row first"},
            {"output", "wgt_ready_o", 1, ""},
            {"input", "wgt_data_i", weights, "element of column c lowest for c = 0"},
            {"input", "act_valid_i", 1, "a row of activations"},
            {"output", "act_ready_o", 1, "depends on act_swap_i"},
            {"input", "act_data_i", activations, "element of row r of the tile lowest for r = 0"},
            {"input", "act_swap_i", 1, "the first row that uses the complete tile"},
            {"input", "act_addr_i", address, "accumulator row of the result"},
            {"input", "act_accumulate_i", 1, "add to it instead of replacing it"},
            {"output", "cmt_valid_o", 1, "an accumulator row was written at the last edge"},
            {"output", "cmt_addr_o", address, ""},
            {"output", "cmt_data_o", sums, "the row as written, 32 bits per column"},
            {"input", "rd_valid_i", 1, "read of an accumulator row"},
            {"output", "rd_ready_o", 1, "depends on res_ready_i"},
            {"input", "rd_addr_i", address, ""},
            {"output", "res_valid_o", 1, "its result; stays until it is taken"},
            {"input", "res_ready_i", 1, ""},
            {"output", "res_data_o", sums, "32 bits per column"},
            {"output", "busy_o", 1, "rows in flight, or a tile with some of its beats"}};
}

}  // namespace

std::string exported_top(const engine::MxuShape& shape) {
    std::string name =
        fmt::format("tpu_mxu_{}x{}_{}", shape.rows, shape.cols, arch::to_string(shape.dtype));
    if (shape.pipeline != 1) name += fmt::format("_k{}", shape.pipeline);
    return shape.sum4 ? name + "_sum4" : name;
}

std::string top_module(const engine::MxuShape& shape, const std::string& form) {
    std::string list;
    std::string connections;
    for (const Port& port : ports_of(shape)) {
        const std::string range = port.bits == 1 ? "" : fmt::format("[{}:0] ", port.bits - 1);
        list += fmt::format("{}  {:<6} logic {}{}", list.empty() ? "" : ",\n", port.direction,
                            range, port.name);
        connections += fmt::format("{}    .{}", connections.empty() ? "" : ",\n", port.name);
    }
    return fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// tpu_mxu with fixed parameters.\n\n"
        "module {} (\n{}\n);\n\n"
        "  tpu_mxu #(\n    .Rows     ({}),\n    .Cols     ({}),\n    .AccDepth ({}),\n"
        "    .Dtype    ({}),\n    .Pipeline ({}),\n    .Sum4     ({}),\n    .Form     ({})\n"
        "  ) u_mxu (\n{}\n  );\n\nendmodule\n",
        exported_top(shape), list, shape.rows, shape.cols, shape.accumulator_rows,
        is_bf16(shape) ? 1 : 0, shape.pipeline, shape.sum4 ? 1 : 0, form == "grid" ? 1 : 0,
        connections);
}

std::string with_int_parameters(const std::string& source) {
    constexpr std::string_view kUnsigned = "int unsigned";
    std::string text;
    for (size_t at = 0; at < source.size();) {
        const size_t end = std::min(source.find('\n', at), source.size() - 1) + 1;
        std::string line = source.substr(at, end - at);
        const size_t first = line.find_first_not_of(' '), type = line.find(kUnsigned);
        const bool parameter = first != line.npos && (line.compare(first, 9, "parameter") == 0 ||
                                                      line.compare(first, 10, "localparam") == 0);
        if (parameter && type != line.npos) line.replace(type, kUnsigned.size(), "int");
        text += line;
        at = end;
    }
    return text;
}

std::string verilog_figures(const engine::MxuShape& shape) {
    return fmt::format(
        "// SPDX-License-Identifier: Apache-2.0\n`define ARRAY_TOP {}\n`define ARRAY_ROWS {}\n"
        "`define ARRAY_COLS {}\n`define ARRAY_ACC_DEPTH {}\n`define ARRAY_BF16 {}\n",
        exported_top(shape), shape.rows, shape.cols, shape.accumulator_rows,
        is_bf16(shape) ? 1 : 0);
}

std::string systemc_figures(const engine::MxuShape& shape) {
    return fmt::format(
        R"(// SPDX-License-Identifier: Apache-2.0
// The array as a SystemC module, array::Array: one sc_in or sc_out per port, of these types.
#pragma once

#include <systemc>

#include "VArray.h"

namespace array {{

using Array = VArray;

constexpr unsigned kRows = {}, kCols = {}, kAccDepth = {};
constexpr unsigned kElementBits = {};
constexpr bool kBf16 = {};

using Weights = sc_dt::sc_bv<{}>;      // wgt_data_i
using Activations = sc_dt::sc_bv<{}>;  // act_data_i
using Sums = sc_dt::sc_bv<{}>;         // cmt_data_o, res_data_o
using Address = {};      // act_addr_i, cmt_addr_o, rd_addr_i

}}  // namespace array
)",
        shape.rows, shape.cols, shape.accumulator_rows, element_bits(shape), is_bf16(shape),
        shape.cols * element_bits(shape), shape.rows * element_bits(shape), shape.cols * 32,
        cosim::address_bits(shape) == 1
            ? std::string("bool")
            : fmt::format("sc_dt::sc_bv<{}>", cosim::address_bits(shape)));
}

std::string cmake_figures(const engine::MxuShape& shape, const std::vector<std::string>& sources) {
    return fmt::format(
        "# SPDX-License-Identifier: Apache-2.0\nset(ARRAY_TOP {})\nset(ARRAY_SOURCES\n  {})\n",
        exported_top(shape), fmt::join(sources, "\n  "));
}

std::string ports_page(const engine::MxuShape& shape) {
    std::string text = "| port | direction | bits | |\n|---|---|---|---|\n";
    for (const Port& port : ports_of(shape))
        text += fmt::format("| `{}` | {} | {} | {} |\n", port.name, port.direction, port.bits,
                            port.what);
    const auto timing = engine::timing(shape);
    return text +
           fmt::format(
               "\nA beat is accepted at a rising edge at which its valid and ready are high; a "
               "ready "
               "does not depend on its valid. `out[c]` = sum over r of `act[r] * weight[r][c]`.\n\n"
               "A row that is accepted at edge t is written to its accumulator row at edge t + {}; "
               "one row, one beat of weights and one read can be accepted at every edge. A tile "
               "may "
               "be swapped in {} edge after its last beat. The result of a read stands at `res_*` "
               "after the edge that accepts it. A row with a commit in flight must not be read.\n",
               timing.commit_latency, timing.weight_latency);
}

}  // namespace tandem::run
