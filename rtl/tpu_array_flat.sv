// SPDX-License-Identifier: Apache-2.0
// Weight-stationary systolic array in the form that simulates fastest: ports, latency and, edge by
// edge, registers are those of tpu_array_grid, but all PEs stand in flat memories that one block
// updates in place. Skews and deskew are memories with a rotating slot.
// Latency: a row accepted at edge t takes effect in PE(r,c) at edge t + r/Pipeline + c/Pipeline and
// stands complete on row_o after edge t + ceil(Rows/Pipeline) + ceil(Cols/Pipeline).
//
// Where the registers of PE(r,c) are, with K = Pipeline, Bands = ceil(Rows/K), Cells = ceil(Cols/K)
// Plane = Bands*Cells and at = (Bands-1 - r/K)*Cells + (Cells-1 - c/K):
//   act     [(r%K)*Plane + at]            if c % K == 0
//   weight  [((r%K)*K + c%K)*Plane + at]
//   shadow  [((r%K)*K + c%K)*Plane + at]
//   psum    [(c%K)*Plane + at]            if r % K == K-1 or r == Rows-1
// With Pipeline 1 all four are at (Rows-1-r)*Cols + (Cols-1-c). A source has a higher index than
// its destination, so that loops in ascending order update in place.
// Swap and load tags have one register per diagonal, since all PEs of a diagonal hold the same: the
// swap tag of PE(r,c) is swap_line[(Bands-1 - r/K) + (Cells-1 - c/K)], and its load tag tells that
// load_line[(Rows-1 - r) + (Cells-1 - c/K)] >= r (row 0: beat_line[Cells-1 - c/K]).

module tpu_array_flat #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned Dtype    = 0,   // 0: int8, 1: bf16
  parameter  int unsigned Pipeline = 1,   // a register every this many PEs, right and down
  parameter  int unsigned Sum4     = 0,   // 1: products of four rows are added with one rounding
  // Only speed depends on these. The proofs set them small, so that small arrays have the loops of
  // large ones.
  parameter  int unsigned BlockPes = 4096,  // int8: rows are updated in blocks of so many PEs or more
  parameter  int unsigned SmallPes = 1024,  // of an array of so many, all shadow registers move
  parameter  int unsigned PieceMax = 64,    // of a larger one, pieces of so many where a beat is
`ifdef VERILATOR
  parameter  int unsigned Vector   = 32,    // elements that the simulating machine takes at once
`else
  parameter  int unsigned Vector   = 1,
