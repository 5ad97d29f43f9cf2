// SPDX-License-Identifier: Apache-2.0
// The port contract of README.md as a checker: sees the 21 ports of an array, and says at every
// rising edge which rule they break. Any array with these ports and declared latencies can have it
// beside it, by bind or as an instance; it drives nothing. Sums are not its business.
//
// One register stage and checks of one edge, in SystemVerilog that Verilator, Icarus Verilog 11 and
// others read. A broken rule is an $error that begins with the rule's name; with TPU_CONTRACT_FATAL
// defined it ends the simulation, with TPU_CONTRACT_STOP it is a $stop without a word. Silent until
// the first edge in reset. What follows a broken rule means nothing.

`ifdef TPU_CONTRACT_STOP
`define TPU_RULE(NAME, HOLDS, WHAT) if (!(HOLDS)) $stop;
`elsif TPU_CONTRACT_FATAL
`define TPU_RULE(NAME, HOLDS, WHAT) if (!(HOLDS)) $fatal(1, "%s: %s", NAME, WHAT);
`else
`define TPU_RULE(NAME, HOLDS, WHAT) if (!(HOLDS)) $error("%s: %s", NAME, WHAT);
`endif

module tpu_port_contract #(
  parameter  int Rows           = 16,
  parameter  int Cols           = 16,
  parameter  int AccDepth       = 512,
  parameter  int Dtype          = 0,   // 0: int8, 1: bf16
  parameter  int CommitLatency  = 33,  // edges from an accepted row to the write of its accumulator row
  parameter  int WeightInterval = 1,   // between two weight beats
  parameter  int WeightLatency  = 1,   // from the last beat of a tile to the first row that may use it
  parameter  int KeepRows       = 0,   // 1: remembers all accumulator rows, and compares what is read
  localparam int ElemW          = (Dtype == 1) ? 16 : 8,
  localparam int AccAddrW       = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  wgt_valid_i,
  input logic                  wgt_ready_o,
  input logic [Cols*ElemW-1:0] wgt_data_i,
  input logic                  act_valid_i,
  input logic                  act_ready_o,
  input logic [Rows*ElemW-1:0] act_data_i,
  input logic                  act_swap_i,
  input logic [AccAddrW-1:0]   act_addr_i,
  input logic                  act_accumulate_i,
  input logic                  cmt_valid_o,
  input logic [AccAddrW-1:0]   cmt_addr_o,
  input logic [Cols*32-1:0]    cmt_data_o,
  input logic                  rd_valid_i,
  input logic                  rd_ready_o,
  input logic [AccAddrW-1:0]   rd_addr_i,
  input logic                  res_valid_o,
  input logic                  res_ready_i,
  input logic [Cols*32-1:0]    res_data_o,
  input logic                  busy_o
);

  // The simulator masks an index into a power of two, and range-checks any other.
  localparam int AccMem  = 1 << AccAddrW;
  localparam int SlotMem = 1 << $clog2(CommitLatency);
  // Whether a row is defined matters where bits can be unknown, or rows are compared.
`ifdef VERILATOR
  localparam bit TracksKnown = KeepRows == 1;
