// SPDX-License-Identifier: Apache-2.0
// Accumulator rows: one is added to or written, and one is read, per edge.
// Latency: a row written at edge t is on cmt_* after edge t and readable from edge t+1; a read
// accepted at edge q gives the row as it stood before edge q, on res_* after edge q.
// The rows have no reset: what was never written reads as anything.

module tpu_accumulators #(
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned AccDepth = 512,
  parameter  int unsigned Dtype    = 0,  // 0: int32, 1: fp32
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

  // The simulator masks an index into a power of two, and range-checks any other.
  localparam int unsigned ColMem = 1 << $clog2(Cols);

  logic rd_fire;

  assign rd_ready_o = rst_ni && (!res_valid_o || res_ready_i);
  assign rd_fire    = rd_valid_i && rd_ready_o;

  /* verilator tracing_off */
  logic [Cols*32-1:0] acc [1 << AccAddrW];
  logic [Cols*32-1:0] wr_row;
  int unsigned        c;  // set outside of any condition, so that the simulator keeps it local
  /* verilator tracing_on */

  if (Dtype == 1) begin : gen_bf16
    /* verilator tracing_off */
    // Unpacked, so that the compiler of the simulator vectorises the sums
    logic [31:0] stored [ColMem];
    logic [31:0] result [ColMem];
    /* verilator tracing_on */

    always_ff @(posedge clk_i) begin
      c = 0;
      if (rd_fire) res_data_o <= acc[rd_addr_i];
      if (wr_valid_i) begin
        if (wr_accumulate_i) begin
          wr_row = acc[wr_addr_i];
          for (c = 0; c < Cols; c++) stored[c] = wr_row[c*32 +: 32];
          for (c = 0; c < Cols; c++) result[c] = wr_data_i[c*32 +: 32];
          for (c = 0; c < Cols; c++) result[c] = tpu_bf16_pkg::sum(stored[c], result[c]);
          for (c = 0; c < Cols; c++) wr_row[c*32 +: 32] = result[c];
        end else begin
          wr_row = wr_data_i;
        end
        acc[wr_addr_i] = wr_row;
        cmt_addr_o <= wr_addr_i;
        cmt_data_o <= wr_row;
      end
    end
  end else begin : gen_int8
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
`ifndef YOSYS
  // In reset nothing is shown, and no read accepted.
  ResetShowsNothing_A: assert property (@(posedge clk_i)
      !rst_ni |-> !rd_ready_o && !cmt_valid_o && !res_valid_o)
    else $error("a commit or a result survived the reset, or a read is accepted in it");

  // Data are checked in column 0, which stands for all; sums and reads in accumulator row 0, whose
  // content is known from the commit monitor (the witness).
  logic        witness_known_q, witness_known, witness_commits;
  logic [31:0] witness_q, witness, witness_sum;

  assign witness_commits = cmt_valid_o && cmt_addr_o == '0;
  assign witness_known   = witness_known_q || witness_commits;
  assign witness         = witness_commits ? cmt_data_o[31:0] : witness_q;

  if (Dtype == 1) begin : gen_witness_bf16
    assign witness_sum = tpu_bf16_pkg::sum(witness, wr_data_i[31:0]);
  end else begin : gen_witness_int8
    assign witness_sum = witness + wr_data_i[31:0];
  end

  // What happened at the edge before, and what must be seen now. The verdicts are registered,
  // because the simulator would copy a whole row to sample it for an assertion.
  logic        replaced_q, added_q, read_q, waited_q;
  logic [31:0] replacement_q, sum_q, res_word_q;
  logic        replace_fault_q, add_fault_q, read_fault_q, wait_fault_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      witness_known_q <= 1'b0;
      {replaced_q, added_q, read_q, waited_q} <= '0;
      {replace_fault_q, add_fault_q, read_fault_q, wait_fault_q} <= '0;
    end else begin
      witness_known_q <= witness_known;
      replaced_q      <= wr_valid_i && !wr_accumulate_i;
      added_q         <= wr_valid_i && wr_accumulate_i && wr_addr_i == '0 && witness_known;
      read_q          <= rd_fire && rd_addr_i == '0 && witness_known;
      waited_q        <= res_valid_o && !res_ready_i;
      replace_fault_q <= replaced_q && cmt_data_o[31:0] != replacement_q;
      add_fault_q     <= added_q    && cmt_data_o[31:0] != sum_q;
      read_fault_q    <= read_q     && res_data_o[31:0] != witness_q;
      wait_fault_q    <= waited_q   && res_data_o[31:0] != res_word_q;
    end
  end

  always_ff @(posedge clk_i) begin
    witness_q     <= witness;
    replacement_q <= wr_data_i[31:0];
    sum_q         <= witness_sum;
    res_word_q    <= res_data_o[31:0];
  end

  // Every written row is shown on the monitor, and nothing else.
  WriteIsCommitted_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      wr_valid_i |=> cmt_valid_o && cmt_addr_o == $past(wr_addr_i))
    else $error("a written row is missing on the commit port");
  CommitHasWrite_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !wr_valid_i |=> !cmt_valid_o)
    else $error("a commit without a written row");

  // A result replaces the row, or is added to it.
  ReplaceWritesResult_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !replace_fault_q)
    else $error("an accumulator row was not replaced by the result");
  AccumulateAddsResult_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !add_fault_q)
    else $error("a result was not added to its accumulator row");

  // A read is accepted unless a result waits, whatever rd_valid_i is.
  ReadUnlessBlocked_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      rd_ready_o == (!res_valid_o || res_ready_i))
    else $error("rd_ready_o does not follow the result port");

  // It gives the row as it stood before the accepting edge, and only reads give results.
  ReadGivesResult_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      rd_fire |=> res_valid_o)
    else $error("an accepted read gave no result");
  ReadGivesRow_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !read_fault_q)
    else $error("a read gave something else than the row");
  ResultHasRead_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !rd_fire && (!res_valid_o || res_ready_i) |=> !res_valid_o)
    else $error("a result without a read");

  // A result waits for its taker: it stays valid and unchanged, and no new read replaces it.
  ResultStays_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      res_valid_o && !res_ready_i |=> res_valid_o)
    else $error("a result was lost");
  ResultKeepsData_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !wait_fault_q)
    else $error("a waiting result changed");
  ResultStable_A: assert property (@(posedge clk_i) disable iff (!rst_ni)
      res_valid_o && !res_ready_i |-> !rd_fire)
    else $error("a waiting result was overwritten");
`endif
`endif

endmodule
