// SPDX-License-Identifier: Apache-2.0
// Accumulators: a row, chosen by the solver, holds what was last written to it, or the sum; a read
// gives the row as it stood before its edge, and a result waits unchanged for its taker.

module accumulators_fv #(
  parameter  int unsigned Cols     = 2,
  parameter  int unsigned AccDepth = 4,
  parameter  int unsigned Dtype    = 0,
  localparam int unsigned AccAddrW = $clog2(AccDepth)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                wr_valid_i, wr_accumulate_i,
  input logic [AccAddrW-1:0] wr_addr_i,
  input logic [Cols*32-1:0]  wr_data_i,
  input logic                rd_valid_i, res_ready_i,
  input logic [AccAddrW-1:0] rd_addr_i
);

  (* anyconst *) logic [AccAddrW-1:0] chosen;

  logic                cmt_valid, rd_ready, res_valid;
  logic [AccAddrW-1:0] cmt_addr;
  logic [Cols*32-1:0]  cmt_data, res_data;

  tpu_accumulators #(.Cols (Cols), .AccDepth (AccDepth), .Dtype (Dtype)) u_accumulators (
    .clk_i, .rst_ni, .wr_valid_i, .wr_accumulate_i, .wr_addr_i, .wr_data_i, .cmt_valid_o (cmt_valid),
    .cmt_addr_o (cmt_addr), .cmt_data_o (cmt_data), .rd_valid_i, .rd_ready_o (rd_ready), .rd_addr_i,
    .res_valid_o (res_valid), .res_ready_i, .res_data_o (res_data)
  );

  (* keep *) logic [AccDepth*Cols*32-1:0] acc;

  logic                started = 1'b0;
  logic                known;      // the chosen row was written
  logic [Cols*32-1:0]  row, next;  // its content
  logic                wrote, read, waited;
  logic                wrote_chosen, read_chosen;
  logic [Cols*32-1:0]  expected, held;
  logic [AccAddrW-1:0] wrote_addr;

  always_comb begin
    for (int unsigned c = 0; c < Cols; c++) begin
      next[c*32 +: 32] = wr_accumulate_i ? add(row[c*32 +: 32], wr_data_i[c*32 +: 32])
                                         : wr_data_i[c*32 +: 32];
    end
  end

  function automatic logic [31:0] add(input logic [31:0] a, input logic [31:0] b);
    if (Dtype == 1) add = tpu_bf16_pkg::sum(a, b);
    else            add = a + b;
  endfunction

  always_ff @(posedge clk_i) begin
    started <= 1'b1;
    if (wr_valid_i && wr_addr_i == chosen) row <= next;
    if (!started) row <= acc[chosen*Cols*32 +: Cols*32];
    wrote        <= wr_valid_i && rst_ni;
    wrote_chosen <= wr_valid_i && wr_addr_i == chosen;
    wrote_addr   <= wr_addr_i;
    read         <= rd_valid_i && rd_ready;
    read_chosen  <= rd_valid_i && rd_ready && rd_addr_i == chosen;
    expected     <= row;
    waited       <= res_valid && !res_ready_i;
    held         <= res_data;
  end

  always_comb begin
    if (!started) assume (!rst_ni && !wr_valid_i);
    if (started) begin
      assert (acc[chosen*Cols*32 +: Cols*32] == row);
      assert (rd_ready == (rst_ni && (!res_valid || res_ready_i)));
      assert (cmt_valid == (wrote && rst_ni));
      if (cmt_valid) assert (cmt_addr == wrote_addr);
      if (cmt_valid && wrote_chosen) assert (cmt_data == row);
      if (rst_ni) assert (res_valid == (read || waited));
      if (rst_ni && waited) assert (res_data == held);
      if (rst_ni && read_chosen) assert (res_data == expected);
    end
  end

endmodule
