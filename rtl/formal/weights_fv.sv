// SPDX-License-Identifier: Apache-2.0
// No weight is lost, or used before its tile is complete, or by a row of another tile: a plain tile
// without any delay is filled by the accepted beats and taken by the rows that swap. While a row's
// activation stands in a PE, the weight there is the one of the tile that this row had.

module weights_fv #(
  parameter  int unsigned Rows     = 2,
  parameter  int unsigned Cols     = 2,
  parameter  int unsigned Pipeline = 1
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              wgt_valid_i,
  input logic [Cols*8-1:0] wgt_data_i,
  input logic              act_valid_i, act_swap_i,
  input logic [Rows*8-1:0] act_data_i
);

  localparam int unsigned K      = Pipeline;
  localparam int unsigned Bands  = (Rows + K - 1) / K;
  localparam int unsigned Cells  = (Cols + K - 1) / K;
  localparam int unsigned Length = Rows + Cells - 1;  // edges from the ports to the last PE
  localparam int unsigned TileW  = Rows * Cols * 8;
  localparam int unsigned BeatsW = $clog2(Rows + 1);
  localparam int unsigned RowsW  = $clog2(Bands + Cells + 2);
  localparam int unsigned LoadW  = $clog2(Rows + Cells);

  logic wgt_ready, act_ready, beat, row, swap;

  tpu_mxu #(
    .Rows (Rows), .Cols (Cols), .AccDepth (1), .Pipeline (Pipeline), .Form (1)
  ) u_mxu (
    .clk_i, .rst_ni, .wgt_valid_i, .wgt_ready_o (wgt_ready), .wgt_data_i, .act_valid_i,
    .act_ready_o (act_ready), .act_data_i, .act_swap_i, .act_addr_i (1'b0),
    .act_accumulate_i (1'b0), .rd_valid_i (1'b0), .rd_addr_i (1'b0), .res_ready_i (1'b1)
  );

  assign beat = wgt_valid_i && wgt_ready;
  assign row  = act_valid_i && act_ready;
  assign swap = row && act_swap_i;

  ///////////////////////////
  // Registers, by probes  //
  ///////////////////////////

  // PE(r,c) at r*Cols + c
  (* keep *) logic [TileW-1:0]         weight, shadow, act;
  (* keep *) logic [Rows*Cols-1:0]     swap_tag, load_tag;
  // Before column 0 and above row 0: lane l delayed by d + 1 edges at l*Bands + d (l*Cells + d)
  (* keep *) logic [Bands-1:0]         swap_line;  // at d
  (* keep *) logic [Rows*BeatsW-1:0]   load_line;  // at row r
  (* keep *) logic [Rows*Bands*8-1:0]  act_line;
  (* keep *) logic [Cols*Cells*8-1:0]  wgt_line;
  (* keep *) logic [RowsW-1:0]         rows_left, swap_left;
  (* keep *) logic [LoadW-1:0]         load_left;
  (* keep *) logic [BeatsW-1:0]        wgt_left;

  ///////////////////////////
  // Specification         //
  ///////////////////////////

  // What was accepted n+1 edges ago at [n], and the state before the oldest of it; so no state in
  // which an induction can begin contradicts its own past.
  logic [Length-1:0]        line_beat, line_row, line_swap;
  logic [Length*Cols*8-1:0] line_wgt;
  logic [Length*Rows*8-1:0] line_act;
  logic [BeatsW-1:0]        old_beats;
  logic [TileW-1:0]         old_tile, old_used;
  logic                     old_any;
  logic                     started = 1'b0;

  // After what was accepted n+1 edges ago: beats of the tile that is loaded, that tile, the tile
  // of the last row, whether there is one
  logic [(Length+1)*BeatsW-1:0] beats;
  logic [(Length+1)*TileW-1:0]  tile, used;
  logic [Length:0]              any;
  // Tile row of the beat and one more, 0: no beat
  logic [Length*BeatsW-1:0]     tag;

  always_comb begin
    beats = {old_beats, {Length*BeatsW{1'b0}}};
    tile  = {old_tile, {Length*TileW{1'b0}}};
    used  = {old_used, {Length*TileW{1'b0}}};
    any   = {old_any, {Length{1'b0}}};
    tag   = '0;
    for (int n = Length - 1; n >= 0; n--) begin
      beats[n*BeatsW +: BeatsW] = beats[(n+1)*BeatsW +: BeatsW];
      tile[n*TileW +: TileW]    = tile[(n+1)*TileW +: TileW];
      used[n*TileW +: TileW]    = used[(n+1)*TileW +: TileW];
      any[n]                    = any[n+1];
      if (line_swap[n]) begin
        used[n*TileW +: TileW]    = tile[(n+1)*TileW +: TileW];
        any[n]                    = 1'b1;
        beats[n*BeatsW +: BeatsW] = '0;
      end else if (line_beat[n]) begin
        tag[n*BeatsW +: BeatsW]   = BeatsW'(Rows) - beats[(n+1)*BeatsW +: BeatsW];
        beats[n*BeatsW +: BeatsW] = beats[(n+1)*BeatsW +: BeatsW] + 1'b1;
        for (int r = 0; r < Rows; r++) begin
          if (tag[n*BeatsW +: BeatsW] == BeatsW'(r + 1)) begin
            tile[n*TileW + r*Cols*8 +: Cols*8] = line_wgt[n*Cols*8 +: Cols*8];
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    started   <= 1'b1;
    line_beat <= Length'({line_beat, beat});
    line_row  <= Length'({line_row, row});
    line_swap <= Length'({line_swap, swap});
    line_wgt  <= (Length*Cols*8)'({line_wgt, wgt_data_i});
    line_act  <= (Length*Rows*8)'({line_act, act_data_i});
    old_beats <= beats[(Length-1)*BeatsW +: BeatsW];
    old_tile  <= tile[(Length-1)*TileW +: TileW];
    old_used  <= used[(Length-1)*TileW +: TileW];
    old_any   <= any[Length-1];
    if (!rst_ni) begin
      line_beat <= '0;
      line_row  <= '0;
      line_swap <= '0;
      old_beats <= '0;
      old_any   <= 1'b0;
    end
  end

  ///////////////////////////
  // Claims                //
  ///////////////////////////

  logic check;
  assign check = started && rst_ni;

  always_comb begin
    if (!started) assume (!rst_ni);
    if (check) begin
      // No beat overwrites a complete tile, no row takes an incomplete one.
      assert (wgt_ready == (beats[0 +: BeatsW] < BeatsW'(Rows)));
      if (swap) assert (beats[0 +: BeatsW] == BeatsW'(Rows));
    end
  end

  // Rows take effect in PE(r,c) after r/K + c/K edges, beats after r + c/K: there, the array is
  // what the specification was that long ago.
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    for (genvar c = 0; c < Cols; c++) begin : gen_col
      localparam int unsigned P = r * Cols + c;
      localparam int unsigned D = r / K + c / K;
      localparam int unsigned B = r + c / K;

      logic [BeatsW-1:0] pe_beats;
      assign pe_beats = beats[B*BeatsW +: BeatsW];

      always_comb begin
        if (check && line_row[D] && any[D]) begin
          assert (weight[P*8 +: 8] == used[D*TileW + P*8 +: 8]);
          assert (act[P*8 +: 8] == line_act[(D*Rows+r)*8 +: 8]);
        end

        // For the induction: the weight stays between rows; a beat passes the rows above its own.
        if (check) begin
          if (any[D]) assert (weight[P*8 +: 8] == used[D*TileW + P*8 +: 8]);
          for (int k = r; k < Rows; k++) begin
            if ((k == r) ? pe_beats >= BeatsW'(Rows - k) : pe_beats == BeatsW'(Rows - k)) begin
              assert (shadow[P*8 +: 8] == tile[B*TileW + (k*Cols+c)*8 +: 8]);
            end
          end
          if (c % K == 0) begin
            assert (swap_tag[P] == line_swap[D]);
            assert (load_tag[P] == (tag[B*BeatsW +: BeatsW] > BeatsW'(r)));
          end
        end
      end
    end
  end

  // For the induction: delay lines before the array; what is no row and no beat may be anything.
  always_comb begin
    if (check) begin
      for (int d = 0; d < Bands - 1; d++) assert (swap_line[d] == line_swap[d]);
      for (int r = 1; r < Rows; r++) begin
        assert (load_line[r*BeatsW +: BeatsW] == tag[(r-1)*BeatsW +: BeatsW]);
        for (int d = 0; d < r / K; d++) begin
          if (line_row[d]) assert (act_line[(r*Bands+d)*8 +: 8] == line_act[(d*Rows+r)*8 +: 8]);
        end
      end
      for (int c = 1; c < Cols; c++) begin
        for (int d = 0; d < c / K; d++) begin
          if (line_beat[d]) assert (wgt_line[(c*Cells+d)*8 +: 8] == line_wgt[(d*Cols+c)*8 +: 8]);
        end
      end
    end
  end

  // For the induction: history keeps the rules of the ports, and the planes are clocked until the
  // newest row, swap and beat have left them.
  logic [Length-1:0] newer_row, newer_swap, newer_beat;

  always_comb begin
    newer_row  = '0;
    newer_swap = '0;
    newer_beat = '0;
    for (int n = 1; n < Length; n++) begin
      newer_row[n]  = newer_row[n-1] || line_row[n-1];
      newer_swap[n] = newer_swap[n-1] || line_swap[n-1];
      newer_beat[n] = newer_beat[n-1] || line_beat[n-1];
    end
    if (check) begin
      assert (old_beats <= BeatsW'(Rows));
      assert (wgt_left == BeatsW'(Rows) - beats[0 +: BeatsW]);
      for (int n = 0; n < Length; n++) begin
        if (line_beat[n]) assert (!line_swap[n] && tag[n*BeatsW +: BeatsW] != 0);
        if (line_swap[n]) assert (line_row[n] && beats[(n+1)*BeatsW +: BeatsW] == BeatsW'(Rows));
        if (line_beat[n] && !newer_beat[n]) assert (load_left == LoadW'(Length - n));
        if (n < Bands + Cells - 1) begin
          if (line_row[n] && !newer_row[n]) assert (rows_left == RowsW'(Bands + Cells - n));
          if (line_swap[n] && !newer_swap[n]) assert (swap_left == RowsW'(Bands + Cells - 1 - n));
        end
      end
    end
  end

endmodule
