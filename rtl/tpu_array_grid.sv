// SPDX-License-Identifier: Apache-2.0
// Weight-stationary systolic array, one module per PE: the readable form, and the one to synthesize.
// The flat form (tpu_array_flat) has the same ports and, edge by edge, the same registers.
// Latency: a row accepted at edge t takes effect in PE(r,c) at edge t + r/Pipeline + c/Pipeline and
// stands complete on row_o after edge t + ceil(Rows/Pipeline) + ceil(Cols/Pipeline).
//
//                swap, act ->  PE(0,0) -> PE(0,1) -> ...     weights and their load tags enter from
//                                 |          |               above and from the left
//                swap, act ->  PE(1,0) -> PE(1,1) -> ...
//                                 |          |
//                               deskew -> row_o

module tpu_array_grid #(
  parameter  int unsigned Rows     = 16,
  parameter  int unsigned Cols     = 16,
  parameter  int unsigned Dtype    = 0,   // 0: int8, 1: bf16
  parameter  int unsigned Pipeline = 1,   // a register every this many PEs, right and down
  parameter  int unsigned Sum4     = 0,   // 1: the products of four rows are added with one rounding
  localparam int unsigned ElemW    = (Dtype == 1) ? 16 : 8,
  localparam int unsigned LoadW    = $clog2(Rows + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,        // first edge after reset; not used here

  input  logic                  rows_active_i,  // a row enters or is inside
  input  logic                  act_valid_i,    // a row enters; not used, bubbles move as well
  input  logic                  act_swap_i,     // it carries the swap tag
  input  logic [Rows*ElemW-1:0] act_data_i,
  input  logic                  swap_active_i,  // a swap wave enters or is inside

  input  logic                  load_active_i,  // a weight beat enters or is inside
  input  logic                  wgt_valid_i,    // a beat enters; not used
  input  logic [LoadW-1:0]      load_i,         // 1 + tile row of the entering beat, 0: no beat
  input  logic [Cols*ElemW-1:0] wgt_data_i,

  input  logic                  emit_i,         // a complete row leaves at this edge
  output logic [Cols*32-1:0]    row_o
);

  logic unused_inputs;
  assign unused_inputs = ^{clear_i, act_valid_i, wgt_valid_i};

  // What stands at the left and the top border, before the edge at which row or column takes it
  logic [Rows*ElemW-1:0] act_skewed;
  logic [Rows-1:0]       swap_skewed;
  logic [Cols*ElemW-1:0] wgt_skewed;
  logic [Rows-1:0]       load_skewed;

  // Partial sums of the bottom row of PEs
  logic [Cols*32-1:0]    bottom;

  tpu_skew #(
    .Lanes    (Rows),
    .Width    (ElemW),
    .Pipeline (Pipeline)
  ) u_act_skew (
    .clk_i,
    .rst_ni,
    .active_i (rows_active_i),
    .data_i   (act_data_i),
    .data_o   (act_skewed)
  );

  tpu_skew #(
    .Lanes    (Rows),
    .Width    (1),
    .Pipeline (Pipeline),
    .Tag      (1)
  ) u_swap_skew (
    .clk_i,
    .rst_ni,
    .active_i (swap_active_i),
    .data_i   (act_swap_i),
    .data_o   (swap_skewed)
  );

  tpu_skew #(
    .Lanes    (Cols),
    .Width    (ElemW),
    .Pipeline (Pipeline)
  ) u_wgt_skew (
    .clk_i,
    .rst_ni,
    .active_i (load_active_i),
    .data_i   (wgt_data_i),
    .data_o   (wgt_skewed)
  );

  tpu_load_chain #(
    .Rows (Rows)
  ) u_load_chain (
    .clk_i,
    .rst_ni,
    .active_i (load_active_i),
    .load_i,
    .load_o   (load_skewed)
  );

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    for (genvar c = 0; c < Cols; c++) begin : gen_col
      localparam int unsigned FirstOfBand = (c % Pipeline == 0) ? 1 : 0;
      localparam int unsigned LastOfBand  = (r % Pipeline == Pipeline - 1 || r == Rows - 1) ? 1 : 0;
      localparam int unsigned LastOfFour  = (r % 4 == 3 || r == Rows - 1) ? 1 : 0;

      logic [ElemW-1:0] act_left, act, shadow_above, shadow;
      logic             swap_left, swap, load_left, load;
      logic [31:0]      psum_above, psum, product, group;

      // From the left. The tags of a band take effect in all its columns at the edge at which they
      // arrive at the first.
      if (c == 0) begin : gen_left_border
        assign act_left  = act_skewed[r*ElemW +: ElemW];
        assign swap_left = swap_skewed[r];
        assign load_left = load_skewed[r];
      end else if (FirstOfBand == 1) begin : gen_left_band
        assign act_left  = gen_row[r].gen_col[c-1].act;
        assign swap_left = gen_row[r].gen_col[c-Pipeline].swap;
        assign load_left = gen_row[r].gen_col[c-Pipeline].load;
      end else begin : gen_left_neighbor
        assign act_left  = gen_row[r].gen_col[c-1].act;
        assign swap_left = gen_row[r].gen_col[c-1].swap_left;
        assign load_left = gen_row[r].gen_col[c-1].load_left;
      end

      // From above
      if (r == 0) begin : gen_top_border
        assign psum_above   = '0;
        assign shadow_above = wgt_skewed[c*ElemW +: ElemW];
      end else begin : gen_above
        assign psum_above   = gen_row[r-1].gen_col[c].psum;
        assign shadow_above = gen_row[r-1].gen_col[c].shadow;
      end

      // The last PE of four adds all their products; the last group may have fewer.
      if (Sum4 == 1 && LastOfFour == 1) begin : gen_sum4
        for (genvar n = 0; n < 4; n++) begin : gen_addend
          logic [31:0] addend;

          if (n <= r % 4) begin : gen_product
            assign addend = gen_row[r/4*4+n].gen_col[c].product;
          end else begin : gen_missing
            assign addend = '0;
          end
        end

        tpu_sum4 u_sum4 (
          .a_i   (gen_addend[0].addend),
          .b_i   (gen_addend[1].addend),
          .c_i   (gen_addend[2].addend),
          .d_i   (gen_addend[3].addend),
          .sum_o (group)
        );
      end else begin : gen_no_sum4
        assign group = '0;
      end

      tpu_pe #(
        .Dtype        (Dtype),
        .RegisterAct  (FirstOfBand),
        .RegisterPsum (LastOfBand),
        .Addend       ((Sum4 == 0) ? 1 : (LastOfFour == 1) ? 2 : 0)
      ) u_pe (
        .clk_i,
        .rst_ni,
        .rows_active_i,
        .act_i     (act_left),
        .act_o     (act),
        .psum_i    (psum_above),
        .psum_o    (psum),
        .product_o (product),
        .group_i   (group),
        .swap_active_i,
        .swap_i    (swap_left),
        .swap_o    (swap),
        .load_active_i,
        .load_i    (load_left),
        .load_o    (load),
        .shadow_i  (shadow_above),
        .shadow_o  (shadow)
      );

      if (r == Rows - 1) begin : gen_bottom
        assign bottom[c*32 +: 32] = psum;
      end
    end
  end

  tpu_deskew #(
    .Cols     (Cols),
    .Pipeline (Pipeline)
  ) u_deskew (
    .clk_i,
    .active_i (rows_active_i),
    .emit_i,
    .bottom_i (bottom),
    .row_o
  );

endmodule