`else
  localparam bit TracksKnown = 1'b1;
`endif

  /* verilator tracing_off */

  // Registers begin as nobody knows; this one says whether they mean something.
  logic        started_q = 1'b0;  // there was an edge in reset
  logic        was_reset_q;       // the last one was
  logic [63:0] now_q = 64'd1;     // number of this edge
  logic [63:0] begin_q;           // first edge after the reset

  // Weight tile: beats, and the edges from which the next beat and a swap are accepted.
  logic [8:0]  beats_q;
  logic [63:0] beat_from_q, swap_from_q;

  // Rows in flight: what was accepted at edge t stands in slot t % CommitLatency until it is committed.
  logic [63:0]         accepted_q [SlotMem];  // edge
  logic [AccAddrW-1:0] row_addr_q [SlotMem];
  int                  slot_q;
  int                  flights_q;
  logic [63:0]         last_row_q [AccMem];   // edge at which a row was accepted for it

  // What has to stand at the outputs that are registers.
  logic                commit_q, waits_q, held_q;
  logic [AccAddrW-1:0] commit_addr_q;
  logic [Cols*32-1:0]  held_data_q;

  initial begin
    for (int n = 0; n < SlotMem; n++) accepted_q[n] = 64'd0;
    for (int n = 0; n < AccMem; n++) last_row_q[n] = 64'd0;
  end

  // What the readies have to be, and what is accepted.
  wire tile_complete = beats_q == 9'(Rows);
  wire wgt_ready = rst_ni && !tile_complete && now_q >= beat_from_q;
  wire act_ready = rst_ni && (!act_swap_i || (tile_complete && now_q >= swap_from_q));
  wire rd_ready  = rst_ni && (!waits_q || res_ready_i);
  wire wgt_fire  = wgt_valid_i && wgt_ready;
  wire act_fire  = act_valid_i && act_ready;
  wire rd_fire   = rd_valid_i && rd_ready;
  wire busy      = flights_q != 0 || (beats_q != 9'd0 && !tile_complete);

  // The row that is committed at this edge.
  wire emit = accepted_q[slot_q] + 64'(CommitLatency) == now_q && accepted_q[slot_q] >= begin_q;

  // A row is in flight up to the edge that commits it.
  wire rd_in_flight = last_row_q[rd_addr_i] >= begin_q && last_row_q[rd_addr_i] + 64'(CommitLatency) >= now_q;

  // Not always_ff: the initial block writes some of it, too.
  always @(posedge clk_i) begin
    now_q       <= now_q + 64'd1;
    was_reset_q <= !rst_ni;
    slot_q      <= (slot_q >= CommitLatency - 1 || !started_q) ? 0 : slot_q + 1;
    if (!rst_ni) begin
      started_q   <= 1'b1;
      begin_q     <= now_q + 64'd1;
      beats_q     <= 9'd0;
      beat_from_q <= 64'd0;
      swap_from_q <= 64'd0;
      flights_q   <= 0;
      commit_q    <= 1'b0;
      waits_q     <= 1'b0;
      held_q      <= 1'b0;
    end else if (started_q) begin
      if (wgt_fire) begin
        beats_q     <= beats_q + 9'd1;
        beat_from_q <= now_q + 64'(WeightInterval);
        swap_from_q <= now_q + 64'(WeightLatency);
      end
      if (act_fire) begin
        if (act_swap_i) beats_q <= 9'd0;
        accepted_q[slot_q]     <= now_q;
        row_addr_q[slot_q]     <= act_addr_i;
        last_row_q[act_addr_i] <= now_q;
      end
      if (emit) commit_addr_q <= row_addr_q[slot_q];
      commit_q  <= emit;
      flights_q <= flights_q + 32'(act_fire) - 32'(emit);
      waits_q   <= rd_fire || (waits_q && !res_ready_i);
      held_q    <= waits_q && !res_ready_i;
      if (waits_q && !res_ready_i) held_data_q <= res_data_o;
    end
  end

  // Ports that cannot be known do not stand in the way of what they are compared with: "==="
  always @(posedge clk_i) if (started_q) begin
    if (!rst_ni) begin
      `TPU_RULE("NotReadyInReset_A", {wgt_ready_o, act_ready_o, rd_ready_o} === 3'b000, "a port is ready in reset")
    end else begin
      `TPU_RULE("WgtReady_A", wgt_ready_o === wgt_ready, "wgt_ready_o does not say whether the shadow plane is incomplete")
      `TPU_RULE("ActReady_A", act_ready_o === act_ready, "act_ready_o waits for something else than a swap for its tile")
      `TPU_RULE("RdReady_A", rd_ready_o === rd_ready, "rd_ready_o does not follow the result port")
    end
    if (was_reset_q) begin
      `TPU_RULE("ResetDrops_A", {cmt_valid_o, res_valid_o, busy_o} === 3'b000, "a commit, a result or work after an edge in reset")
    end
    // An edge in reset may drop at once what stood there.
    if (rst_ni && !was_reset_q) begin
      `TPU_RULE("CommitOnTime_A", !commit_q || cmt_valid_o === 1'b1, "cmt_valid_o is low where a row is due")
      `TPU_RULE("CommitHasRow_A", commit_q || cmt_valid_o === 1'b0, "cmt_valid_o is high where no row is due")
      `TPU_RULE("CommitAddress_A", !commit_q || cmt_addr_o === commit_addr_q, "cmt_addr_o is another accumulator row's")
      `TPU_RULE("ReadHasResult_A", !waits_q || res_valid_o === 1'b1, "res_valid_o is low before the result of a read is taken")
      `TPU_RULE("ResultHasRead_A", waits_q || res_valid_o === 1'b0, "res_valid_o is high without a read")
      if (held_q) `TPU_RULE("ResultStays_A", res_data_o === held_data_q, "res_data_o changed while its result waits")
      `TPU_RULE("Busy_A", busy_o === busy, "busy_o does not tell whether there is work")
    end
  end

  always @(posedge clk_i) if (started_q && rst_ni) begin
    `TPU_RULE("RequestsKnown_A", (^{wgt_valid_i, act_valid_i, rd_valid_i, res_ready_i}) !== 1'bx, "fault of the caller: a valid or res_ready_i is unknown")
    `TPU_RULE("ActAddrInRange_A", !act_valid_i || 32'(act_addr_i) < AccDepth, "fault of the caller: act_addr_i is not below AccDepth")
    `TPU_RULE("RdAddrInRange_A", !rd_valid_i || 32'(rd_addr_i) < AccDepth, "fault of the caller: rd_addr_i is not below AccDepth")
    `TPU_RULE("ReadNotInFlight_A", !rd_fire || !rd_in_flight, "fault of the caller: read of a row with a commit in flight")
  end

  // Rows before the first swap meet undefined weights; what they are added to is undefined, too.
  if (TracksKnown) begin : gen_known
    logic swapped_q;                             // since the reset
    logic row_add_q [SlotMem], row_known_q [SlotMem];
    logic acc_known_q [AccMem];                  // what stands there is defined
    logic commit_known_q, result_known_q;

    initial for (int n = 0; n < AccMem; n++) acc_known_q[n] = 1'b0;

    wire emit_known = row_known_q[slot_q] && (!row_add_q[slot_q] || acc_known_q[row_addr_q[slot_q]]);

    always @(posedge clk_i) begin
      if (!rst_ni) begin
        swapped_q <= 1'b0;
      end else if (started_q) begin
        if (act_fire) begin
          if (act_swap_i) swapped_q <= 1'b1;
          row_add_q[slot_q]   <= act_accumulate_i;
          row_known_q[slot_q] <= swapped_q || act_swap_i;
        end
        if (emit) acc_known_q[row_addr_q[slot_q]] <= emit_known;
        commit_known_q <= emit && emit_known;
        if (rd_fire) result_known_q <= acc_known_q[rd_addr_i];
        if (!was_reset_q) begin
          if (commit_q && commit_known_q) `TPU_RULE("CommitKnown_A", (^cmt_data_o) !== 1'bx, "cmt_data_o has unknown bits in a row that is defined")
          if (waits_q && result_known_q) `TPU_RULE("ResultKnown_A", (^res_data_o) !== 1'bx, "res_data_o has unknown bits in a row that is defined")
        end
      end
    end
  end

  if (KeepRows == 1) begin : gen_rows
    logic [Cols*32-1:0] rows [AccMem];
    logic               kept_q [AccMem];  // it is there, and defined
    logic [Cols*32-1:0] result_q;
    logic               compare_q;

    initial for (int n = 0; n < AccMem; n++) kept_q[n] = 1'b0;

    // A commit shows after its edge; a read at the next one gives it. In reset it may be gone.
    wire commit_known = gen_known.commit_known_q;
    wire forward      = commit_q && rd_addr_i == commit_addr_q;

    always @(posedge clk_i) begin
      if (started_q && commit_q) begin
        rows[commit_addr_q]   <= cmt_data_o;
        kept_q[commit_addr_q] <= rst_ni && commit_known;
      end
      if (rd_fire) result_q <= forward ? cmt_data_o : rows[rd_addr_i];
      compare_q <= rd_fire && (forward ? commit_known : kept_q[rd_addr_i]);
      if (started_q && rst_ni && !was_reset_q && compare_q)
        `TPU_RULE("ResultIsRow_A", res_data_o === result_q, "res_data_o is not what was last committed to its row")
    end
  end

  wire unused = ^{wgt_data_i, act_data_i, act_accumulate_i, cmt_data_o};

endmodule
