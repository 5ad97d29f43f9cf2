// SPDX-License-Identifier: Apache-2.0
// The product of an int8 PE against shifts and additions, for all pairs of operands.

module int8_product_fv (
  input logic       clk_i,
  input logic       swap_i, load_i,
  input logic [7:0] act_i, shadow_i
);

  logic [7:0]  act_o, shadow_o;
  logic [31:0] psum_o, product_o;
  logic        swap_o, load_o;

  tpu_pe u_pe (
    .clk_i, .rst_ni (1'b1), .rows_active_i (1'b1), .act_i, .act_o, .psum_i (32'd0), .psum_o,
    .product_o, .group_i (32'd0), .swap_active_i (1'b1), .swap_i, .swap_o,
    .load_active_i (1'b1), .load_i, .load_o, .shadow_i, .shadow_o
  );

  (* keep *) logic [7:0] weight_probe;

  function automatic logic [31:0] times(input logic [7:0] a, input logic [7:0] w);
    logic [31:0] wide;
    wide  = {{24{w[7]}}, w};
    times = a[7] ? 32'd0 - (wide << 7) : 32'd0;
    for (int i = 0; i < 7; i++) times = times + (a[i] ? wide << i : 32'd0);
  endfunction

  always_comb assert (product_o == times(act_o, weight_probe));

endmodule
