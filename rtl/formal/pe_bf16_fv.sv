// SPDX-License-Identifier: Apache-2.0
// One bf16 PE beside its specification, whatever product and sum compute: registers of the same
// meaning that see the inputs only. They have to be equal after every edge.

module pe_bf16_fv #(
  parameter int unsigned RegisterAct  = 1,
  parameter int unsigned RegisterPsum = 1,
  parameter int unsigned Addend       = 1
) (
  input logic        clk_i,
  input logic        rows_active_i, swap_active_i, swap_i, load_active_i, load_i,
  input logic [15:0] act_i, shadow_i,
  input logic [31:0] psum_i, group_i
);

  logic rst_ni = 1'b0;
  always_ff @(posedge clk_i) rst_ni <= 1'b1;

  logic [15:0] act_o, shadow_o;
  logic [31:0] psum_o, product_o;
  logic        swap_o, load_o;

  tpu_pe #(
    .Dtype (1), .RegisterAct (RegisterAct), .RegisterPsum (RegisterPsum), .Addend (Addend)
  ) u_pe (
    .clk_i, .rst_ni, .rows_active_i, .act_i, .act_o, .psum_i, .psum_o, .product_o,
    .group_i, .swap_active_i, .swap_i, .swap_o, .load_active_i, .load_i, .load_o, .shadow_i,
    .shadow_o
  );

  (* keep *) logic [15:0] weight_probe;

  logic [15:0] act, weight, shadow;
  logic [31:0] psum;
  logic        swap, load;

  // What the outputs have to be: the register, or the value itself where there is none.
  logic [15:0] act_out;
  logic [31:0] sum, psum_out;
  logic        swap_out, load_out;
  assign act_out  = (RegisterAct == 1) ? act : act_i;
  assign swap_out = (RegisterAct == 1) ? swap : swap_i;
  assign load_out = (RegisterAct == 1) ? load : load_i;
  assign sum      = (Addend == 0) ? psum_i :
                    tpu_bf16_pkg::sum(psum_i, (Addend == 1) ? tpu_bf16_pkg::product(act_out, weight) : group_i);
  assign psum_out = (RegisterPsum == 1) ? psum : sum;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      // The data registers have no reset: the specification begins with what is in them.
      act    <= act_o;
      weight <= weight_probe;
      shadow <= shadow_o;
      psum   <= psum_o;
      swap   <= 1'b0;
      load   <= 1'b0;
    end else begin
      if (rows_active_i) act <= act_i;
      if (rows_active_i) psum <= sum;
      if (swap_active_i && swap_i) weight <= shadow;
      if (load_active_i && load_i) shadow <= shadow_i;
      if (swap_active_i) swap <= swap_i;
      if (load_active_i) load <= load_i;
    end
  end

  always_comb begin
    if (!rst_ni) begin
      assume (!rows_active_i && !swap_active_i && !load_active_i);
    end else begin
      assert (act_o == act_out);
      assert (weight_probe == weight);
      assert (shadow_o == shadow);
      assert (psum_o == psum_out);
      assert (swap_o == swap_out);
      assert (load_o == load_out);
    end
  end

endmodule
