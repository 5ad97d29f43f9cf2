// SPDX-License-Identifier: Apache-2.0
// Tells every row of column 0 whether it takes part in a weight beat. The beat of tile row k moves
// down one row per edge, as far as row k.
// Latency: row r's tag of a beat on load_i at edge s stands on load_o[r] for edge s + r.

module tpu_load_chain #(
  parameter  int unsigned Rows  = 16,
  localparam int unsigned LoadW = $clog2(Rows + 1)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             active_i,  // a beat enters or is inside
  input  logic [LoadW-1:0] load_i,    // 1 + tile row of the beat, 0: no beat
  output logic [Rows-1:0]  load_o
);

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    logic [LoadW-1:0] load;  // of the beat that is at this row

    if (r == 0) begin : gen_head
      assign load = load_i;
    end else begin : gen_line
      logic [LoadW-1:0] load_q;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          load_q <= '0;
        end else if (active_i) begin
          load_q <= gen_row[r-1].load;
        end
      end
      assign load = load_q;
    end

    assign load_o[r] = load > LoadW'(r);
  end

endmodule
