// SPDX-License-Identifier: Apache-2.0
// Stands in for tpu_bf16_pkg where a proof is about what the functions are applied to, not about what
// they compute: scripts/formal makes uninterpreted functions of these operators.

package tpu_bf16_pkg;

  function automatic logic [31:0] product(input logic [15:0] a, input logic [15:0] b);
    product = {16'd0, a} * {16'd0, b};
  endfunction

  function automatic logic [31:0] sum(input logic [31:0] a, input logic [31:0] b);
    sum = a / b;
  endfunction

  function automatic logic [31:0] sum4(input logic [31:0] a, input logic [31:0] b,
                                       input logic [31:0] c, input logic [31:0] d);
    sum4 = (a % b) % (c % d);
  endfunction

endpackage
