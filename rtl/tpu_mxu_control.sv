// SPDX-License-Identifier: Apache-2.0
// Handshakes, tile bookkeeping and the control pipeline beside the array.
// Latency: a row accepted at edge t has emit_o before edge t+Rows+Cols (its results leave the array)
// and wr_*_o before edge t+Rows+Cols+1 (they are written to the accumulators).

module tpu_mxu_control #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1,
  localparam int unsigned LoadW    = $clog2(Rows + 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Weight port
  input  logic                wgt_valid_i,
  output logic                wgt_ready_o,

  // Activation port
  input  logic                act_valid_i,
  output logic                act_ready_o,
  input  logic                act_swap_i,
  input  logic [AccAddrW-1:0] act_addr_i,
  input  logic                act_accumulate_i,

  // Read port, observed by the assertions only
  input  logic                rd_valid_i,
  input  logic                rd_ready_i,
  input  logic [AccAddrW-1:0] rd_addr_i,

  // Array and skew
  output logic                clear_o,        // first edge after reset
  output logic                act_fire_o,
  output logic                wgt_fire_o,
  output logic                rows_active_o,
  output logic                swap_active_o,
  output logic                swap_o,
  output logic                load_active_o,
  output logic [LoadW-1:0]    load_o,         // 1 + tile row of the beat accepted now, else 0
  output logic                emit_o,

  // Accumulators
  output logic                wr_valid_o,
  output logic                wr_accumulate_o,
  output logic [AccAddrW-1:0] wr_addr_o,

  output logic                busy_o
);

  localparam int unsigned Transit = Rows + Cols;  // edges from acceptance to emission
  localparam int unsigned CntW    = $clog2(Transit + 2);
  localparam int unsigned FifoW   = $clog2(Transit + 2);

  ///////////////////////
  // Weight tile state //
  ///////////////////////

  // Beats the shadow plane still lacks; zero when it is complete.
  logic [LoadW-1:0] wgt_left_q;
  logic             tile_complete;

  assign tile_complete = wgt_left_q == '0;
  assign wgt_ready_o   = rst_ni && !tile_complete;
  assign act_ready_o   = rst_ni && (!act_swap_i || tile_complete);
  assign wgt_fire_o    = wgt_valid_i && wgt_ready_o;
  assign act_fire_o    = act_valid_i && act_ready_o;
  assign swap_o        = act_fire_o && act_swap_i;
  assign load_o        = wgt_fire_o ? wgt_left_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wgt_left_q <= LoadW'(Rows);
    end else if (swap_o) begin
      wgt_left_q <= LoadW'(Rows);
    end else if (wgt_fire_o) begin
      wgt_left_q <= wgt_left_q - 1'b1;
    end
  end

  ///////////////////////
  // Clock enables     //
  ///////////////////////

  // Edges for which the last row, swap wave and weight beat still need their planes.
  logic [CntW-1:0] rows_left_q, swap_left_q, load_left_q;

  assign rows_active_o = act_fire_o || rows_left_q != '0;
  assign swap_active_o = swap_o     || swap_left_q != '0;
  assign load_active_o = wgt_fire_o || load_left_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_o     <= 1'b1;
      rows_left_q <= '0;
      swap_left_q <= '0;
      load_left_q <= '0;
    end else begin
      clear_o <= 1'b0;
      if (act_fire_o)              rows_left_q <= CntW'(Transit);
      else if (rows_left_q != '0)  rows_left_q <= rows_left_q - 1'b1;
      // One edge more than the Rows+Cols-2 of the last PE, so that the tags leave the array.
      if (swap_o)                  swap_left_q <= CntW'(Transit - 1);
      else if (swap_left_q != '0)  swap_left_q <= swap_left_q - 1'b1;
      if (wgt_fire_o)              load_left_q <= CntW'(Transit - 1);
      else if (load_left_q != '0)  load_left_q <= load_left_q - 1'b1;
    end
  end

  //////////////////////
  // Control pipeline //
  //////////////////////

  typedef struct packed {
    logic                accumulate;
    logic [AccAddrW-1:0] addr;
  } row_t;

  logic [Transit-1:0] valid_q;  // bit n: accepted n+1 edges ago
  row_t               fifo_q [1 << FifoW];
  logic [FifoW-1:0]   fifo_wr_q, fifo_rd_q;
  logic [CntW-1:0]    rows_q;   // accepted and not yet written
  row_t               wr_q;

  assign emit_o          = valid_q[Transit-1];
  assign wr_accumulate_o = wr_q.accumulate;
  assign wr_addr_o       = wr_q.addr;
  assign busy_o          = rows_q != '0 || (wgt_left_q != LoadW'(Rows) && !tile_complete);

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
      rows_q     <= rows_q + CntW'(act_fire_o) - CntW'(wr_valid_o);
    end
  end

  always_ff @(posedge clk_i) begin
    if (act_fire_o) fifo_q[fifo_wr_q] <= {act_accumulate_i, act_addr_i};
    if (emit_o)     wr_q <= fifo_q[fifo_rd_q];
  end

  ////////////////
  // Assertions //
  ////////////////

`ifndef SYNTHESIS
  // Edges since power-up. A reset advances it past every row that it dropped.
  logic [63:0] edge_q;
  logic [63:0] row_accepted_q [1 << AccAddrW];  // edge of the last acceptance per accumulator row
  logic [63:0] accepted_q     [1 << FifoW];     // beside fifo_q

  // Registered, because the simulator would copy the arrays to sample them for an assertion.
  logic row_late_q;       // a row left the array at a wrong edge
  logic read_in_flight_q; // an accumulator row was read with a commit in flight

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_late_q       <= 1'b0;
      read_in_flight_q <= 1'b0;
    end else begin
      row_late_q       <= emit_o && edge_q - accepted_q[fifo_rd_q] != 64'(Transit);
      read_in_flight_q <= rd_valid_i && rd_ready_i &&
                          edge_q - row_accepted_q[rd_addr_i] <= 64'(Transit) + 64'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    edge_q <= edge_q + (clear_o ? 64'(Transit) + 64'd2 : 64'd1);
    if (act_fire_o) begin
      row_accepted_q[act_addr_i] <= edge_q;
      accepted_q[fifo_wr_q]      <= edge_q;
    end
  end

  // In reset nothing is accepted.
  ResetAcceptsNothing_A: assert property (@(posedge clk_i)
      !rst_ni |-> !wgt_ready_o && !act_ready_o && !rd_ready_i)
    else $error("a port is ready in reset");

  // The weight port is ready exactly while the shadow tile is incomplete.
  WgtReadyWhileIncomplete_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_ready_o == !tile_complete)
    else $error("wgt_ready_o does not follow the state of the shadow tile");

  // The last beat of a tile closes the weight port.
  LastBeatClosesPort_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_o && wgt_left_q == LoadW'(1) |=> !wgt_ready_o)
    else $error("a weight beat could be accepted after the last one of its tile");

  // A complete tile stays until a row swaps it in, and the next tile may start one edge later.
  TileWaitsForSwap_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      tile_complete && !swap_o |=> tile_complete)
    else $error("a complete tile was lost without a swap");
  SwapOpensPort_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      swap_o |=> wgt_ready_o)
    else $error("the weight port stays closed after a swap");

  // A row that swaps waits for the tile; any other is accepted at once.
  SwapNeedsTile_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      swap_o |-> tile_complete)
    else $error("a row swapped in an incomplete tile");
  RowWithoutSwapNeverWaits_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !act_swap_i |-> act_ready_o)
    else $error("a row without swap had to wait");

  // The array never stalls: every row leaves it Rows+Cols edges after its acceptance.
  RowLatency_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !row_late_q)
    else $error("a row left the array at a wrong edge");
  EmissionIsWritten_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      emit_o |=> wr_valid_o)
    else $error("results were not written to the accumulators");

  // The array is clocked while a row leaves it.
  RowKeepsClock_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      emit_o |-> rows_active_o)
    else $error("the array stood still with a row inside");

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

endmodule
