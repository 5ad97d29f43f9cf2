// SPDX-License-Identifier: Apache-2.0
// Matrix unit: int8 weight-stationary systolic array, double-buffered weights, int32 accumulators.
// Latency: a row accepted at edge t is added to its accumulator row at edge t+Rows+Cols+1; one row,
// one weight beat and one accumulator read can be accepted at every edge. Port contract: README.md.

module tpu_mxu #(
  parameter  int unsigned Rows     = 16,   // 1..256, activations per row, beats per weight tile
  parameter  int unsigned Cols     = 16,   // 1..256, results per row
  parameter  int unsigned AccDepth = 512,  // accumulator rows
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Weights: one row of the tile per beat, row Rows-1 first; column c at [c*8 +: 8]
  input  logic                wgt_valid_i,
  output logic                wgt_ready_o,
  input  logic [Cols*8-1:0]   wgt_data_i,

  // Activations: one row per beat; element r at [r*8 +: 8]
  input  logic                act_valid_i,
  output logic                act_ready_o,
  input  logic [Rows*8-1:0]   act_data_i,
  input  logic                act_swap_i,        // first row to use the complete shadow tile
  input  logic [AccAddrW-1:0] act_addr_i,        // accumulator row of the result
  input  logic                act_accumulate_i,  // add to it instead of replacing it

  // Commit monitor: the accumulator row written at the last edge
  output logic                cmt_valid_o,
  output logic [AccAddrW-1:0] cmt_addr_o,
  output logic [Cols*32-1:0]  cmt_data_o,

  // Accumulator read and its result
  input  logic                rd_valid_i,
  output logic                rd_ready_o,
  input  logic [AccAddrW-1:0] rd_addr_i,
  output logic                res_valid_o,
  input  logic                res_ready_i,
  output logic [Cols*32-1:0]  res_data_o,

  output logic                busy_o
);

  localparam int unsigned LoadW    = $clog2(Rows + 1);
  localparam int unsigned ActWords = (Rows + 3) / 4;
  localparam int unsigned WgtWords = (Cols + 3) / 4;

  logic                clear, act_fire, wgt_fire, emit;
  logic                rows_active, swap_active, load_active, swap;
  logic [LoadW-1:0]    load;
  logic                wr_valid, wr_accumulate;
  logic [AccAddrW-1:0] wr_addr;
  logic [ActWords*32-1:0] act_skewed;
  logic [WgtWords*32-1:0] wgt_skewed;
  logic [Cols*32-1:0]  row;

  tpu_mxu_control #(
    .Rows     (Rows),
    .Cols     (Cols),
    .AccDepth (AccDepth)
  ) u_control (
    .clk_i,
    .rst_ni,
    .wgt_valid_i,
    .wgt_ready_o,
    .act_valid_i,
    .act_ready_o,
    .act_swap_i,
    .act_addr_i,
    .act_accumulate_i,
    .rd_valid_i,
    .rd_ready_i      (rd_ready_o),
    .rd_addr_i,
    .clear_o         (clear),
    .act_fire_o      (act_fire),
    .wgt_fire_o      (wgt_fire),
    .rows_active_o   (rows_active),
    .swap_active_o   (swap_active),
    .swap_o          (swap),
    .load_active_o   (load_active),
    .load_o          (load),
    .emit_o          (emit),
    .wr_valid_o      (wr_valid),
    .wr_accumulate_o (wr_accumulate),
    .wr_addr_o       (wr_addr),
    .busy_o
  );

  tpu_skew #(
    .Lanes (Rows)
  ) u_act_skew (
    .clk_i,
    .rst_ni,
    .active_i (rows_active),
    .valid_i  (act_fire),
    .data_i   (act_data_i),
    .data_o   (act_skewed)
  );

  tpu_skew #(
    .Lanes (Cols)
  ) u_wgt_skew (
    .clk_i,
    .rst_ni,
    .active_i (load_active),
    .valid_i  (wgt_fire),
    .data_i   (wgt_data_i),
    .data_o   (wgt_skewed)
  );

  tpu_systolic_array #(
    .Rows (Rows),
    .Cols (Cols)
  ) u_array (
    .clk_i,
    .clear_i       (clear),
    .rows_active_i (rows_active),
    .act_head_i    (act_data_i[7:0]),
    .act_skewed_i  (act_skewed),
    .swap_active_i (swap_active),
    .swap_i        (swap),
    .load_active_i (load_active),
    .wgt_head_i    (wgt_data_i[7:0]),
    .wgt_skewed_i  (wgt_skewed),
    .load_i        (load),
    .emit_i        (emit),
    .row_o         (row)
  );

  tpu_accumulators #(
    .Cols     (Cols),
    .AccDepth (AccDepth)
  ) u_accumulators (
    .clk_i,
    .rst_ni,
    .wr_valid_i      (wr_valid),
    .wr_accumulate_i (wr_accumulate),
    .wr_addr_i       (wr_addr),
    .wr_data_i       (row),
    .cmt_valid_o,
    .cmt_addr_o,
    .cmt_data_o,
    .rd_valid_i,
    .rd_ready_o,
    .rd_addr_i,
    .res_valid_o,
    .res_ready_i,
    .res_data_o
  );

`ifndef SYNTHESIS
  initial begin
    assert (Rows >= 1 && Rows <= 256) else $fatal(1, "Rows %0d is not in 1..256", Rows);
    assert (Cols >= 1 && Cols <= 256) else $fatal(1, "Cols %0d is not in 1..256", Cols);
    assert (AccDepth >= 1) else $fatal(1, "AccDepth is zero");
  end

  // Exactly one commit per accepted row: there is none without a row in flight before it.
  CommitWhileBusy_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid |-> busy_o)
    else $error("a commit without a row in flight");
`endif

endmodule
