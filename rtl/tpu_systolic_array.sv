// SPDX-License-Identifier: Apache-2.0
// Weight-stationary int8 systolic array with a shadow weight plane, and the deskew of its results.
// Latency: a row accepted at edge t enters PE(r,c) at edge t+r+c, leaves its partial sum there at
// edge t+r+c+1, and stands complete on row_o after edge t+Rows+Cols.
// All PE registers are flat arrays, updated in place: PE(r,c) is element
// (Rows-1-r)*Cols + (Cols-1-c), so that every source has a higher index than its destination.

module tpu_systolic_array #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  localparam int unsigned LoadW    = $clog2(Rows + 1),
  localparam int unsigned ActWords = (Rows + 3) / 4,
  localparam int unsigned WgtWords = (Cols + 3) / 4
) (
  input  logic                   clk_i,
  input  logic                   clear_i,        // forget all swap and load tags

  input  logic                   rows_active_i,  // a row enters or is inside
  input  logic [7:0]             act_head_i,     // row 0, straight from the port
  input  logic [ActWords*32-1:0] act_skewed_i,   // rows 1 and up, row r delayed by r

  input  logic                   swap_active_i,  // a swap wave enters or is inside
  input  logic                   swap_i,         // the entering row carries the swap tag

  input  logic                   load_active_i,  // a weight beat enters or is inside
  input  logic [7:0]             wgt_head_i,     // column 0, straight from the port
  input  logic [WgtWords*32-1:0] wgt_skewed_i,   // columns 1 and up, column c delayed by c
  input  logic [LoadW-1:0]       load_i,         // 1 + tile row of the entering beat, 0: no beat

  input  logic                   emit_i,         // a complete row leaves at this edge
  output logic [Cols*32-1:0]     row_o
);

  localparam int unsigned N = Rows * Cols;
  // The simulator masks an index into a power of two, and range-checks any other.
  localparam int unsigned NMem   = 1 << $clog2(N);
  localparam int unsigned RowMem = 1 << $clog2(Rows);
  localparam int unsigned ActMem = 1 << $clog2(ActWords);
  localparam int unsigned WgtMem = 1 << $clog2(WgtWords);

  // Deskew memory: slot p holds, at position c, the sum of column c that leaves at pointer p.
  localparam int unsigned SlotW = (Cols > 2) ? $clog2(Cols) : 1;
  localparam int unsigned Slots = 1 << SlotW;

  /* verilator tracing_off */
  /* verilator coverage_off */
  // With one row or one column some loops below are empty: their bound is zero.
  /* verilator lint_off UNSIGNED */

  // Registers of the PEs
  logic        [7:0]  act    [NMem];
  logic        [7:0]  weight [NMem];
  logic        [7:0]  shadow [NMem];
  logic        [31:0] psum   [NMem];
  logic               swap   [NMem];  // travels right with the activation
  logic               load   [NMem];  // travels right with the weight beat

  // Side chains left of column 0; element Rows-1-r belongs to row r
  logic               swap_chain [RowMem];
  logic [LoadW-1:0]   load_chain [RowMem];

  logic [Cols*32-1:0] deskew [Slots];
  logic [SlotW-1:0]   slot;

  // The entering diagonals, unpacked
  logic [7:0]         act_in [4*ActMem];
  logic [7:0]         wgt_in [4*WgtMem];
  logic [31:0]        word;

  // One index for all loops, set outside of any condition: the simulator then keeps it in a local
  // variable and the compiler can vectorise the loops.
  int unsigned i;

// Product of two int8 as 32 bits. Verilator spells out a sign extension with masks, which costs a
// quarter of the whole simulation; it is given the C++ of the same product instead.
`ifdef VERILATOR
  `define TPU_PRODUCT(a, w) \
      $c32("(uint32_t)((int32_t)(int8_t)(", a, ") * (int32_t)(int8_t)(", w, "))")
`else
  `define TPU_PRODUCT(a, w) ({{24{a[7]}}, a} * {{24{w[7]}}, w})
