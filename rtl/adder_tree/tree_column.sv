// SPDX-License-Identifier: Apache-2.0
// One column of the array: its weights, twice, a multiplier per row, and a tree of adders.
// Latency: the sum of an activation row that stands on act_i before edge t is on sum_o after edge
// t + ceil(log2(Rows)); its weights are those that stand in weight_q before edge t.

module tree_column #(
  parameter  int unsigned Rows = 16,
  localparam int unsigned RowW = (Rows > 1) ? $clog2(Rows) : 1
) (
  input  logic              clk_i,

  // Weights: one of them at a time goes to the plane that is not in use; a swap puts all of that
  // plane to use
  input  logic              load_i,
  input  logic [RowW-1:0]   load_row_i,
  input  logic [7:0]        load_data_i,
  input  logic              swap_i,

  input  logic [Rows*8-1:0] act_i,
  output logic [31:0]       sum_o
);

  localparam int unsigned Leaves = 1 << $clog2(Rows);

  logic [Rows-1:0][7:0]      weight_q, next_weight_q;

  // Node 1 is the root; the children of node n are 2n and 2n+1; node Leaves+r is the product of row
  // r. Products of rows that do not exist stay zero.
  logic [2*Leaves-1:0][31:0] node_d, node_q;

  always_comb begin
    node_d[0] = '0;
    for (int unsigned n = 1; n < Leaves; n++) begin
      node_d[n] = node_q[2*n] + node_q[2*n+1];
    end
    for (int unsigned r = 0; r < Rows; r++) begin
      node_d[Leaves+r] = 32'($signed(act_i[r*8 +: 8])) * 32'($signed(weight_q[r]));
    end
    for (int unsigned r = Rows; r < Leaves; r++) begin
      node_d[Leaves+r] = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) next_weight_q[load_row_i] <= load_data_i;
    if (swap_i) weight_q <= next_weight_q;
    node_q <= node_d;
  end

  assign sum_o = node_q[1];

endmodule
