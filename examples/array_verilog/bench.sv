// SPDX-License-Identifier: Apache-2.0
// Drives the ports of a MAC array: out = a * w over two weight tiles, the second one added to the
// first, checked against plain loops; ends with $finish when every sum is right, else with $fatal.
// All values are small whole numbers, which bf16 and fp32 hold exactly. Inputs change at falling
// edges. For Icarus Verilog 11 and any simulator with SystemVerilog.

`timescale 1ns/1ps
`include "array_parameters.vh"

module bench;

  localparam int Rows     = `ARRAY_ROWS;
  localparam int Cols     = `ARRAY_COLS;
  localparam int AccDepth = `ARRAY_ACC_DEPTH;
  localparam int Bf16     = `ARRAY_BF16;
  localparam int ElemW    = (Bf16 == 1) ? 16 : 8;
  localparam int AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1;
  localparam int Tiles    = 2;
  localparam int Count    = (AccDepth < 16) ? AccDepth : 16;  // rows of the product
  localparam int Limit    = 1000000;                          // edges

  logic                  clk = 1'b0, rst_n = 1'b0;
  logic                  wgt_valid = 1'b0, wgt_ready;
  logic [Cols*ElemW-1:0] wgt_data = '0;
  logic                  act_valid = 1'b0, act_ready, act_swap = 1'b0, act_accumulate = 1'b0;
  logic [Rows*ElemW-1:0] act_data = '0;
  logic [AccAddrW-1:0]   act_addr = '0, cmt_addr, rd_addr = '0;
  logic                  cmt_valid, rd_valid = 1'b0, rd_ready, res_valid, res_ready = 1'b0, busy;
  logic [Cols*32-1:0]    cmt_data, res_data;

  int edges = 0, wrong = 0;

  `ARRAY_TOP dut (
    .clk_i            (clk),
    .rst_ni           (rst_n),
    .wgt_valid_i      (wgt_valid),
    .wgt_ready_o      (wgt_ready),
    .wgt_data_i       (wgt_data),
    .act_valid_i      (act_valid),
    .act_ready_o      (act_ready),
    .act_data_i       (act_data),
    .act_swap_i       (act_swap),
    .act_addr_i       (act_addr),
    .act_accumulate_i (act_accumulate),
    .cmt_valid_o      (cmt_valid),
    .cmt_addr_o       (cmt_addr),
    .cmt_data_o       (cmt_data),
    .rd_valid_i       (rd_valid),
    .rd_ready_o       (rd_ready),
    .rd_addr_i        (rd_addr),
    .res_valid_o      (res_valid),
    .res_ready_i      (res_ready),
    .res_data_o       (res_data),
    .busy_o           (busy)
  );

  always #5 clk = ~clk;

  always @(posedge clk) begin
    edges <= edges + 1;
    if (edges > Limit) $fatal(1, "the array does not go on");
  end

  function automatic int activation(input int row, input int k);
    activation = (7 * row + 3 * k) % 11 - 5;
  endfunction

  function automatic int weight(input int k, input int col);
    weight = (5 * k + 2 * col) % 9 - 4;
  endfunction

  // A whole number below 2^24 as fp32.
  function automatic logic [31:0] fp32(input int value);
    logic [31:0] magnitude;
    int          exponent;
    magnitude = (value < 0) ? -value : value;
    exponent  = 127 + 23;
    fp32      = 32'd0;
    if (value != 0) begin
      while (magnitude < 32'h0080_0000) begin
        magnitude = magnitude << 1;
        exponent  = exponent - 1;
      end
      fp32 = {value < 0, exponent[7:0], magnitude[22:0]};
    end
  endfunction

  function automatic logic [ElemW-1:0] element(input int value);
    logic [31:0] bits;
    bits    = (Bf16 == 1) ? fp32(value) >> 16 : value;
    element = bits[ElemW-1:0];
  endfunction

  int tile, n, k, col, expected;
  logic [31:0] sum;

  initial begin
    repeat (3) @(negedge clk);
    rst_n = 1'b1;
    @(negedge clk);
    for (tile = 0; tile < Tiles; tile = tile + 1) begin
      // Row Rows-1 of the tile first
      for (n = Rows - 1; n >= 0; n = n - 1) begin
        for (col = 0; col < Cols; col = col + 1)
          wgt_data[col*ElemW +: ElemW] = element(weight(tile * Rows + n, col));
        wgt_valid = 1'b1;
        #1;
        while (!wgt_ready) begin @(negedge clk); #1; end
        @(negedge clk);
      end
      wgt_valid = 1'b0;
      // The first row swaps the tile in; rows of later tiles are added to what is there.
      for (n = 0; n < Count; n = n + 1) begin
        for (k = 0; k < Rows; k = k + 1)
          act_data[k*ElemW +: ElemW] = element(activation(n, tile * Rows + k));
        act_addr       = n;
        act_swap       = n == 0;
        act_accumulate = tile > 0;
        act_valid      = 1'b1;
        #1;
        while (!act_ready) begin @(negedge clk); #1; end
        @(negedge clk);
      end
      act_valid = 1'b0;
      act_swap  = 1'b0;
    end
    while (busy) @(negedge clk);
    res_ready = 1'b1;
    for (n = 0; n < Count; n = n + 1) begin
      rd_addr  = n;
      rd_valid = 1'b1;
      @(negedge clk);
      if (res_valid !== 1'b1) $fatal(1, "a read without a result");
      for (col = 0; col < Cols; col = col + 1) begin
        expected = 0;
        for (k = 0; k < Tiles * Rows; k = k + 1)
          expected = expected + activation(n, k) * weight(k, col);
        sum = (Bf16 == 1) ? fp32(expected) : expected;
        if (res_data[col*32 +: 32] !== sum) begin
          $display("row %0d, column %0d: expected %h, the array has %h", n, col, sum,
                   res_data[col*32 +: 32]);
          wrong = wrong + 1;
        end
      end
    end
    $display("%0dx%0d %s: %0d of %0d sums are wrong, %0d edges", Rows, Cols,
             (Bf16 == 1) ? "bf16" : "int8", wrong, Count * Cols, edges);
    if (wrong != 0) $fatal(1, "wrong sums");
    $finish;
  end

endmodule
