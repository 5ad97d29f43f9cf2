// SPDX-License-Identifier: Apache-2.0
// Drives an array with a file of vectors (tandem verify --vectors FILE) and compares all of its
// outputs at every edge; beside it stands the checker of the port contract. Ends with $finish when
// everything was as the file says, else with $fatal and the first port that was not. For Icarus
// Verilog 11, Verilator 5 and any simulator with SystemVerilog.
//
//   +vectors=FILE   at run time
//   parameters      sizes and latencies, as the third line of FILE has them; Lines: words of FILE at most
//   TPU_INSTANCE    module and parameters of the array, where it is not tpu_mxu in grid form
//   TPU_CONTRACT_ALONE   defined: nothing is compared, the checker judges alone
//
// Inputs change while the clock is low; readies are looked at before the rising edge, the other
// outputs after it.

`timescale 1ns/1ps
`ifndef TPU_INSTANCE
`define TPU_INSTANCE tpu_mxu #(.Rows(Rows), .Cols(Cols), .AccDepth(AccDepth), .Dtype(Dtype), .Form(1))
`endif

// The array and the checker have the same ports, and see the same.
`define TPU_PORTS \
  .clk_i            (clk), \
  .rst_ni           (inputs[0]), \
  .wgt_valid_i      (inputs[1]), \
  .wgt_ready_o      (wgt_ready), \
  .wgt_data_i       (wgt_data), \
  .act_valid_i      (inputs[2]), \
  .act_ready_o      (act_ready), \
  .act_data_i       (act_data), \
  .act_swap_i       (inputs[3]), \
  .act_addr_i       (acc_addr[AccAddrW-1:0]), \
  .act_accumulate_i (inputs[4]), \
  .cmt_valid_o      (cmt_valid), \
  .cmt_addr_o       (cmt_addr_o), \
  .cmt_data_o       (cmt_data_o), \
  .rd_valid_i       (inputs[5]), \
  .rd_ready_o       (rd_ready), \
  .rd_addr_i        (rd_addr[AccAddrW-1:0]), \
  .res_valid_o      (res_valid), \
  .res_ready_i      (inputs[6]), \
  .res_data_o       (res_data_o), \
  .busy_o           (busy)

module tpu_vector_bench #(
  parameter int Rows           = 2,
  parameter int Cols           = 2,
  parameter int AccDepth       = 4,
  parameter int Dtype          = 0,
  parameter int CommitLatency  = Rows + Cols + 1,
  parameter int WeightInterval = 1,
  parameter int WeightLatency  = 1,
  parameter int Lines          = 65536
);

  localparam int ElemW    = (Dtype == 1) ? 16 : 8;
  localparam int AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1;
  localparam int FieldW   = (AccAddrW + 3) / 4 * 4;  // an address in the file: whole digits

  // One word: what stands at the inputs, what is defined of the outputs, what they show. The first
  // word of a file has the sizes instead: type, edges, accumulator rows, columns, rows.
  localparam int Width = 8 + 2 * FieldW + (Cols + Rows) * ElemW + 4 + 8 + FieldW + 2 * Cols * 32;

  logic [Width-1:0] words [Lines];
  logic [Width-1:0] word;
  logic [1023:0]    file;
  int               edges;

  logic [7:0]            inputs, outputs;
  logic [3:0]            defined;
  logic [FieldW-1:0]     acc_addr, rd_addr, cmt_addr;
  logic [Cols*ElemW-1:0] wgt_data;
  logic [Rows*ElemW-1:0] act_data;
  logic [Cols*32-1:0]    cmt_data, res_data;

  assign {inputs, acc_addr, rd_addr, wgt_data, act_data, defined, outputs, cmt_addr, cmt_data, res_data} = word;

  logic                clk = 1'b0;
  logic                wgt_ready, act_ready, rd_ready, cmt_valid, res_valid, busy;
  logic [AccAddrW-1:0] cmt_addr_o;
  logic [Cols*32-1:0]  cmt_data_o, res_data_o;

  `TPU_INSTANCE dut (`TPU_PORTS);

  tpu_port_contract #(
    .Rows           (Rows),
    .Cols           (Cols),
    .AccDepth       (AccDepth),
    .Dtype          (Dtype),
    .CommitLatency  (CommitLatency),
    .WeightInterval (WeightInterval),
    .WeightLatency  (WeightLatency),
    .KeepRows       (1)
  ) u_port_contract (`TPU_PORTS);

`ifndef TPU_CONTRACT_ALONE
`define TPU_PORT(NAME, FOUND, EXPECTED) \
  if ((FOUND) !== (EXPECTED)) $fatal(1, "%s at edge %0d: expected %0h, found %0h", NAME, edge_number, EXPECTED, FOUND);
`else
`define TPU_PORT(NAME, FOUND, EXPECTED) ;
`endif

  task automatic check_readies(input int edge_number);
    `TPU_PORT("wgt_ready_o", wgt_ready, outputs[0])
    `TPU_PORT("act_ready_o", act_ready, outputs[1])
    `TPU_PORT("rd_ready_o", rd_ready, outputs[2])
  endtask

  task automatic check_outputs(input int edge_number);
    `TPU_PORT("cmt_valid_o", cmt_valid, outputs[3])
    if (defined[0]) `TPU_PORT("cmt_addr_o", cmt_addr_o, cmt_addr[AccAddrW-1:0])
    if (defined[1]) `TPU_PORT("cmt_data_o", cmt_data_o, cmt_data)
    `TPU_PORT("res_valid_o", res_valid, outputs[4])
    if (defined[2]) `TPU_PORT("res_data_o", res_data_o, res_data)
    `TPU_PORT("busy_o", busy, outputs[5])
  endtask

  task automatic reset_array;
    word = '0;
    word[Width-8] = 1'b1;  // rst_ni falls before the first edge
    #5 word[Width-8] = 1'b0;
    repeat (2) begin
      #5 clk = 1'b1;
      #5 clk = 1'b0;
    end
  endtask

  initial begin
    if (!$value$plusargs("vectors=%s", file)) $fatal(1, "which vectors? +vectors=FILE");
    $readmemh(file, words);
    word  = words[0];
    edges = word[64 +: 32];
    if (word[99:0] !== {4'(Dtype), 32'(edges), 32'(AccDepth), 16'(Cols), 16'(Rows)})
      $fatal(1, "the file is for %0d x %0d, %0d accumulator rows, type %0d: give these parameters",
             word[15:0], word[31:16], word[63:32], word[99:96]);
    if (edges >= Lines) $fatal(1, "the file has %0d edges: Lines has to be %0d or more", edges, edges + 1);
    reset_array();
    for (int n = 0; n < edges; n++) begin
      word = words[n + 1];
      #5 check_readies(n);
      clk = 1'b1;
      #5 check_outputs(n);
      clk = 1'b0;
    end
    $display("%0dx%0d %s: %0d edges, every port as the vectors say", Rows, Cols, (Dtype == 1) ? "bf16" : "int8", edges);
    $finish;
  end

endmodule
