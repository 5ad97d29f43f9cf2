// SPDX-License-Identifier: Apache-2.0
// The flat and the grid form of the whole matrix unit side by side, with the same inputs and a reset
// at any time: all outputs are equal. For the induction, registers are equal one by one, at every
// edge, bubbles included (index functions: head of tpu_array_flat.sv).

module forms_fv #(
  parameter  int unsigned Rows     = 2,
  parameter  int unsigned Cols     = 2,
  parameter  int unsigned AccDepth = 2,
  parameter  int unsigned Dtype    = 0,
  parameter  int unsigned Pipeline = 1,
  parameter  int unsigned Sum4     = 0,
  // Of the flat form; scripts/formal makes these the defaults there
  parameter  int unsigned BlockPes = 4096,
  parameter  int unsigned SmallPes = 1024,
  parameter  int unsigned PieceMax = 64,
  localparam int unsigned ElemW    = (Dtype == 1) ? 16 : 8,
  localparam int unsigned AccAddrW = (AccDepth > 1) ? $clog2(AccDepth) : 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  wgt_valid_i,
  input logic [Cols*ElemW-1:0] wgt_data_i,
  input logic                  act_valid_i, act_swap_i, act_accumulate_i,
  input logic [Rows*ElemW-1:0] act_data_i,
  input logic [AccAddrW-1:0]   act_addr_i,
  input logic                  rd_valid_i, res_ready_i,
  input logic [AccAddrW-1:0]   rd_addr_i
);

  localparam int unsigned K     = Pipeline;
  localparam int unsigned Bands = (Rows + K - 1) / K;
  localparam int unsigned Cells = (Cols + K - 1) / K;

  // [0]: flat, [1]: grid
  logic [1:0]            wgt_ready, act_ready, cmt_valid, rd_ready, res_valid, busy;
  logic [2*AccAddrW-1:0] cmt_addr;
  logic [2*Cols*32-1:0]  cmt_data, res_data;

  tpu_mxu #(
    .Rows (Rows), .Cols (Cols), .AccDepth (AccDepth), .Dtype (Dtype), .Pipeline (Pipeline),
    .Sum4 (Sum4), .Form (0)
  ) u_flat (
    .clk_i, .rst_ni, .wgt_valid_i, .wgt_ready_o (wgt_ready[0]), .wgt_data_i, .act_valid_i,
    .act_ready_o (act_ready[0]), .act_data_i, .act_swap_i, .act_addr_i, .act_accumulate_i,
    .cmt_valid_o (cmt_valid[0]), .cmt_addr_o (cmt_addr[0*AccAddrW +: AccAddrW]), .cmt_data_o (cmt_data[0*Cols*32 +: Cols*32]),
    .rd_valid_i, .rd_ready_o (rd_ready[0]), .rd_addr_i, .res_valid_o (res_valid[0]), .res_ready_i,
    .res_data_o (res_data[0*Cols*32 +: Cols*32]), .busy_o (busy[0])
  );
  tpu_mxu #(
    .Rows (Rows), .Cols (Cols), .AccDepth (AccDepth), .Dtype (Dtype), .Pipeline (Pipeline),
    .Sum4 (Sum4), .Form (1)
  ) u_grid (
    .clk_i, .rst_ni, .wgt_valid_i, .wgt_ready_o (wgt_ready[1]), .wgt_data_i, .act_valid_i,
    .act_ready_o (act_ready[1]), .act_data_i, .act_swap_i, .act_addr_i, .act_accumulate_i,
    .cmt_valid_o (cmt_valid[1]), .cmt_addr_o (cmt_addr[1*AccAddrW +: AccAddrW]), .cmt_data_o (cmt_data[1*Cols*32 +: Cols*32]),
    .rd_valid_i, .rd_ready_o (rd_ready[1]), .rd_addr_i, .res_valid_o (res_valid[1]), .res_ready_i,
    .res_data_o (res_data[1*Cols*32 +: Cols*32]), .busy_o (busy[1])
  );

  ///////////////////////////
  // Registers, by probes  //
  ///////////////////////////

  // Outside the array: same modules in both
  localparam int unsigned RowsW    = $clog2(Bands + Cells + 2);
  localparam int unsigned LoadW    = $clog2(Rows + Cells);
  localparam int unsigned TagW     = $clog2(Rows + 1);
  localparam int unsigned ControlW = Bands + Cells + 5 * RowsW + LoadW + 2 + TagW + 1 + AccAddrW;
  localparam int unsigned FifoMem  = 1 << RowsW;

  (* keep *) logic [ControlW-1:0]                flat_control, grid_control;
  (* keep *) logic [FifoMem*(AccAddrW+1)-1:0]    flat_fifo, grid_fifo;
  (* keep *) logic [(1<<AccAddrW)*Cols*32-1:0]   flat_acc, grid_acc;
  (* keep *) logic [Cols*32-1:0]                 flat_row, grid_row;
  (* keep *) logic                               clear;

  // PE(r,c) at r*Cols + c, 0 where there is no such register
  (* keep *) logic [Rows*Cols*ElemW-1:0] flat_act, grid_act, flat_weight, grid_weight;
  (* keep *) logic [Rows*Cols*ElemW-1:0] flat_shadow, grid_shadow;
  (* keep *) logic [Rows*Cols*32-1:0]    flat_psum, grid_psum;
  (* keep *) logic [Rows*Cols-1:0]       grid_swap, grid_load;

  // Tags of the flat form, per diagonal, and those of the grid before column 0
  localparam int unsigned SwapLine = Bands + Cells - 1;
  localparam int unsigned LoadLine = Rows + Cells - 1;

  localparam int unsigned LoadMem  = 1 << $clog2(LoadLine + 1);
  localparam bit          Small    = K == 1 && Bands * Cells <= SmallPes;
  localparam int unsigned Piece    = (Cells < PieceMax) ? Cells : PieceMax;

  (* keep *) logic [SwapLine-1:0]   swap_line;
  (* keep *) logic [LoadLine*8-1:0] load_line;
  (* keep *) logic [LoadMem*8-1:0]  newest;
  (* keep *) logic [Cells-1:0]      beat_line;
  (* keep *) logic [Bands-1:0]      grid_swap_line;  // delayed by d + 1 at [d]
  (* keep *) logic [Rows*TagW-1:0]  grid_load_line;  // at row r

  // Delay lines
  localparam int unsigned PerWord  = 32 / ElemW;
  localparam int unsigned ActWords = (Rows + PerWord - 1) / PerWord;
  localparam int unsigned WgtWords = (Cols + PerWord - 1) / PerWord;
  localparam int unsigned ActSlots = 1 << $clog2(Bands);
  localparam int unsigned WgtSlots = 1 << $clog2(Cells);
  localparam int unsigned ActRing  = ActSlots * 4 * (1 << $clog2((ActWords + 3) / 4));
  localparam int unsigned WgtRing  = WgtSlots * 4 * (1 << $clog2((WgtWords + 3) / 4));
  localparam int unsigned SumQuads = (Cells + 3) / 4;
  localparam int unsigned SumRing  = WgtSlots * 4 * (1 << $clog2(K * SumQuads));

  (* keep *) logic [ActRing*32-1:0]         act_ring;
  (* keep *) logic [WgtRing*32-1:0]         wgt_ring;
  (* keep *) logic [SumRing*32-1:0]         sum_ring;
  (* keep *) logic [31:0]                   act_slot, wgt_slot, sum_slot;
  (* keep *) logic [Rows*Bands*ElemW-1:0]   grid_act_line;  // lane l delayed by d at l*Bands + d - 1
  (* keep *) logic [Cols*Cells*ElemW-1:0]   grid_wgt_line;
  (* keep *) logic [Cols*Cells*32-1:0]      grid_sum_line;

  function automatic logic [31:0] at(input logic [31:0] word, input logic [31:0] slot,
                                     input logic [31:0] slots);
    at = ((word >> 2) * slots + (slot & (slots - 1))) * 4 + (word & 32'd3);
  endfunction

  ///////////////////////////
  // Claims                //
  ///////////////////////////

  // Defined from power-up: the registers without reset begin with the same, unknown values.
  logic started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  always_comb begin
    if (!started) assume (!rst_ni);

    assert (wgt_ready[0] == wgt_ready[1]);
    assert (act_ready[0] == act_ready[1]);
    assert (cmt_valid[0] == cmt_valid[1]);
    assert (rd_ready[0] == rd_ready[1]);
    assert (res_valid[0] == res_valid[1]);
    assert (busy[0] == busy[1]);
  end

  logic same_data;
  assign same_data = cmt_addr[0 +: AccAddrW] == cmt_addr[AccAddrW +: AccAddrW] &&
                     cmt_data[0 +: Cols*32] == cmt_data[Cols*32 +: Cols*32] &&
                     res_data[0 +: Cols*32] == res_data[Cols*32 +: Cols*32] &&
                     flat_row == grid_row && flat_acc == grid_acc &&
                     flat_act == grid_act && flat_weight == grid_weight &&
                     flat_shadow == grid_shadow && flat_psum == grid_psum && flat_fifo == grid_fifo &&
                     flat_control == grid_control;

  logic       same_tags, same_lines;
  logic [7:0] greatest;

  always_comb begin
    same_tags  = 1'b1;
    same_lines = 1'b1;
    for (int unsigned r = 0; r < Rows; r++) begin
      for (int unsigned c = 0; c < Cols; c = c + K) begin
        if (grid_swap[r*Cols+c] != (swap_line[Bands-1-r/K + Cells-1-c/K] && !clear)) same_tags = 1'b0;
        if (r == 0) begin
          if (grid_load[c] != (beat_line[Cells-1-c/K] && !clear)) same_tags = 1'b0;
        end else begin
          if (grid_load[r*Cols+c] != (load_line[(Rows-1-r + Cells-1-c/K)*8 +: 8] >= r && !clear)) same_tags = 1'b0;
        end
      end
      if (r > 0) begin
        if (clear ? grid_load_line[r*TagW +: TagW] != 0
                  : {24'd0, load_line[(LoadLine-r)*8 +: 8]} !=
                    ((grid_load_line[r*TagW +: TagW] == 0) ? 32'd0 : 32'(grid_load_line[r*TagW +: TagW]) - 32'd1)) same_tags = 1'b0;
      end
      for (int unsigned d = 1; d <= r / K; d++) begin
        if (grid_act_line[(r*Bands+d-1)*ElemW +: ElemW] !=
            act_ring[at(r / PerWord, act_slot - d, ActSlots)*32 + (r % PerWord)*ElemW +: ElemW]) same_lines = 1'b0;
      end
    end
    // Not in a small array: largest tile row in load_line[n] and the Piece-1 elements after it
    for (int unsigned n = 0; n < LoadMem && !Small; n++) begin
      greatest = 8'd0;
      for (int unsigned m = n; m < n + Piece && m < LoadLine; m++) begin
        if (load_line[m*8 +: 8] > greatest) greatest = load_line[m*8 +: 8];
      end
      if (!clear && newest[n*8 +: 8] != greatest) same_tags = 1'b0;
    end
    for (int unsigned d = 1; d < Bands; d++) begin
      if (grid_swap_line[d-1] != (swap_line[SwapLine-d] && !clear)) same_tags = 1'b0;
    end
    for (int unsigned c = 0; c < Cols; c++) begin
      for (int unsigned d = 1; d <= c / K; d++) begin
        // The flat form keeps beats only; the grid also what stands at the port beside them.
        if (beat_line[Cells-d] && !clear &&
            grid_wgt_line[(c*Cells+d-1)*ElemW +: ElemW] !=
            wgt_ring[at(c / PerWord, wgt_slot - d, WgtSlots)*32 + (c % PerWord)*ElemW +: ElemW]) same_lines = 1'b0;
      end
      for (int unsigned d = 1; d <= Cells - 1 - c / K; d++) begin
        if (grid_sum_line[(c*Cells+d-1)*32 +: 32] !=
            sum_ring[at((c % K)*SumQuads*4 + Cells-1-c/K, sum_slot - d, WgtSlots)*32 +: 32]) same_lines = 1'b0;
      end
    end
  end

  always_comb begin
    if (!started) begin
      assume (same_data && same_lines && same_tags && clear);
    end else begin
      assert (same_data);
      assert (same_tags);
      assert (same_lines);
    end
  end

endmodule
