// SPDX-License-Identifier: Apache-2.0
// No weight is lost, or used by a row of another tile: one element of the tile, at a row and a column
// that the solver chooses, is remembered when its beat is accepted. While an activation of a row of
// that tile stands in the PE, this is the weight there.

module weights_fv #(
  parameter  int unsigned Rows     = 2,
  parameter  int unsigned Cols     = 2,
  localparam int unsigned AccAddrW = 1
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              wgt_valid_i,
  input logic [Cols*8-1:0] wgt_data_i,
  input logic              act_valid_i, act_swap_i,
  input logic [Rows*8-1:0] act_data_i
);

  (* anyconst *) logic [3:0] row;
  (* anyconst *) logic [3:0] col;

  logic wgt_ready, act_ready;

  tpu_mxu #(.Rows (Rows), .Cols (Cols), .AccDepth (1), .Form (1)) u_mxu (
    .clk_i, .rst_ni, .wgt_valid_i, .wgt_ready_o (wgt_ready), .wgt_data_i, .act_valid_i,
    .act_ready_o (act_ready), .act_data_i, .act_swap_i, .act_addr_i (1'b0),
    .act_accumulate_i (1'b0), .rd_valid_i (1'b0), .rd_addr_i (1'b0), .res_ready_i (1'b1)
  );

  (* keep *) logic [Rows*Cols*8-1:0] weight, act;

  // Specification: the element in the incomplete or complete tile, and in the tile of the last row
  logic [7:0] loaded, used;
  logic [7:0] beats;
  logic       any_tile;
  logic [7:0] entering;
  assign entering = (act_swap_i) ? loaded : used;

  // Accepted n+1 edges ago at [n]: whether a row of a tile, its weight and its activation
  localparam int unsigned Length = Rows + Cols - 1;

  logic [Length-1:0]   line_valid;
  logic [Length*8-1:0] line_weight, line_act;
  logic                started = 1'b0;

  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    if (wgt_valid_i && wgt_ready && {24'd0, beats} == Rows - 1 - 32'(row)) loaded <= wgt_data_i[col*8 +: 8];
    if (act_valid_i && act_ready && act_swap_i) used <= loaded;
    line_weight <= (Length*8)'({line_weight, entering});
    line_act    <= (Length*8)'({line_act, act_data_i[row*8 +: 8]});
    if (!rst_ni) begin
      line_valid <= '0;
      any_tile   <= 1'b0;
      beats      <= 8'd0;
    end else begin
      line_valid <= Length'({line_valid, act_valid_i && act_ready && (any_tile || act_swap_i)});
      if (act_valid_i && act_ready && act_swap_i) begin
        any_tile <= 1'b1;
        beats    <= 8'd0;
      end else if (wgt_valid_i && wgt_ready) begin
        beats <= beats + 8'd1;
      end
    end
  end

  always_comb begin
    assume (32'(row) < Rows && 32'(col) < Cols);
    if (!started) assume (!rst_ni);
    if (started && rst_ni && line_valid[row+col]) begin
      assert (weight[(row*Cols+col)*8 +: 8] == line_weight[(row+col)*8 +: 8]);
      assert (act[(row*Cols+col)*8 +: 8] == line_act[(row+col)*8 +: 8]);
    end
  end

endmodule
