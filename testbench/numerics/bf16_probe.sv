// SPDX-License-Identifier: Apache-2.0
// The functions of tpu_bf16_pkg at ports, for the comparison with MPFR.
module bf16_probe
  import tpu_bf16_pkg::*;
(
  input  logic [15:0] product_a_i,
  input  logic [15:0] product_b_i,
  output logic [31:0] product_o,

  input  logic [31:0] sum_a_i,
  input  logic [31:0] sum_b_i,
  output logic [31:0] sum_o,

  input  logic        sum4_valid_i,  // low: not computed, which saves most of the time
  input  logic [31:0] sum4_a_i,
  input  logic [31:0] sum4_b_i,
  input  logic [31:0] sum4_c_i,
  input  logic [31:0] sum4_d_i,
  output logic [31:0] sum4_o
);

  assign product_o = product(product_a_i, product_b_i);
  assign sum_o     = sum(sum_a_i, sum_b_i);

  always_comb begin
    sum4_o = '0;
    if (sum4_valid_i) sum4_o = sum4(sum4_a_i, sum4_b_i, sum4_c_i, sum4_d_i);
  end

endmodule
