// SPDX-License-Identifier: Apache-2.0
// Activation handshake, clock enables of the array, and the control pipeline beside it.
// Latency: with Transit = ceil(Rows/Pipeline) + ceil(Cols/Pipeline), a row accepted at edge t has
// emit_o before edge t + Transit (its results leave the array) and wr_*_o before edge
// t + Transit + 1 (they are written to the accumulators).

module tpu_mxu_control #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  parameter  int unsigned Pipeline = 1,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Activation port
  input  logic                act_valid_i,
  output logic                act_ready_o,
  input  logic                act_swap_i,
  input  logic [AccAddrW-1:0] act_addr_i,
  input  logic                act_accumulate_i,

  // Weight loader
  input  logic                wgt_fire_i,
  input  logic                tile_complete_i,
  input  logic                tile_partial_i,

  // Read port, observed by the assertions only
  input  logic                rd_valid_i,
  input  logic                rd_ready_i,
  input  logic [AccAddrW-1:0] rd_addr_i,

  // Array
  output logic                clear_o,        // first edge after reset
  output logic                act_fire_o,
  output logic                swap_o,
  output logic                rows_active_o,
  output logic                swap_active_o,
  output logic                load_active_o,
  output logic                emit_o,

  // Accumulators
  output logic                wr_valid_o,
  output logic                wr_accumulate_o,
  output logic [AccAddrW-1:0] wr_addr_o,

  output logic                busy_o
);

  localparam int unsigned RowBands = (Rows + Pipeline - 1) / Pipeline;
  localparam int unsigned ColBands = (Cols + Pipeline - 1) / Pipeline;
  localparam int unsigned Transit  = RowBands + ColBands;  // edges from acceptance to emission
  localparam int unsigned RowsW    = $clog2(Transit + 2);
  localparam int unsigned LoadW    = $clog2(Rows + ColBands);

  assign act_ready_o = rst_ni && (!act_swap_i || tile_complete_i);
  assign act_fire_o  = act_valid_i && act_ready_o;
  assign swap_o      = act_fire_o && act_swap_i;

  ///////////////////////
  // Clock enables     //
  ///////////////////////

  // Edges for which the last row, swap wave and weight beat still need their planes.
  logic [RowsW-1:0] rows_left_q, swap_left_q;
  logic [LoadW-1:0] load_left_q;

  assign rows_active_o = act_fire_o || rows_left_q != '0;
  assign swap_active_o = swap_o     || swap_left_q != '0;
  assign load_active_o = wgt_fire_i || load_left_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_o     <= 1'b1;
      rows_left_q <= '0;
      swap_left_q <= '0;
      load_left_q <= '0;
    end else begin
      clear_o <= 1'b0;
      if (act_fire_o)              rows_left_q <= RowsW'(Transit);
      else if (rows_left_q != '0)  rows_left_q <= rows_left_q - 1'b1;
      // One edge more than up to the last PE, so that the tags leave the array. Weight beats move
      // down one row per edge, whatever Pipeline is.
      if (swap_o)                  swap_left_q <= RowsW'(Transit - 1);
      else if (swap_left_q != '0)  swap_left_q <= swap_left_q - 1'b1;
      if (wgt_fire_i)              load_left_q <= LoadW'(Rows + ColBands - 1);
      else if (load_left_q != '0)  load_left_q <= load_left_q - 1'b1;
    end
  end

  //////////////////////
  // Control pipeline //
  //////////////////////

  logic [Transit-1:0]  valid_q;  // bit n: accepted n+1 edges ago
  logic [AccAddrW:0]   fifo_q [1 << RowsW];  // accumulate, address
  logic [RowsW-1:0]    fifo_wr_q, fifo_rd_q;
  logic [RowsW-1:0]    rows_q;   // accepted and not yet written

  assign emit_o = valid_q[Transit-1];
  assign busy_o = rows_q != '0 || tile_partial_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q    <= '0;
      fifo_wr_q  <= '0;
      fifo_rd_q  <= '0;
      rows_q     <= '0;
      wr_valid_o <= 1'b0;
    end else begin
      if (rows_active_o) valid_q <= {valid_q[Transit-2:0], act_fire_o};
      if (act_fire_o)    fifo_wr_q <= fifo_wr_q + 1'b1;
      if (emit_o)        fifo_rd_q <= fifo_rd_q + 1'b1;
      wr_valid_o <= emit_o;
      rows_q     <= rows_q + RowsW'(act_fire_o) - RowsW'(wr_valid_o);
    end
  end

  always_ff @(posedge clk_i) begin
    if (act_fire_o) fifo_q[fifo_wr_q] <= {act_accumulate_i, act_addr_i};
    if (emit_o)     {wr_accumulate_o, wr_addr_o} <= fifo_q[fifo_rd_q];
  end

  ////////////////
  // Assertions //
  ////////////////

`ifndef SYNTHESIS
`ifndef YOSYS
  localparam logic [63:0] Latency = 64'(Transit) + 64'd1;

  // Edges since power-up. A reset advances it past all that it dropped.
  logic [63:0] edge_q, now;
  logic [63:0] last_accepted_q;                  // edge of the last acceptance of a row
  logic [63:0] last_swap_q, last_beat_q;         // of the last swap and the last weight beat
  logic [63:0] row_accepted_q [1 << AccAddrW];   // the same per accumulator row
  logic [63:0] accepted_q     [1 << RowsW];      // beside fifo_q

  // Registered, because the simulator would copy the arrays to sample them for an assertion.
  logic row_late_q;       // a row left the array at a wrong edge
  logic read_in_flight_q; // an accumulator row was read with a commit in flight

  assign now = clear_o ? edge_q + Latency + 64'(Rows) + 64'd1 : edge_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_late_q       <= 1'b0;
      read_in_flight_q <= 1'b0;
    end else begin
      row_late_q       <= emit_o && now - accepted_q[fifo_rd_q] != 64'(Transit);
      read_in_flight_q <= rd_valid_i && rd_ready_i &&
                          now - row_accepted_q[rd_addr_i] <= Latency;
    end
  end

  always_ff @(posedge clk_i) begin
    edge_q <= now + 64'd1;
    if (swap_o)     last_swap_q <= now;
    if (wgt_fire_i) last_beat_q <= now;
    if (act_fire_o) begin
      last_accepted_q            <= now;
      row_accepted_q[act_addr_i] <= now;
      accepted_q[fifo_wr_q]      <= now;
    end
  end

  // Reset drops rows, and takes none.
  ResetDropsRows_A: assert property (@(posedge clk_i)
      !rst_ni |-> !act_ready_o && !busy_o)
    else $error("the array works in reset, or a row is accepted in it");

  // A row that swaps waits for the tile; any other is accepted at once. act_valid_i has no say.
  SwapNeedsTile_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      swap_o |-> tile_complete_i)
    else $error("a row swapped in an incomplete tile");
  RowWithoutSwapNeverWaits_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !act_swap_i |-> act_ready_o)
    else $error("a row without swap had to wait");
  SwapWaitsForTileOnly_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      act_swap_i |-> act_ready_o == tile_complete_i)
    else $error("a row that swaps waits for something else than its tile");

  // The array never stalls: every row leaves it Transit edges after its acceptance.
  RowLatency_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !row_late_q)
    else $error("a row left the array at a wrong edge");
  EmissionHasRow_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      emit_o |-> fifo_rd_q != fifo_wr_q)
    else $error("a result without an accepted row");
  EmissionIsWritten_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      emit_o |=> wr_valid_o)
    else $error("results were not written to the accumulators");
  WriteHasEmission_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !emit_o |=> !wr_valid_o)
    else $error("an accumulator row was written without results");

  // The array is clocked while a row is inside.
  RowKeepsClock_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      valid_q != '0 |-> rows_active_o)
    else $error("the array stood still with a row inside");

  // A plane is clocked as long as something may move in it, and no longer.
  RowsRest_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      rows_active_o == (act_fire_o || now - last_accepted_q <= 64'(Transit)))
    else $error("the clock of rows and sums does not follow the rows inside");
  SwapRests_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      swap_active_o == (swap_o || now - last_swap_q < 64'(Transit)))
    else $error("the clock of the weight plane does not follow the swaps inside");
  LoadRests_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      load_active_o == (wgt_fire_i || now - last_beat_q < 64'(Rows) + 64'(ColBands)))
    else $error("the clock of the shadow plane does not follow the weight beats inside");

  // busy_o: a row is accepted and not committed, or a tile has some but not all of its beats.
  BusyWhileWorking_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      busy_o == (now - last_accepted_q <= Latency || tile_partial_i))
    else $error("busy_o does not tell whether there is work");

  // Callers: addresses exist, and a row is read only after all its results are committed.
  ActAddrInRange_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      act_valid_i |-> 32'(act_addr_i) < AccDepth)
    else $error("act_addr_i %0d is not below AccDepth", act_addr_i);
  RdAddrInRange_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      rd_valid_i |-> 32'(rd_addr_i) < AccDepth)
    else $error("rd_addr_i %0d is not below AccDepth", rd_addr_i);
  ReadNotInFlight_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !read_in_flight_q)
    else $error("an accumulator row was read with a commit in flight (accepted one edge ago)");
`endif
`endif

endmodule
