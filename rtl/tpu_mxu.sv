// SPDX-License-Identifier: Apache-2.0
// Matrix unit: weight-stationary systolic array, double-buffered weights, accumulator rows; int8 with
// int32 sums or bf16 with fp32 sums.
// Latency: a row accepted at edge t is written to its accumulator row at edge
// t + ceil(Rows/Pipeline) + ceil(Cols/Pipeline) + 1; one row, one weight beat and one accumulator
// read can be accepted at every edge. Port contract: README.md.

module tpu_mxu #(
  parameter  int unsigned Rows     = 16,   // 1..256, activations per row, beats per weight tile
  parameter  int unsigned Cols     = 16,   // 1..256, results per row
  parameter  int unsigned AccDepth = 512,  // accumulator rows
  parameter  int unsigned Dtype    = 0,    // 0: int8, 1: bf16
  parameter  int unsigned Pipeline = 1,    // a register every this many PEs, right and down
  parameter  int unsigned Sum4     = 0,    // 1: products of four rows are added with one rounding
  parameter  int unsigned Form     = 0,    // of the array: 0: flat (fast simulation), 1: grid of PEs
  localparam int unsigned ElemW    = (Dtype == 1) ? 16 : 8,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // Weights: one row of the tile per beat, row Rows-1 first; column c at [c*ElemW +: ElemW]
  input  logic                  wgt_valid_i,
  output logic                  wgt_ready_o,
  input  logic [Cols*ElemW-1:0] wgt_data_i,

  // Activations: one row per beat; element r at [r*ElemW +: ElemW]
  input  logic                  act_valid_i,
  output logic                  act_ready_o,
  input  logic [Rows*ElemW-1:0] act_data_i,
  input  logic                  act_swap_i,        // first row to use the complete shadow tile
  input  logic [AccAddrW-1:0]   act_addr_i,        // accumulator row of the result
  input  logic                  act_accumulate_i,  // add to it instead of replacing it

  // Commit monitor: the accumulator row written at the last edge
  output logic                  cmt_valid_o,
  output logic [AccAddrW-1:0]   cmt_addr_o,
  output logic [Cols*32-1:0]    cmt_data_o,

  // Accumulator read and its result
  input  logic                  rd_valid_i,
  output logic                  rd_ready_o,
  input  logic [AccAddrW-1:0]   rd_addr_i,
  output logic                  res_valid_o,
  input  logic                  res_ready_i,
  output logic [Cols*32-1:0]    res_data_o,

  output logic                  busy_o
);

  localparam int unsigned LoadW = $clog2(Rows + 1);

  logic                clear, rows_active, swap_active, load_active;
  logic                act_fire, swap, emit;
  logic                wgt_fire, tile_complete, tile_partial;
  logic [LoadW-1:0]    load;
  logic                wr_valid, wr_accumulate;
  logic [AccAddrW-1:0] wr_addr;
  logic [Cols*32-1:0]  row;

  tpu_weight_loader #(
    .Rows (Rows)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .wgt_valid_i,
    .wgt_ready_o,
    .wgt_fire_o      (wgt_fire),
    .load_o          (load),
    .swap_i          (swap),
    .tile_complete_o (tile_complete),
    .tile_partial_o  (tile_partial)
  );

  tpu_mxu_control #(
    .Rows     (Rows),
    .Cols     (Cols),
    .AccDepth (AccDepth),
    .Pipeline (Pipeline)
  ) u_control (
    .clk_i,
    .rst_ni,
    .act_valid_i,
    .act_ready_o,
    .act_swap_i,
    .act_addr_i,
    .act_accumulate_i,
    .wgt_fire_i      (wgt_fire),
    .tile_complete_i (tile_complete),
    .tile_partial_i  (tile_partial),
    .rd_valid_i,
    .rd_ready_i      (rd_ready_o),
    .rd_addr_i,
    .clear_o         (clear),
    .act_fire_o      (act_fire),
    .swap_o          (swap),
    .rows_active_o   (rows_active),
    .swap_active_o   (swap_active),
    .load_active_o   (load_active),
    .emit_o          (emit),
    .wr_valid_o      (wr_valid),
    .wr_accumulate_o (wr_accumulate),
    .wr_addr_o       (wr_addr),
    .busy_o
  );

  if (Form == 1) begin : gen_grid
    tpu_array_grid #(
      .Rows     (Rows),
      .Cols     (Cols),
      .Dtype    (Dtype),
      .Pipeline (Pipeline),
      .Sum4     (Sum4)
    ) u_array (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .rows_active_i (rows_active),
      .act_valid_i   (act_fire),
      .act_swap_i    (swap),
      .act_data_i,
      .swap_active_i (swap_active),
      .load_active_i (load_active),
      .wgt_valid_i   (wgt_fire),
      .load_i        (load),
      .wgt_data_i,
      .emit_i        (emit),
      .row_o         (row)
    );
  end else begin : gen_flat
    tpu_array_flat #(
      .Rows     (Rows),
      .Cols     (Cols),
      .Dtype    (Dtype),
      .Pipeline (Pipeline),
      .Sum4     (Sum4)
    ) u_array (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .rows_active_i (rows_active),
      .act_valid_i   (act_fire),
      .act_swap_i    (swap),
      .act_data_i,
      .swap_active_i (swap_active),
      .load_active_i (load_active),
      .wgt_valid_i   (wgt_fire),
      .load_i        (load),
      .wgt_data_i,
      .emit_i        (emit),
      .row_o         (row)
    );
  end

  tpu_accumulators #(
    .Cols     (Cols),
    .AccDepth (AccDepth),
    .Dtype    (Dtype)
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
`ifndef YOSYS
  initial begin
    assert (Rows >= 1 && Rows <= 256) else $fatal(1, "Rows %0d is not in 1..256", Rows);
    assert (Cols >= 1 && Cols <= 256) else $fatal(1, "Cols %0d is not in 1..256", Cols);
    assert (AccDepth >= 1) else $fatal(1, "AccDepth is zero");
    assert (Dtype <= 1) else $fatal(1, "Dtype %0d is neither int8 (0) nor bf16 (1)", Dtype);
    assert (Pipeline >= 1) else $fatal(1, "Pipeline is zero");
    assert (Form <= 1) else $fatal(1, "Form %0d is neither flat (0) nor grid (1)", Form);
    assert (Sum4 == 0 || (Sum4 == 1 && Dtype == 1 && Pipeline % 4 == 0))
      else $fatal(1, "Sum4 needs bf16 and a Pipeline that is a multiple of four");
  end

  // Exactly one commit per accepted row: there is none without a row in flight before it.
  CommitWhileBusy_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid |-> busy_o)
    else $error("a commit without a row in flight");
`endif
`endif

endmodule