`endif
  localparam int unsigned ElemW    = (Dtype == 1) ? 16 : 8,
  localparam int unsigned LoadW    = $clog2(Rows + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,        // forget all swap and load tags

  input  logic                  rows_active_i,  // a row enters or is inside
  input  logic                  act_valid_i,    // a row enters; not used, bubbles move as well
  input  logic                  act_swap_i,     // it carries the swap tag
  input  logic [Rows*ElemW-1:0] act_data_i,
  input  logic                  swap_active_i,  // a swap wave enters or is inside

  input  logic                  load_active_i,  // a weight beat enters or is inside
  input  logic                  wgt_valid_i,    // a beat enters
  input  logic [LoadW-1:0]      load_i,         // 1 + tile row of the entering beat, 0: no beat
  input  logic [Cols*ElemW-1:0] wgt_data_i,

  input  logic                  emit_i,         // a complete row leaves at this edge
  output logic [Cols*32-1:0]    row_o
);

  logic unused_inputs;
  assign unused_inputs = ^{rst_ni, act_valid_i};

  localparam int unsigned K     = Pipeline;
  localparam int unsigned Bands = (Rows + K - 1) / K;
  localparam int unsigned Cells = (Cols + K - 1) / K;
  localparam int unsigned Plane = Bands * Cells;
  localparam int unsigned Last  = (Rows - 1) % K + 1;  // rows of the last band

  // Memories are as large as the next power of two: the simulator masks an index into such a one,
  // which the compiler sees through, and range-checks any other.
  localparam int unsigned ActMem = 1 << $clog2(K * Plane + 1);
  localparam int unsigned WgtMem = 1 << $clog2(K * K * Plane);
  localparam int unsigned SumMem = 1 << $clog2(K * Plane + Cells);

  // With Pipeline 1, rows are updated in blocks of about half a first-level cache, in turns from
  // the first to the last and back: what was touched last is still there.
  function automatic int unsigned largest_divisor(input int unsigned number,
                                                  input int unsigned limit);
    largest_divisor = 1;
    for (int unsigned d = 2; d <= 8; d++) begin
      if (d <= limit && number % d == 0) largest_divisor = d;
    end
  endfunction
  localparam int unsigned Blocks    = (Dtype == 1) ? 1 : largest_divisor(Rows, Rows * Cols / BlockPes);
  localparam int unsigned BlockRows = Rows / Blocks;
  localparam int unsigned BlockSize = BlockRows * Cols;
  localparam int unsigned Turns     = (Blocks == 1) ? 1 : 2 * Blocks;

  // Diagonals, the newest last. Loops over them go on to whole vectors of the machine that
  // simulates: its compiler would unroll short loops instead of vectorising them.
  localparam int unsigned SwapLine = Bands + Cells - 1;
  localparam int unsigned LoadLine = Rows + Cells - 1;
  localparam int unsigned SwapPad  = (SwapLine + Vector - 1) / Vector * Vector;
  localparam int unsigned LoadPad  = (LoadLine + Vector - 1) / Vector * Vector;
  localparam int unsigned CellPad  = (Cells + Vector - 1) / Vector * Vector;
  localparam int unsigned SwapMem  = 1 << $clog2(SwapPad + 1);
  localparam int unsigned LoadMem  = 1 << $clog2(LoadPad + Vector);
  localparam int unsigned CellMem  = 1 << $clog2(CellPad + 1);

  // Shadow registers move in pieces of rows, which are skipped where no beat is; in a small array
  // all at once.
  localparam bit          Small    = K == 1 && Plane <= SmallPes;
  localparam int unsigned Piece    = (Cells < PieceMax) ? Cells : PieceMax;
  localparam int unsigned Pieces   = (Cells + Piece - 1) / Piece;
  localparam int unsigned TakeMem  = Small ? 1 << $clog2(Plane + Vector) : CellMem;

  // Skews and deskew: slots of whole rows, as words. Four words of a slot and those of the next
  // slots stand together, so that a diagonal meets few cache lines.
  localparam int unsigned PerWord  = 32 / ElemW;
  localparam int unsigned ActWords = (Rows + PerWord - 1) / PerWord;
  localparam int unsigned WgtWords = (Cols + PerWord - 1) / PerWord;
  localparam int unsigned ActSlots = 1 << $clog2(Bands);
  localparam int unsigned WgtSlots = 1 << $clog2(Cells);
  localparam int unsigned ActRing  = ActSlots * 4 * (1 << $clog2((ActWords + 3) / 4));
  localparam int unsigned WgtRing  = WgtSlots * 4 * (1 << $clog2((WgtWords + 3) / 4));
  localparam int unsigned SumQuads = (Cells + 3) / 4;  // of one column of the bands
  localparam int unsigned SumRing  = WgtSlots * 4 * (1 << $clog2(K * SumQuads));

  /* verilator tracing_off */
  /* verilator coverage_off */
  // For some sizes loops are empty: their bound is zero.
  /* verilator lint_off UNSIGNED */

  // Registers of the PEs
  logic [ElemW-1:0] act    [ActMem];
  logic [ElemW-1:0] weight [WgtMem];
  logic [ElemW-1:0] shadow [WgtMem];
  logic [31:0]      psum   [SumMem];

  // Tags per diagonal: swap; tile row of a beat; a beat at row 0
  logic             swap_line [SwapMem];
  logic [7:0]       load_line [LoadMem];
  logic             beat_line [CellMem];

  // Delay lines
  logic [31:0]      act_ring [ActRing];
  logic [31:0]      wgt_ring [WgtRing];
  logic [31:0]      sum_ring [SumRing];
  logic [31:0]      act_slot_q, wgt_slot_q, sum_slot_q;
  logic             back_q;  // direction of the blocks

  // Largest tile row in load_line[i] and the Piece - 1 elements after it
  logic [7:0]       newest    [LoadMem];

  // Values within an edge
  logic [ActWords*32-1:0] act_words;
  logic [WgtWords*32-1:0] wgt_words;
  logic [Cols*32-1:0]     complete;
  logic [ElemW-1:0]       entering [1 << $clog2(ActWords * PerWord)];  // last row first
  logic [31:0]            above    [1 << $clog2(Blocks * Cols)];       // what a block has above it
  logic [ElemW-1:0]       take     [TakeMem];
  logic [7:0]             tile_row;
  logic                   wave;

  // Set outside of any condition: the simulator then keeps them in local variables, and the
  // compiler can vectorise the loops.
  int unsigned i, j, x, n, m;
  // The simulator unrolls loops of up to 64 turns whose bounds it knows; where it must not, the
  // loop starts at `zero`.
`ifdef VERILATOR
  int unsigned zero;
