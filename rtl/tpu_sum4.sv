// SPDX-License-Identifier: Apache-2.0
// Adds the products of four PEs of a column exactly, with one rounding (bf16 only).
// Latency: none.

module tpu_sum4 (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  input  logic [31:0] c_i,
  input  logic [31:0] d_i,
  output logic [31:0] sum_o
);

  assign sum_o = tpu_bf16_pkg::sum4(a_i, b_i, c_i, d_i);

endmodule
