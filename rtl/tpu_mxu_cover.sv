// SPDX-License-Identifier: Apache-2.0
// Functional cover points of the matrix unit: situations that its tests must have met. Bound into
// tpu_mxu; in no build but those that measure coverage (cover.f). Verilator knows no sequences, so
// registers here remember what was.

module tpu_mxu_cover #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  parameter  int unsigned Dtype    = 0,
  parameter  int unsigned Pipeline = 1,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input logic                clk_i,
  input logic                rst_ni,

  input logic                wgt_valid_i,
  input logic                wgt_ready_i,
  input logic                act_valid_i,
  input logic                act_ready_i,
  input logic                act_swap_i,
  input logic                rd_valid_i,
  input logic                rd_ready_i,
  input logic [AccAddrW-1:0] rd_addr_i,
  input logic                res_valid_i,
  input logic                res_ready_i,
  input logic                cmt_valid_i,
  input logic [AccAddrW-1:0] cmt_addr_i,
  input logic [31:0]         cmt_data_i,  // column 0
  input logic                busy_i,

  input logic                clear_i,
  input logic                wgt_fire_i,
  input logic                act_fire_i,
  input logic                swap_i,
  input logic                rows_active_i,
  input logic                tile_complete_i,
  input logic                tile_partial_i,
  input logic                wr_valid_i,
  input logic                wr_accumulate_i,
  input logic [AccAddrW-1:0] wr_addr_i
);

  localparam int unsigned RowBands  = (Rows + Pipeline - 1) / Pipeline;
  localparam int unsigned ColBands  = (Cols + Pipeline - 1) / Pipeline;
  localparam int unsigned Latency   = RowBands + ColBands + 1;
  localparam int unsigned InFlightW = $clog2(Latency + 2);

  logic rd_fire;
  assign rd_fire = rd_valid_i && rd_ready_i;

  // State before the edge, and what happened at the edge before. The reset is synchronous, so that
  // an edge in reset still sees what was dropped.
  logic [InFlightW-1:0] in_flight_q;       // rows accepted and not yet written
  logic [9:0]           rows_of_tile_q;    // since the last swap; saturates
  logic                 swapped_q;         // since the last reset
  logic                 wgt_fire_q, act_fire_q, swap_q, rd_fire_q, busy_q, rows_active_q;
  logic                 tile_complete_q, tile_partial_q, result_waits_q;
  logic                 wgt_refused_q, act_refused_q, rd_refused_q;
  logic                 wr_valid_q, wr_accumulate_q;
  logic [AccAddrW-1:0]  wr_addr_q;

  always_ff @(posedge clk_i) begin
    wr_accumulate_q <= wr_accumulate_i;
    wr_addr_q       <= wr_addr_i;
    tile_complete_q <= rst_ni && tile_complete_i;
    tile_partial_q  <= rst_ni && tile_partial_i;
    result_waits_q  <= rst_ni && res_valid_i && !res_ready_i;
    if (!rst_ni) begin
      in_flight_q    <= '0;
      rows_of_tile_q <= '0;
      swapped_q      <= 1'b0;
      {wgt_fire_q, act_fire_q, swap_q, rd_fire_q, busy_q, rows_active_q} <= '0;
      {wgt_refused_q, act_refused_q, rd_refused_q, wr_valid_q}           <= '0;
    end else begin
      in_flight_q   <= in_flight_q + InFlightW'(act_fire_i) - InFlightW'(wr_valid_i);
      wgt_fire_q    <= wgt_fire_i;
      act_fire_q    <= act_fire_i;
      swap_q        <= swap_i;
      rd_fire_q     <= rd_fire;
      busy_q        <= busy_i;
      rows_active_q <= rows_active_i;
      wr_valid_q    <= wr_valid_i;
      wgt_refused_q <= wgt_valid_i && !wgt_ready_i;
      act_refused_q <= act_valid_i && !act_ready_i;
      rd_refused_q  <= rd_valid_i && !rd_ready_i;
      if (swap_i) begin
        swapped_q      <= 1'b1;
        rows_of_tile_q <= 10'd1;
      end else if (act_fire_i && rows_of_tile_q != '1) begin
        rows_of_tile_q <= rows_of_tile_q + 1'b1;
      end
    end
  end

  // Weight tiles

  BeatsBackToBack_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_i && wgt_fire_q);
  BeatGap_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      tile_partial_i && !wgt_valid_i);
  BeatTakenBack_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_refused_q && !wgt_valid_i);
  LoadWhileComputing_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_i && in_flight_q != '0);
  TileWaits_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      tile_complete_i && tile_complete_q && !swap_i);
  BeatRightAfterSwap_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_i && swap_q);

  // Swaps

  SwapWaitsForWeights_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      act_valid_i && act_swap_i && !tile_complete_i);
  SwapAtFirstEdge_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i && wgt_fire_q);
  SwapBehindRows_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i && act_fire_q);
  SwapBehindSwap_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i && rows_of_tile_q != '0 && 10'(in_flight_q) >= rows_of_tile_q);  // that one in flight
  OneRowTile_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i && rows_of_tile_q == 10'd1);
  LongTile_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      swap_i && 32'(rows_of_tile_q) > Rows + Cols);

  // Rows

  RowsBackToBack_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      act_fire_i && act_fire_q);
  Bubble_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      act_fire_i && !act_fire_q && in_flight_q != '0);
  RowAfterStandstill_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      act_fire_i && !rows_active_q && swapped_q);
  RowTakenBack_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      act_refused_q && !act_valid_i);
  RowBesideCompleteTile_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      act_fire_i && !act_swap_i && tile_complete_i);
  PipelineFull_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      in_flight_q == InFlightW'(Latency));

  // Accumulators

  ReplaceAfterAccumulate_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i && !wr_accumulate_i && wr_valid_q && wr_accumulate_q && wr_addr_i == wr_addr_q);
  AccumulateAfterReplace_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i && wr_accumulate_i && wr_valid_q && !wr_accumulate_q && wr_addr_i == wr_addr_q);
  AccumulateChain_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i && wr_accumulate_i && wr_valid_q && wr_accumulate_q && wr_addr_i == wr_addr_q);
  FirstAccumulator_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i && wr_addr_i == '0);
  LastAccumulator_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i && 32'(wr_addr_i) == AccDepth - 1);

  // Reads

  ReadWhileCommit_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      rd_fire && wr_valid_i);
  ReadRightAfterCommit_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      rd_fire && cmt_valid_i && rd_addr_i == cmt_addr_i);
  ReadsBackToBack_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      rd_fire && rd_fire_q);
  ReadBlocked_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      rd_valid_i && !rd_ready_i);
  ReadTakenBack_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      rd_refused_q && !rd_valid_i);
  ResultTakenLate_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      res_valid_i && res_ready_i && result_waits_q);
  EveryPort_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      wgt_fire_i && act_fire_i && rd_fire && cmt_valid_i);

  // Busy and reset

  BusyRises_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      busy_i && !busy_q);
  BusyFalls_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      !busy_i && busy_q);
  BusyByTileOnly_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      busy_i && in_flight_q == '0);
  ResetWithRows_C: cover property (@(posedge clk_i)
      !rst_ni && in_flight_q != '0);
  ResetWithPartialTile_C: cover property (@(posedge clk_i)
      !rst_ni && tile_partial_q);
  ResetWithCompleteTile_C: cover property (@(posedge clk_i)
      !rst_ni && tile_complete_q);
  ResetWithResult_C: cover property (@(posedge clk_i)
      !rst_ni && result_waits_q);
  AcceptedRightAfterReset_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
      clear_i && (act_fire_i || wgt_fire_i));

  // Values

  if (Dtype == 1) begin : gen_bf16
    NanCommitted_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
        cmt_valid_i && cmt_data_i == tpu_bf16_pkg::QuietNan);
    InfinityCommitted_C: cover property (@(posedge clk_i) disable iff (!rst_ni)
        cmt_valid_i && cmt_data_i[30:0] == tpu_bf16_pkg::Infinity[30:0]);
  end

