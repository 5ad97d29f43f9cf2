// SPDX-License-Identifier: Apache-2.0
// Accumulator rows: one is added to or written, and one is read, per edge.
// Latency: a row written at edge t is on cmt_* after edge t and readable from edge t+1; a read
// accepted at edge q gives the row as it stood before edge q, on res_* after edge q.
// The rows have no reset: what was never written reads as anything.

module tpu_accumulators #(
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // Results of the array
  input  logic                wr_valid_i,
  input  logic                wr_accumulate_i,
  input  logic [AccAddrW-1:0] wr_addr_i,
  input  logic [Cols*32-1:0]  wr_data_i,

  // Monitor of what was written
  output logic                cmt_valid_o,
  output logic [AccAddrW-1:0] cmt_addr_o,
  output logic [Cols*32-1:0]  cmt_data_o,

  // Read
  input  logic                rd_valid_i,
  output logic                rd_ready_o,
  input  logic [AccAddrW-1:0] rd_addr_i,
  output logic                res_valid_o,
  input  logic                res_ready_i,
  output logic [Cols*32-1:0]  res_data_o
);

  logic rd_fire;

  assign rd_ready_o = rst_ni && (!res_valid_o || res_ready_i);
  assign rd_fire    = rd_valid_i && rd_ready_o;

  /* verilator tracing_off */
  logic [Cols*32-1:0] acc [1 << AccAddrW];
  logic [Cols*32-1:0] wr_row;
  int unsigned        c;  // set outside of any condition, so that the simulator keeps it local
  /* verilator tracing_on */

  always_ff @(posedge clk_i) begin
    c = 0;
    if (rd_fire) res_data_o <= acc[rd_addr_i];
    if (wr_valid_i) begin
      if (wr_accumulate_i) begin
        wr_row = acc[wr_addr_i];
        for (c = 0; c < Cols; c++) begin
          wr_row[c*32 +: 32] = wr_row[c*32 +: 32] + wr_data_i[c*32 +: 32];
        end
      end else begin
        wr_row = wr_data_i;
      end
      acc[wr_addr_i] = wr_row;
      cmt_addr_o <= wr_addr_i;
      cmt_data_o <= wr_row;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmt_valid_o <= 1'b0;
      res_valid_o <= 1'b0;
    end else begin
      cmt_valid_o <= wr_valid_i;
      res_valid_o <= rd_fire || (res_valid_o && !res_ready_i);
    end
  end

`ifndef SYNTHESIS
  // Every written row is shown on the monitor.
  WriteIsCommitted_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i |=> cmt_valid_o && cmt_addr_o == $past(wr_addr_i))
    else $error("a written row is missing on the commit port");

  // A result waits for its taker: it stays valid, and no new read replaces it.
  ResultStays_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      res_valid_o && !res_ready_i |=> res_valid_o)
    else $error("a result was lost");
  ResultStable_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      res_valid_o && !res_ready_i |-> !rd_fire)
    else $error("a waiting result was overwritten");
  ReadGivesResult_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      rd_fire |=> res_valid_o)
    else $error("an accepted read gave no result");
`endif

endmodule
