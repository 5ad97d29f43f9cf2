// SPDX-License-Identifier: Apache-2.0
// Accumulator rows: a sum replaces one or is added to it, and one is read, at every edge.
// Latency: a row written at edge t is on cmt_* after edge t; a read accepted at edge q gives the row
// as it stood before edge q, on res_* after edge q.

module tree_accumulators #(
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                sum_valid_i,
  input  logic                sum_accumulate_i,
  input  logic [AccAddrW-1:0] sum_addr_i,
  input  logic [Cols*32-1:0]  sum_data_i,

  output logic                cmt_valid_o,
  output logic [AccAddrW-1:0] cmt_addr_o,
  output logic [Cols*32-1:0]  cmt_data_o,

  input  logic                rd_valid_i,
  output logic                rd_ready_o,
  input  logic [AccAddrW-1:0] rd_addr_i,
  output logic                res_valid_o,
  input  logic                res_ready_i,
  output logic [Cols*32-1:0]  res_data_o
);

  logic [Cols*32-1:0] rows_q [AccDepth];
  logic [Cols*32-1:0] old_row, new_row;
  logic               read;

  assign old_row = rows_q[sum_addr_i];
  for (genvar c = 0; c < Cols; c++) begin : gen_column
    assign new_row[c*32 +: 32] = sum_data_i[c*32 +: 32]
                               + (sum_accumulate_i ? old_row[c*32 +: 32] : 32'd0);
  end

  assign rd_ready_o = rst_ni && (!res_valid_o || res_ready_i);
  assign read       = rd_valid_i && rd_ready_o;

  always_ff @(posedge clk_i) begin
    if (read) res_data_o <= rows_q[rd_addr_i];
    if (sum_valid_i) begin
      rows_q[sum_addr_i] <= new_row;
      cmt_addr_o         <= sum_addr_i;
      cmt_data_o         <= new_row;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmt_valid_o <= 1'b0;
      res_valid_o <= 1'b0;
    end else begin
      cmt_valid_o <= sum_valid_i;
      res_valid_o <= read || (res_valid_o && !res_ready_i);
    end
  end

endmodule
