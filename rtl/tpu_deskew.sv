// SPDX-License-Identifier: Apache-2.0
// Delays the columns so that the sums of a row stand side by side: the mirror image of tpu_skew.
// Latency: column c is delayed by (Cols-1) / Pipeline - c / Pipeline edges; row_o takes the complete
// row at the edge of emit_i.

module tpu_deskew #(
  parameter int unsigned Cols     = 16,
  parameter int unsigned Pipeline = 1
) (
  input  logic               clk_i,
  input  logic               active_i,  // rows move
  input  logic               emit_i,    // a row is complete
  input  logic [Cols*32-1:0] bottom_i,  // partial sums of the bottom row of PEs
  output logic [Cols*32-1:0] row_o
);

  localparam int unsigned LastBand = (Cols - 1) / Pipeline;

  logic [Cols*32-1:0] complete;

  for (genvar c = 0; c < Cols; c++) begin : gen_col
    localparam int unsigned Delay = LastBand - c / Pipeline;

    if (Delay == 0) begin : gen_wire
      assign complete[c*32 +: 32] = bottom_i[c*32 +: 32];
    end else begin : gen_line
      logic [Delay*32-1:0] line_q;  // newest value lowest

      always_ff @(posedge clk_i) begin
        if (active_i) line_q <= (Delay*32)'({line_q, bottom_i[c*32 +: 32]});
      end
      assign complete[c*32 +: 32] = line_q[(Delay-1)*32 +: 32];
    end
  end

  always_ff @(posedge clk_i) begin
    if (active_i && emit_i) row_o <= complete;
  end

endmodule
