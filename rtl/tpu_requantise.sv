// SPDX-License-Identifier: Apache-2.0
// The way from accumulators to activations: bias, requantisation (fp32, half to even; or gemmlowp's
// two roundings), zero point and clamp (ReLU, ReLU6) of a row, Lanes columns per edge.
// Latency: a row of n columns accepted at edge t is at out_* after edge t + ceil(n/Lanes) + 4, one
// edge later for each at which a row before it waits to be taken; rows of n columns can follow each
// other every ceil(n/Lanes) edges. Port contract: README.md.

module tpu_requantise #(
  parameter  int unsigned Cols   = 16,  // 1..256, columns of a row
  parameter  int unsigned Lanes  = 16,  // 1..Cols, columns that are worked on per edge
  localparam int unsigned CountW = $clog2(Cols + 1)
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  // A row of accumulators, and all that is done to it; column c at [c*32 +: 32]
  input  logic               row_valid_i,
  output logic               row_ready_o,
  input  logic [Cols*32-1:0] row_data_i,
  input  logic [CountW-1:0]  row_cols_i,        // columns that count, from column 0
  input  logic [Cols*96-1:0] row_params_i,      // {shift, multiplier, bias} at [c*96 +: 96]
  input  logic               row_gemmlowp_i,    // rounding: 0: single, 1: gemmlowp
  input  logic [7:0]         row_zero_point_i,
  input  logic [7:0]         row_clamp_min_i,
  input  logic [7:0]         row_clamp_max_i,

  // The row as int8; column c at [c*8 +: 8]
  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [Cols*8-1:0]  out_data_o,

  output logic               busy_o
);

  localparam int unsigned Beats  = (Cols + Lanes - 1) / Lanes;
  localparam int unsigned Slots  = Beats * Lanes;  // columns, filled up to whole beats
  localparam int unsigned BeatW  = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int unsigned Depth  = 4;              // edges of a lane

  // Everything stands still while a row waits to be taken.
  logic advance, fire, last_beat;

  // The row at work; its lowest Lanes columns are the next beat.
  logic [Slots*32-1:0] data_q;
  logic [Slots*96-1:0] params_q;
  logic [CountW-1:0]   left_q;  // its columns that are not in the lanes
  logic                gemmlowp_q;
  logic [7:0]          zero_point_q, clamp_min_q, clamp_max_q;
  logic                working;

  assign working     = left_q != '0;
  assign last_beat   = {1'b0, left_q} <= (CountW+1)'(Lanes);
  assign advance     = !out_valid_o || out_ready_i;
  assign row_ready_o = rst_ni && advance && last_beat;
  assign fire        = row_valid_i && row_ready_o;

  always_ff @(posedge clk_i) begin
    if (fire) begin
      data_q       <= (Slots*32)'(row_data_i);
      params_q     <= (Slots*96)'(row_params_i);
      gemmlowp_q   <= row_gemmlowp_i;
      zero_point_q <= row_zero_point_i;
      clamp_min_q  <= row_clamp_min_i;
      clamp_max_q  <= row_clamp_max_i;
    end else if (advance) begin
      data_q   <= data_q >> (Lanes * 32);
      params_q <= params_q >> (Lanes * 96);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q <= '0;
    end else if (fire) begin
      left_q <= row_cols_i;
    end else if (advance) begin
      left_q <= last_beat ? '0 : left_q - CountW'(Lanes);
    end
  end

  // Beats in the lanes: there is one, and it is the last of its row.
  logic [Depth-1:0] valid_q, last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      last_q  <= '0;
    end else if (advance) begin
      valid_q <= {valid_q[Depth-2:0], working};
      last_q  <= {last_q[Depth-2:0], working && last_beat};
    end
  end

  logic [Lanes*8-1:0] beat;

  for (genvar n = 0; n < Lanes; n++) begin : gen_lane
    tpu_requantise_lane u_lane (
      .clk_i,
      .advance_i    (advance),
      .acc_i        (data_q[n*32 +: 32]),
      .bias_i       (params_q[n*96 +: 32]),
      .multiplier_i (params_q[n*96+32 +: 32]),
      .shift_i      (params_q[n*96+64 +: 32]),
      .gemmlowp_i   (gemmlowp_q),
      .zero_point_i (zero_point_q),
      .clamp_min_i  (clamp_min_q),
      .clamp_max_i  (clamp_max_q),
      .out_o        (beat[n*8 +: 8])
    );
  end

  // Beats become a row again.
  logic [BeatW-1:0]   beat_q;
  logic [Slots*8-1:0] out_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q      <= '0;
      out_valid_o <= 1'b0;
    end else if (advance) begin
      out_valid_o <= valid_q[Depth-1] && last_q[Depth-1];
      if (valid_q[Depth-1]) beat_q <= last_q[Depth-1] ? '0 : beat_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance && valid_q[Depth-1]) out_q[beat_q*(Lanes*8) +: Lanes*8] <= beat;
  end

  assign out_data_o = out_q[Cols*8-1:0];
  assign busy_o     = working || valid_q != '0 || out_valid_o;

`ifndef SYNTHESIS
`ifndef YOSYS
  initial begin
    assert (Cols >= 1 && Cols <= 256) else $fatal(1, "Cols %0d is not in 1..256", Cols);
    assert (Lanes >= 1 && Lanes <= Cols) else $fatal(1, "Lanes %0d is not in 1..Cols", Lanes);
  end

  // Verdicts about data are registered, because the simulator would copy a whole row to sample it.
  logic       waited_q, wait_fault_q;
  logic [7:0] out_word_q;
  int         rows_q;  // accepted and not taken

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {waited_q, wait_fault_q} <= '0;
      rows_q <= 0;
    end else begin
      waited_q     <= out_valid_o && !out_ready_i;
      wait_fault_q <= waited_q && out_data_o[7:0] != out_word_q;
      rows_q       <= rows_q + (fire ? 1 : 0) - ((out_valid_o && out_ready_i) ? 1 : 0);
    end
  end
  always_ff @(posedge clk_i) out_word_q <= out_data_o[7:0];

  ResetAcceptsNothing_A: assert property (@(posedge clk_i)
      !rst_ni |-> !row_ready_o && !out_valid_o && !busy_o)
    else $error("a row is accepted, shown or in work in reset");
  ColsInRange_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      fire |-> row_cols_i != '0 && row_cols_i <= CountW'(Cols))
    else $error("fault of the caller: a row of no columns, or of too many");
  BusyWhileWorking_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      busy_o == (rows_q != 0))
    else $error("busy_o does not tell whether a row is at work");
  OutStays_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      out_valid_o && !out_ready_i |=> out_valid_o)
    else $error("a row was lost before it was taken");
  OutKeepsData_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !wait_fault_q)
    else $error("a waiting row changed");
  RowHeldWhileOutWaits_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      out_valid_o && !out_ready_i |-> !row_ready_o)
    else $error("a row was accepted while one waits");
`endif
`endif

endmodule