`else
  localparam int unsigned zero = 0;
`endif

// Product of two int8 as 32 bits. Verilator spells out a sign extension with masks, which costs a
// quarter of the whole simulation; it is given the C++ of the same product instead.
`ifdef VERILATOR
  `define TPU_PRODUCT(a, w) \
      $c32("(uint32_t)((int32_t)(int8_t)(", a, ") * (int32_t)(int8_t)(", w, "))")
`else
  `define TPU_PRODUCT(a, w) ({{24{a[7]}}, a[7:0]} * {{24{w[7]}}, w[7:0]})
`endif

// One PE: partial sum p, activation a, weight w
`define TPU_MAC(p, a, w) \
    ((Dtype == 1) ? tpu_bf16_pkg::sum(p, tpu_bf16_pkg::product(16'(a), 16'(w))) \
                  : p + `TPU_PRODUCT(a, w))

// Product in row `r` of a band; a short last band has fewer rows.
`define TPU_ADDEND(r) \
    (((r) < Last || i >= Cells) \
         ? tpu_bf16_pkg::product(16'(act[(r)*Plane + i]), 16'(weight[((r)*K + n)*Plane + i])) \
         : 32'd0)

// The block of turn m: first forth, then back; its first element, and that of its top row
`define TPU_BLOCK ((m < Blocks) ? m : 2*Blocks - 1 - m)
`define TPU_FIRST (`TPU_BLOCK*BlockSize)
`define TPU_TOP   (`TPU_BLOCK*BlockSize + BlockSize - Cols)

// Where piece n of a row begins. The last one reaches back: moving twice does no harm.
`define TPU_PIECE ((n == Pieces - 1) ? Cells - Piece : n * Piece)

// Where row r of the array begins in column m of the bands
`define TPU_ROW(r) ((((r) % K)*K + m)*Plane + (Bands - 1 - (r) / K)*Cells)

// The column of position 4*i + x in column n of the bands
`define TPU_COLUMN ((Cells - 1 - x - i*4)*K + n)

// The element `a` where the mask is set, else `b`
`define TPU_SELECT(mask, a, b) (((a ^ b) & mask) ^ b)

// Place of word `w` of slot `s` in a ring of `slots`
`define TPU_AT(w, s, slots) ((((w) >> 2) * (slots) + ((s) % (slots))) * 4 + (w) % 4)

  always_ff @(posedge clk_i) begin
    i = 0;
    j = 0;
    x = 0;
    n = 0;
    m = 0;
`ifdef VERILATOR
    zero = 0;
`endif
    if (clear_i) begin
      for (i = 0; i < SwapMem; i++) swap_line[i] = 1'b0;
      for (i = 0; i < LoadMem; i++) load_line[i] = 8'd0;
      if (!Small) for (i = 0; i < LoadMem; i++) newest[i] = 8'd0;
      for (i = 0; i < CellMem; i++) beat_line[i] = 1'b0;
    end

    if (rows_active_i) begin
      // Results leave the bottom row before it is overwritten; a complete row is a diagonal of what
      // they were.
      for (n = zero; n < K; n++) begin
        for (i = zero; i < SumQuads; i++) begin
          for (x = 0; x < 4; x++) begin
            sum_ring[`TPU_AT((n*SumQuads + i)*4 + x, sum_slot_q, WgtSlots)] =
                psum[n*Plane + i*4 + x];
          end
        end
      end
      if (emit_i) begin
        for (n = zero; n < K; n++) begin
          for (i = zero; i < SumQuads; i++) begin
            for (x = 0; x < 4; x++) begin
              if (`TPU_COLUMN < Cols) begin
                complete[`TPU_COLUMN*32 +: 32] =
                    sum_ring[`TPU_AT((n*SumQuads + i)*4 + x, sum_slot_q - x - i*4, WgtSlots)];
              end
            end
          end
        end
        row_o <= complete;
      end
      sum_slot_q = sum_slot_q + 1;

      // The diagonal that enters on the left
      act_words = (ActWords*32)'(act_data_i);
      for (i = zero; i < ActWords; i++) begin
        act_ring[`TPU_AT(i, act_slot_q, ActSlots)] = act_words[i*32 +: 32];
      end
      for (i = zero; i < ActWords; i++) begin
        for (n = 0; n < PerWord; n++) begin
          entering[Rows - 1 - n - i*PerWord] = ElemW'(
              act_ring[`TPU_AT(i, act_slot_q - (i*PerWord + n) / K, ActSlots)] >> (ElemW*n));
        end
      end
      act_slot_q = act_slot_q + 1;

      // Partial sums move down, with activation and weight as they stand; activations move right.
      if (K == 1) begin
        for (n = 0; n < Blocks; n++) begin
          for (i = zero; i < Cols; i++) begin
            above[n*Cols + i] = (n == Blocks - 1) ? 32'd0 : psum[(n + 1)*BlockSize + i];
          end
        end
        for (m = 0; m < Turns; m++) begin
          if (Blocks == 1 || back_q == (m >= Blocks)) begin
            for (i = zero + `TPU_FIRST; i < `TPU_TOP; i++) begin
              psum[i] = `TPU_MAC(psum[i + Cols], act[i], weight[i]);
              if (Dtype == 0) act[i] = act[i + 1];
            end
            for (i = zero; i < Cols; i++) begin
              psum[`TPU_TOP + i] = `TPU_MAC(above[`TPU_BLOCK*Cols + i], act[`TPU_TOP + i],
                                            weight[`TPU_TOP + i]);
            end
            // Compilers vectorise the sums of bf16 only in a loop of their own.
            for (i = zero + ((Dtype == 0) ? `TPU_TOP : `TPU_FIRST); i < `TPU_TOP + Cols; i++) begin
              act[i] = act[i + 1];
            end
            for (j = zero + `TPU_BLOCK*BlockRows; j < (`TPU_BLOCK + 1)*BlockRows; j++) begin
              act[j*Cols + Cols - 1] = entering[j];
            end
          end
        end
        back_q = !back_q;
      end else begin
        // One row of all bands at a time, on top of the sums of the bands above
        for (i = zero; i < K*Plane; i++) psum[i] = psum[i + Cells];
        for (n = zero; n < K; n++) begin
          for (i = n*Plane + Plane - Cells; i < n*Plane + Plane; i++) psum[i] = 32'd0;
          if (Sum4 == 0) begin
            for (m = zero; m < K; m++) begin
              for (i = (m < Last) ? 0 : Cells; i < Plane; i++) begin
                psum[n*Plane + i] =
                    `TPU_MAC(psum[n*Plane + i], act[m*Plane + i], weight[(m*K + n)*Plane + i]);
              end
            end
          end else begin
            for (m = zero; m < K; m = m + 4) begin
              for (i = (m < Last) ? 0 : Cells; i < Plane; i++) begin
                psum[n*Plane + i] = tpu_bf16_pkg::sum(psum[n*Plane + i], tpu_bf16_pkg::sum4(
                    `TPU_ADDEND(m), `TPU_ADDEND(m + 1), `TPU_ADDEND(m + 2), `TPU_ADDEND(m + 3)));
              end
            end
          end
        end
        for (i = zero; i < K*Plane; i++) act[i] = act[i + 1];
        for (j = zero; j < Rows; j++) begin
          act[((Rows - 1 - j) % K)*Plane + (Bands - 1 - (Rows - 1 - j) / K)*Cells + Cells - 1] =
              entering[j];
        end
      end
    end

    // Weights are replaced at the edge at which the first row of the new tile enters the PE.
    if (swap_active_i) begin
      for (i = zero; i < SwapPad; i++) swap_line[i] = swap_line[i + 1];
      swap_line[SwapLine - 1] = act_swap_i;
      for (x = zero; x < SwapPad; x = x + Vector) begin
        wave = Small;
        if (!Small) for (n = x; n < x + Vector; n++) wave = wave | swap_line[n];
        if (wave) begin
          for (n = x; n < x + Vector; n++) begin
            if (swap_line[n]) begin
              for (m = zero; m < K*K; m++) begin
                for (j = (n < Cells) ? 0 : n - Cells + 1; j <= n && j < Bands; j++) begin
                  weight[m*Plane + j*Cells + n - j] = shadow[m*Plane + j*Cells + n - j];
                end
              end
            end
          end
        end
      end
    end

    // A weight beat of tile row k ripples down through the shadow registers as far as row k. Here j
    // counts the rows from the bottom. Masks that come from a memory select, because compilers make
    // jumps of conditions.
    if (load_active_i) begin
      for (i = zero; i < LoadPad; i++) load_line[i] = load_line[i + 1];
      load_line[LoadLine - 1] = (load_i == '0) ? 8'd0 : 8'(32'(load_i) - 32'd1);
      for (i = zero; i < CellPad; i++) beat_line[i] = beat_line[i + 1];
      beat_line[Cells - 1] = load_i != '0;

      if (Small) begin
        // What a row writes too much into `take`, the next one overwrites.
        for (j = zero; j < Rows - 1; j++) begin
          tile_row = 8'(Rows - 1 - j);
          for (x = zero; x < CellPad; x++) take[j*Cols + x] = {ElemW{load_line[j + x] >= tile_row}};
        end
        for (i = zero; i < Plane - Cells; i++) begin
          shadow[i] = `TPU_SELECT(take[i], shadow[i + Cells], shadow[i]);
        end
      end else begin
        for (i = zero; i < LoadPad; i++) newest[i] = newest[i + 1];
        tile_row = load_line[LoadLine - 1];
        for (i = zero + LoadLine - Piece; i < LoadLine; i++) begin
          newest[i] = (newest[i] > tile_row) ? newest[i] : tile_row;
        end

        for (j = zero; j < Rows - 1; j++) begin
          tile_row = 8'(Rows - 1 - j);
          for (n = 0; n < Pieces; n++) begin
            if (newest[j + `TPU_PIECE] >= tile_row) begin
              for (x = zero + `TPU_PIECE; x < `TPU_PIECE + Piece; x++) begin
                take[x] = {ElemW{load_line[j + x] >= tile_row}};
              end
              if (K == 1) begin
                for (x = zero + `TPU_PIECE; x < `TPU_PIECE + Piece; x++) begin
                  shadow[j*Cols + x] =
                      `TPU_SELECT(take[x], shadow[j*Cols + x + Cols], shadow[j*Cols + x]);
                end
              end else begin
                for (m = zero; m < K; m++) begin
                  for (x = zero + `TPU_PIECE; x < `TPU_PIECE + Piece; x++) begin
                    shadow[`TPU_ROW(Rows - 1 - j) + x] =
                        `TPU_SELECT(take[x], shadow[`TPU_ROW(Rows - 2 - j) + x],
                                    shadow[`TPU_ROW(Rows - 1 - j) + x]);
                  end
                end
              end
            end
          end
        end
      end

      // The top row takes the beat from the port, column c delayed by c/K.
      if (wgt_valid_i) begin
        wgt_words = (WgtWords*32)'(wgt_data_i);
        for (i = zero; i < WgtWords; i++) begin
          wgt_ring[`TPU_AT(i, wgt_slot_q, WgtSlots)] = wgt_words[i*32 +: 32];
        end
      end
      for (i = zero; i < WgtWords; i++) begin
        for (n = 0; n < PerWord; n++) begin
          if (i*PerWord + n < Cols && beat_line[Cells - 1 - (i*PerWord + n) / K]) begin
            shadow[((i*PerWord + n) % K)*Plane + Plane - 1 - (i*PerWord + n) / K] = ElemW'(
                wgt_ring[`TPU_AT(i, wgt_slot_q - (i*PerWord + n) / K, WgtSlots)] >> (ElemW*n));
          end
        end
      end
      wgt_slot_q = wgt_slot_q + 1;
    end
  end

  `undef TPU_PRODUCT
  `undef TPU_MAC
  `undef TPU_BLOCK
  `undef TPU_FIRST
  `undef TPU_TOP
  `undef TPU_PIECE
  `undef TPU_ROW
  `undef TPU_COLUMN
  `undef TPU_SELECT
  `undef TPU_ADDEND
  `undef TPU_AT

endmodule
