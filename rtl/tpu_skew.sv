// SPDX-License-Identifier: Apache-2.0
// Delays lane l of a beat by l / Pipeline edges, which turns a row into the diagonal that a systolic
// array eats: a triangle of shift registers.
// Latency: lane l of a beat on data_i at edge t stands on data_o for edge t + l / Pipeline.

module tpu_skew #(
  parameter  int unsigned Lanes    = 16,
  parameter  int unsigned Width    = 8,   // bits of a lane
  parameter  int unsigned Pipeline = 1,   // lanes that share a delay
  parameter  int unsigned Tag      = 0,   // 1: one value for all lanes, in one line, cleared by reset
  localparam int unsigned InW      = (Tag == 1) ? Width : Lanes * Width
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   active_i,  // a beat enters or is inside
  input  logic [InW-1:0]         data_i,
  output logic [Lanes*Width-1:0] data_o
);

  localparam int unsigned MaxDelay = (Lanes - 1) / Pipeline;

  if (Tag == 1) begin : gen_tag
    logic [(MaxDelay+1)*Width-1:0] line;  // value delayed by d at [d*Width +: Width]

    assign line[Width-1:0] = data_i;
    if (MaxDelay > 0) begin : gen_line
      logic [MaxDelay*Width-1:0] line_q;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          line_q <= '0;
        end else if (active_i) begin
          line_q <= line[MaxDelay*Width-1:0];
        end
      end
      assign line[(MaxDelay+1)*Width-1:Width] = line_q;
    end

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      assign data_o[l*Width +: Width] = line[(l/Pipeline)*Width +: Width];
    end
  end else begin : gen_data
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      localparam int unsigned Delay = l / Pipeline;

      if (Delay == 0) begin : gen_wire
        assign data_o[l*Width +: Width] = data_i[l*Width +: Width];
      end else begin : gen_line
        logic [Delay*Width-1:0] line_q;  // newest value lowest

        always_ff @(posedge clk_i) begin
          if (active_i) line_q <= (Delay*Width)'({line_q, data_i[l*Width +: Width]});
        end
        assign data_o[l*Width +: Width] = line_q[(Delay-1)*Width +: Width];
      end
    end
  end

endmodule
