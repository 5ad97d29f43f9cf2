// SPDX-License-Identifier: Apache-2.0
// Every accepted row leaves once, in order, after its latency, with the values of its own operands;
// it stays until it is taken. Beside the unit stands its contract: rows in work with the edges that
// they are still away. Values are bytes of sums that nothing changes: the rounding is gemmlowp's by
// a factor of one half of a doubled sum, clamped to what int8 has.

module requantise_order_fv #(
  parameter  int unsigned Cols   = 2,
  parameter  int unsigned Lanes  = 1,
  localparam int unsigned CountW = $clog2(Cols + 1),
  localparam int unsigned Beats  = (Cols + Lanes - 1) / Lanes,
  localparam int unsigned Most   = Beats + 5  // rows in work
) (
  input logic              clk_i,
  input logic              reset_i,
  input logic              row_valid_i,
  input logic [Cols*8-1:0] row_bytes_i,
  input logic [CountW-1:0] row_cols_i,
  input logic              out_ready_i
);

  logic started = 1'b0;
  always_ff @(posedge clk_i) started <= 1'b1;

  logic rst_ni;
  assign rst_ni = started && !reset_i;

  logic               row_ready_o, out_valid_o, busy_o;
  logic [Cols*32-1:0] row_data;
  logic [Cols*8-1:0]  out_data_o;

  always_comb begin
    for (int unsigned c = 0; c < Cols; c++) row_data[c*32 +: 32] = {{24{row_bytes_i[c*8+7]}}, row_bytes_i[c*8 +: 8]};
  end

  tpu_requantise #(.Cols (Cols), .Lanes (Lanes)) u_unit (
    .clk_i, .rst_ni, .row_valid_i, .row_ready_o, .row_data_i (row_data), .row_cols_i,
    .row_params_i ({Cols{32'd1, 32'h4000_0000, 32'd0}}), .row_gemmlowp_i (1'b1),
    .row_zero_point_i (8'd0), .row_clamp_min_i (8'h80), .row_clamp_max_i (8'h7f),
    .out_valid_o, .out_ready_i, .out_data_o, .busy_o
  );

  // The contract. Slot 0 is the oldest row.
  logic [Cols*8-1:0] bytes [Most];
  logic [CountW-1:0] cols  [Most];
  logic [7:0]        away  [Most];
  logic [7:0]        count, closed;
  logic              waits, advance, ready, taken;
  logic [7:0]        beats;

  assign waits   = count != 8'd0 && away[0] == 8'd0;
  assign advance = !waits || out_ready_i;
  assign ready   = rst_ni && advance && closed == 8'd0;
  assign taken   = waits && out_ready_i;
  assign beats   = (8'(row_cols_i) + 8'(Lanes - 1)) / 8'(Lanes);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count  <= 8'd0;
      closed <= 8'd0;
    end else if (advance) begin
      for (int unsigned n = 0; n < Most; n++) begin
        if (taken && n + 1 < Most) begin
          bytes[n] <= bytes[(n + 1) % Most];
          cols[n]  <= cols[(n + 1) % Most];
          away[n]  <= away[(n + 1) % Most] - 8'd1;
        end else begin
          away[n] <= away[n] - 8'd1;
        end
      end
      closed <= (closed == 8'd0) ? 8'd0 : closed - 8'd1;
      count  <= count - 8'(taken);
      if (row_valid_i && ready) begin
        bytes[count - 8'(taken)] <= row_bytes_i;
        cols[count - 8'(taken)]  <= row_cols_i;
        away[count - 8'(taken)]  <= beats + 8'd4;
        count                    <= count - 8'(taken) + 8'd1;
        closed                   <= beats - 8'd1;
      end
    end
  end

  always_comb begin
    assume (row_cols_i != '0 && row_cols_i <= CountW'(Cols));
    if (!started) assume (reset_i);
    if (started) begin
      assert (row_ready_o == ready);
      if (rst_ni) begin
        assert (count <= 8'(Most));
        assert (out_valid_o == waits);
        assert (busy_o == (count != 8'd0));
        for (int unsigned c = 0; c < Cols; c++) begin
          if (waits && c < 32'(cols[0])) assert (out_data_o[c*8 +: 8] == bytes[0][c*8 +: 8]);
        end
      end
    end
  end

endmodule
