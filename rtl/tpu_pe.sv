// SPDX-License-Identifier: Apache-2.0
// One processing element: psum = psum from above + activation * weight, with a shadow weight.
// Latency: activation, swap and load tags take effect at the edge at which they arrive; the partial
// sum of what stands in act_q and weight_q is in psum_q one edge later.
// Without a register (RegisterAct, RegisterPsum 0) the net of that name is a wire.

module tpu_pe #(
  parameter  int unsigned Dtype        = 0,  // 0: int8, int32 sums; 1: bf16, fp32 sums
  parameter  int unsigned RegisterAct  = 1,  // registers of the activation and of the two tags
  parameter  int unsigned RegisterPsum = 1,
  parameter  int unsigned Addend       = 1,  // added to psum_i: 0: nothing, 1: product_o, 2: group_i
  localparam int unsigned ElemW        = (Dtype == 1) ? 16 : 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  // A row: the activation and its swap tag move right, the partial sum moves down
  input  logic             rows_active_i,
  input  logic [ElemW-1:0] act_i,
  output logic [ElemW-1:0] act_o,
  input  logic [31:0]      psum_i,
  output logic [31:0]      psum_o,
  output logic [31:0]      product_o,
  input  logic [31:0]      group_i,        // sum of four products
  input  logic             swap_active_i,
  input  logic             swap_i,         // from this row on, the shadow weight is the weight
  output logic             swap_o,

  // A weight beat: the tag moves right, the weight moves down
  input  logic             load_active_i,
  input  logic             load_i,         // take shadow_i
  output logic             load_o,
  input  logic [ElemW-1:0] shadow_i,
  output logic [ElemW-1:0] shadow_o
);

  logic [ElemW-1:0] act_q, weight_q, shadow_q;
  logic             swap_q, load_q;
  logic [31:0]      psum_q, psum_d;

  assign act_o    = act_q;
  assign swap_o   = swap_q;
  assign load_o   = load_q;
  assign shadow_o = shadow_q;
  assign psum_o   = psum_q;

  if (RegisterAct == 1) begin : gen_act_register
    always_ff @(posedge clk_i) begin
      if (rows_active_i) act_q <= act_i;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        swap_q <= 1'b0;
        load_q <= 1'b0;
      end else begin
        if (swap_active_i) swap_q <= swap_i;
        if (load_active_i) load_q <= load_i;
      end
    end
  end else begin : gen_act_wire
    assign act_q  = act_i;
    assign swap_q = swap_i;
    assign load_q = load_i;
  end

  always_ff @(posedge clk_i) begin
    if (swap_active_i && swap_i) weight_q <= shadow_q;
    if (load_active_i && load_i) shadow_q <= shadow_i;
  end

  if (Dtype == 1) begin : gen_bf16
    assign product_o = tpu_bf16_pkg::product(act_q, weight_q);
    if (Addend == 0) begin : gen_pass
      assign psum_d = psum_i;
    end else if (Addend == 1) begin : gen_product
      assign psum_d = tpu_bf16_pkg::sum(psum_i, product_o);
    end else begin : gen_group
      assign psum_d = tpu_bf16_pkg::sum(psum_i, group_i);
    end
  end else begin : gen_int8
    assign product_o = 32'($signed(act_q)) * 32'($signed(weight_q));
    assign psum_d    = psum_i + product_o;
  end

  if (RegisterPsum == 1) begin : gen_psum_register
    always_ff @(posedge clk_i) begin
      if (rows_active_i) psum_q <= psum_d;
    end
  end else begin : gen_psum_wire
    assign psum_q = psum_d;
  end

`ifndef SYNTHESIS
`ifndef YOSYS
  // The planes are clocked while a tag moves through them.
  SwapKeepsClock_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i || swap_q |-> swap_active_i)
    else $error("the weight plane stood still with a swap tag inside");
  LoadKeepsClock_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      load_i || load_q |-> load_active_i)
    else $error("the shadow plane stood still with a load tag inside");

  // The next tile follows the swap: no beat meets it in a PE.
  LoadNotWithSwap_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(swap_i && load_i))
    else $error("a weight beat arrived together with a swap");
`endif
`endif

endmodule
