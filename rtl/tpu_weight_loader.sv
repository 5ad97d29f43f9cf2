// SPDX-License-Identifier: Apache-2.0
// Weight port: takes the Rows beats of a tile, tile row Rows-1 first, and tags them for the array.
// Latency: none; load_o and the handshake belong to the beat that is on the port.

module tpu_weight_loader #(
  parameter  int unsigned Rows  = 16,
  localparam int unsigned LoadW = $clog2(Rows + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             wgt_valid_i,
  output logic             wgt_ready_o,
  output logic             wgt_fire_o,       // a beat is accepted at this edge
  output logic [LoadW-1:0] load_o,           // 1 + its tile row; 0: no beat

  input  logic             swap_i,           // a row takes the complete tile away
  output logic             tile_complete_o,
  output logic             tile_partial_o    // some but not all beats are in
);

  // Beats the shadow plane still lacks; zero when it is complete.
  logic [LoadW-1:0] wgt_left_q;

  assign tile_complete_o = wgt_left_q == '0;
  assign tile_partial_o  = wgt_left_q != LoadW'(Rows) && !tile_complete_o;
  assign wgt_ready_o     = rst_ni && !tile_complete_o;
  assign wgt_fire_o      = wgt_valid_i && wgt_ready_o;
  assign load_o          = wgt_fire_o ? wgt_left_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wgt_left_q <= LoadW'(Rows);
    end else if (swap_i) begin
      wgt_left_q <= LoadW'(Rows);
    end else if (wgt_fire_o) begin
      wgt_left_q <= wgt_left_q - 1'b1;
    end
  end

`ifndef SYNTHESIS
`ifndef YOSYS
  logic [LoadW-1:0] beats_q;  // accepted since the last swap or reset

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni || swap_i) begin
      beats_q <= '0;
    end else begin
      beats_q <= beats_q + LoadW'(wgt_fire_o);
    end
  end

  // Reset drops tiles, complete ones as well, and takes no beat.
  ResetDropsTile_A: assert property (@(posedge clk_i)
      !rst_ni |-> !tile_complete_o && !tile_partial_o && !wgt_ready_o)
    else $error("a weight tile survived the reset, or a beat is accepted in it");

  // The weight port is ready exactly while the shadow tile is incomplete, whatever wgt_valid_i is.
  WgtReadyWhileIncomplete_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_ready_o == !tile_complete_o)
    else $error("wgt_ready_o does not follow the state of the shadow tile");

  // A tile is complete after Rows beats, no fewer and no more.
  TileHasAllBeats_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      tile_complete_o == (beats_q == LoadW'(Rows)))
    else $error("a tile is called complete, or incomplete, after %0d beats", beats_q);

  // Beats are tile rows Rows-1 to 0; an edge without an accepted beat has no tag.
  BeatHasItsRow_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_o |-> load_o == LoadW'(Rows) - beats_q)
    else $error("a weight beat carries the tag of another tile row");
  NoBeatNoTag_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !wgt_fire_o |-> load_o == '0)
    else $error("a load tag without a weight beat");

  // The last beat of a tile closes the weight port.
  LastBeatClosesPort_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_o && wgt_left_q == LoadW'(1) |=> !wgt_ready_o)
    else $error("a weight beat could be accepted after the last one of its tile");

  // A complete tile stays until a row swaps it in, and the next tile may start one edge later.
  TileWaitsForSwap_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      tile_complete_o && !swap_i |=> tile_complete_o)
    else $error("a complete tile was lost without a swap");
  SwapOpensPort_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i |=> wgt_ready_o)
    else $error("the weight port stays closed after a swap");
`endif
`endif

endmodule
