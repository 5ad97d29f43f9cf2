// SPDX-License-Identifier: Apache-2.0
// Weight port, activation handshake and control pipeline beside a plain delay line: every accepted
// row is written once, in order, at its latency, with its address and its flag; a tile is complete
// after Rows beats and stays until its swap; ports do not look at valid; nothing that is not
// accepted has an effect.

module order_fv #(
  parameter  int unsigned Rows     = 2,
  parameter  int unsigned Cols     = 2,
  parameter  int unsigned AccDepth = 4,
  parameter  int unsigned Pipeline = 1,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1,
  localparam int unsigned LoadW    = $clog2(Rows + 1)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                wgt_valid_i,
  input logic                act_valid_i, act_swap_i, act_accumulate_i,
  input logic [AccAddrW-1:0] act_addr_i
);

  localparam int unsigned Transit = (Rows + Pipeline - 1) / Pipeline + (Cols + Pipeline - 1) / Pipeline;
  localparam int unsigned RowsW   = $clog2(Transit + 2);

  logic             wgt_ready, wgt_fire, tile_complete, tile_partial;
  logic             act_ready, act_fire, swap, rows_active, swap_active, load_active, emit, clear;
  logic             wr_valid, wr_accumulate, busy;
  logic [LoadW-1:0] load;
  logic [AccAddrW-1:0] wr_addr;

  tpu_weight_loader #(.Rows (Rows)) u_loader (
    .clk_i, .rst_ni, .wgt_valid_i, .wgt_ready_o (wgt_ready), .wgt_fire_o (wgt_fire), .load_o (load),
    .swap_i (swap), .tile_complete_o (tile_complete), .tile_partial_o (tile_partial)
  );

  tpu_mxu_control #(
    .Rows (Rows), .Cols (Cols), .AccDepth (AccDepth), .Pipeline (Pipeline)
  ) u_control (
    .clk_i, .rst_ni, .act_valid_i, .act_ready_o (act_ready), .act_swap_i, .act_addr_i,
    .act_accumulate_i, .wgt_fire_i (wgt_fire), .tile_complete_i (tile_complete),
    .tile_partial_i (tile_partial), .rd_valid_i (1'b0), .rd_ready_i (1'b0), .rd_addr_i ('0),
    .clear_o (clear), .act_fire_o (act_fire), .swap_o (swap), .rows_active_o (rows_active),
    .swap_active_o (swap_active), .load_active_o (load_active), .emit_o (emit),
    .wr_valid_o (wr_valid), .wr_accumulate_o (wr_accumulate), .wr_addr_o (wr_addr), .busy_o (busy)
  );

  // Registers of the control, by probes: with the counts below they carry the induction.
  (* keep *) logic [(1<<RowsW)*(AccAddrW+1)-1:0] fifo;
  (* keep *) logic [RowsW-1:0]   fifo_wr, fifo_rd, rows, rows_left;
  (* keep *) logic [Transit-1:0] valid;
  (* keep *) logic [LoadW-1:0]   wgt_left;

  // Specification: accepted n+1 edges ago at [n], with flag and address; the last one is the write.
  logic [Transit:0]              line_valid;
  logic [(Transit+1)*(AccAddrW+1)-1:0] line_row;
  logic [LoadW-1:0]              beats;  // of the tile in the shadow plane
  logic                          started = 1'b0;

  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    line_row <= {line_row[Transit*(AccAddrW+1)-1:0], act_accumulate_i, act_addr_i};
    if (!rst_ni) begin
      line_valid <= '0;
      beats      <= '0;
    end else begin
      line_valid <= {line_valid[Transit-1:0], act_valid_i && act_ready};
      if (act_valid_i && act_ready && act_swap_i) beats <= '0;
      else if (wgt_valid_i && wgt_ready)          beats <= beats + 1'b1;
    end
  end

  // Of an accepted row: how many rows accepted after it are in the line
  logic [RowsW-1:0] count;
  logic             in_order, clocked;

  always_comb begin
    count    = '0;
    in_order = 1'b1;
    clocked  = 1'b1;
    for (int unsigned n = 0; n < Transit; n++) begin
      if (line_valid[n]) begin
        if (fifo[RowsW'(fifo_wr - 1'b1 - count)*(AccAddrW+1) +: AccAddrW+1] != line_row[n*(AccAddrW+1) +: AccAddrW+1]) in_order = 1'b0;
        if (count == 0 && rows_left != RowsW'(Transit - n)) clocked = 1'b0;
        count = count + 1'b1;
      end
    end
    if (count == 0 && rows_left != 0) clocked = 1'b0;
  end

  always_comb begin
    if (!started) assume (!rst_ni);
    if (started && rst_ni) begin
      // Rows
      assert (act_fire == (act_valid_i && act_ready));
      assert (act_ready == (!act_swap_i || beats == LoadW'(Rows)));
      assert (swap == (act_fire && act_swap_i));
      assert (wr_valid == line_valid[Transit]);
      if (wr_valid) assert ({wr_accumulate, wr_addr} == line_row[Transit*(AccAddrW+1) +: AccAddrW+1]);
      assert (emit == line_valid[Transit-1]);
      if (act_fire || line_valid[Transit-1:0] != 0) assert (rows_active);
      assert (busy == (line_valid != 0 || (beats != 0 && beats != LoadW'(Rows))));

      // Beats: Rows of them, tile row Rows-1 first; then the port is closed until the swap.
      assert (beats <= LoadW'(Rows));
      assert (wgt_ready == (beats < LoadW'(Rows)));
      assert (wgt_fire == (wgt_valid_i && wgt_ready));
      assert (load == (wgt_fire ? LoadW'(Rows) - beats : LoadW'(0)));
      assert (tile_complete == (beats == LoadW'(Rows)));
      if (swap) assert (beats == LoadW'(Rows) && !wgt_fire);

      // For the induction
      assert (in_order);
      assert (clocked);
      assert (wgt_left == LoadW'(Rows) - beats);
      assert (valid == line_valid[Transit-1:0]);
      assert (RowsW'(fifo_wr - fifo_rd) == count);
      assert (rows == count + RowsW'(line_valid[Transit]));
    end else if (started) begin
      assert (!act_ready && !wgt_ready && !wr_valid && !busy);
    end
  end

endmodule