`endif

// The byte `a` if `s`, else `b`, by masks: compilers make slow vector code of the conditional form.
`define TPU_SELECT(s, a, b) (((a ^ b) & {8{s}}) ^ b)

  always_ff @(posedge clk_i) begin
    i = 0;
    if (clear_i) begin
      for (i = 0; i < N; i++) swap[i] = 1'b0;
      for (i = 0; i < N; i++) load[i] = 1'b0;
      for (i = 0; i < Rows; i++) swap_chain[i] = 1'b0;
      for (i = 0; i < Rows; i++) load_chain[i] = '0;
      slot = '0;
    end

    // Results leave the bottom row before it is overwritten, column c delayed by Cols-1-c.
    if (rows_active_i) begin
      for (i = 0; i < Cols; i++) begin
        deskew[(32'(slot) + i) % Slots][(Cols - 1 - i)*32 +: 32] = psum[i];
      end
      if (emit_i) row_o <= deskew[slot];
      slot = slot + 1'b1;

      // Partial sums move down, with the activation and the weight as they stand.
      for (i = 0; i < N - Cols; i++) begin
        psum[i] = psum[i + Cols] + `TPU_PRODUCT(act[i], weight[i]);
      end
      for (i = N - Cols; i < N; i++) begin
        psum[i] = `TPU_PRODUCT(act[i], weight[i]);
      end
    end

    // Weights are replaced at the edge at which the first row of the new tile enters the PE.
    if (swap_active_i) begin
      for (i = 0; i < N - 1; i++) swap[i] = swap[i + 1];
      for (i = 0; i < Rows - 1; i++) swap_chain[i] = swap_chain[i + 1];
      swap_chain[Rows - 1] = swap_i;
      for (i = 0; i < Rows; i++) swap[i*Cols + Cols - 1] = swap_chain[i];
      for (i = 0; i < N; i++) weight[i] = `TPU_SELECT(swap[i], shadow[i], weight[i]);
    end

    // Activations move right.
    if (rows_active_i) begin
      for (i = 0; i < N - 1; i++) act[i] = act[i + 1];
      for (i = 0; i < ActWords; i++) begin
        word = act_skewed_i[i*32 +: 32];
        act_in[4*i]     = word[7:0];
        act_in[4*i + 1] = word[15:8];
        act_in[4*i + 2] = word[23:16];
        act_in[4*i + 3] = word[31:24];
      end
      act_in[0] = act_head_i;
      for (i = 0; i < Rows; i++) act[i*Cols + Cols - 1] = act_in[Rows - 1 - i];
    end

    // A weight beat of tile row k ripples down through the shadow registers as far as row k.
    if (load_active_i) begin
      for (i = 0; i < N - 1; i++) load[i] = load[i + 1];
      for (i = 0; i < Rows - 1; i++) load_chain[i] = load_chain[i + 1];
      load_chain[Rows - 1] = load_i;
      for (i = 0; i < Rows; i++) begin
        load[i*Cols + Cols - 1] = 32'(load_chain[i]) > Rows - 1 - i;
      end
      for (i = 0; i < N - Cols; i++) begin
        shadow[i] = `TPU_SELECT(load[i], shadow[i + Cols], shadow[i]);
      end
      for (i = 0; i < WgtWords; i++) begin
        word = wgt_skewed_i[i*32 +: 32];
        wgt_in[4*i]     = word[7:0];
        wgt_in[4*i + 1] = word[15:8];
        wgt_in[4*i + 2] = word[23:16];
        wgt_in[4*i + 3] = word[31:24];
      end
      wgt_in[0] = wgt_head_i;
      for (i = 0; i < Cols; i++) begin
        shadow[N - Cols + i] =
            `TPU_SELECT(load[N - Cols + i], wgt_in[Cols - 1 - i], shadow[N - Cols + i]);
      end
    end
  end

  `undef TPU_PRODUCT
  `undef TPU_SELECT

endmodule