endmodule

bind tpu_mxu tpu_mxu_cover #(
  .Rows     (Rows),
  .Cols     (Cols),
  .AccDepth (AccDepth),
  .Dtype    (Dtype),
  .Pipeline (Pipeline)
) u_cover (
  .clk_i,
  .rst_ni,
  .wgt_valid_i,
  .wgt_ready_i     (wgt_ready_o),
  .act_valid_i,
  .act_ready_i     (act_ready_o),
  .act_swap_i,
  .rd_valid_i,
  .rd_ready_i      (rd_ready_o),
  .rd_addr_i,
  .res_valid_i     (res_valid_o),
  .res_ready_i,
  .cmt_valid_i     (cmt_valid_o),
  .cmt_addr_i      (cmt_addr_o),
  .cmt_data_i      (cmt_data_o[31:0]),
  .busy_i          (busy_o),
  .clear_i         (clear),
  .wgt_fire_i      (wgt_fire),
  .act_fire_i      (act_fire),
  .swap_i          (swap),
  .rows_active_i   (rows_active),
  .tile_complete_i (tile_complete),
  .tile_partial_i  (tile_partial),
  .wr_valid_i      (wr_valid),
  .wr_accumulate_i (wr_accumulate),
  .wr_addr_i       (wr_addr)
);
