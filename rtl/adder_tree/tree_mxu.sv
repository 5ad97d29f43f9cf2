// SPDX-License-Identifier: Apache-2.0
// A matrix unit of another make, with the ports of tpu_mxu: every activation row is broadcast to all
// columns, and each column adds its products in a tree. Nothing is skewed; weights are loaded row by
// row. Only the latencies differ from tpu_mxu; tree_mxu.yaml declares them.
// Latency: the accumulator row of an activation row accepted at edge t is written at edge
// t + ceil(log2(Rows)) + 2.

module tree_mxu #(
  parameter  int unsigned Rows     = 16,   // 1..256, activations per row, beats per weight tile
  parameter  int unsigned Cols     = 16,   // 1..256, results per row
  parameter  int unsigned AccDepth = 512,  // accumulator rows
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                wgt_valid_i,
  output logic                wgt_ready_o,
  input  logic [Cols*8-1:0]   wgt_data_i,

  input  logic                act_valid_i,
  output logic                act_ready_o,
  input  logic [Rows*8-1:0]   act_data_i,
  input  logic                act_swap_i,
  input  logic [AccAddrW-1:0] act_addr_i,
  input  logic                act_accumulate_i,

  output logic                cmt_valid_o,
  output logic [AccAddrW-1:0] cmt_addr_o,
  output logic [Cols*32-1:0]  cmt_data_o,

  input  logic                rd_valid_i,
  output logic                rd_ready_o,
  input  logic [AccAddrW-1:0] rd_addr_i,
  output logic                res_valid_o,
  input  logic                res_ready_i,
  output logic [Cols*32-1:0]  res_data_o,

  output logic                busy_o
);

  localparam int unsigned RowW   = (Rows > 1) ? $clog2(Rows) : 1;
  localparam int unsigned LeftW  = $clog2(Rows + 1);
  // Stages of a row: activations, products, one per level of the tree
  localparam int unsigned Stages = $clog2(Rows) + 2;

  // Weights: beats come from the last row of the tile to the first.
  logic [LeftW-1:0] left_q;  // beats that the next tile still misses
  logic             load, swap;

  assign wgt_ready_o = rst_ni && left_q != '0;
  assign load        = wgt_valid_i && wgt_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)   left_q <= LeftW'(Rows);
    else if (swap) left_q <= LeftW'(Rows);
    else if (load) left_q <= left_q - 1'b1;
  end

  // Activations
  logic              row;
  logic [Rows*8-1:0] act_q;

  assign act_ready_o = rst_ni && (!act_swap_i || left_q == '0);
  assign row         = act_valid_i && act_ready_o;
  assign swap        = row && act_swap_i;

  always_ff @(posedge clk_i) begin
    if (row) act_q <= act_data_i;
  end

  // What belongs to a row moves beside it; stage 0 is that of act_q.
  logic [Stages-1:0]               valid_q, accumulate_q;
  logic [Stages-1:0][AccAddrW-1:0] addr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else         valid_q <= {valid_q[Stages-2:0], row};
  end
  always_ff @(posedge clk_i) begin
    accumulate_q <= {accumulate_q[Stages-2:0], act_accumulate_i};
    addr_q       <= {addr_q[Stages-2:0], act_addr_i};
  end

  logic [Cols*32-1:0] sums;

  for (genvar c = 0; c < Cols; c++) begin : gen_column
    tree_column #(
      .Rows (Rows)
    ) u_column (
      .clk_i,
      .load_i      (load),
      .load_row_i  (RowW'(left_q - 1'b1)),
      .load_data_i (wgt_data_i[c*8 +: 8]),
      .swap_i      (swap),
      .act_i       (act_q),
      .sum_o       (sums[c*32 +: 32])
    );
  end

  tree_accumulators #(
    .Cols     (Cols),
    .AccDepth (AccDepth)
  ) u_accumulators (
    .clk_i,
    .rst_ni,
    .sum_valid_i      (valid_q[Stages-1]),
    .sum_accumulate_i (accumulate_q[Stages-1]),
    .sum_addr_i       (addr_q[Stages-1]),
    .sum_data_i       (sums),
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

  assign busy_o = valid_q != '0 || (left_q != '0 && left_q != LeftW'(Rows));

endmodule
