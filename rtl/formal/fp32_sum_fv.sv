// SPDX-License-Identifier: Apache-2.0
// The fp32 sum against the definition of rounding: of all fp32 numbers the result is the nearest to
// the exact sum, and the one with an even significand if two are. Operands whose exponents differ by
// First to Last; Far: by more than 26, where the result is the greater one.

module fp32_sum_fv #(
  parameter int unsigned First = 0,
  parameter int unsigned Last  = 0,
  parameter int unsigned Far   = 0
) (
  input logic        clk_i,
  input logic [31:0] a,
  input logic [31:0] b,
  input logic        exchange
);

  // The operand with the greater exponent comes first or second.
  logic [31:0] result;
  assign result = tpu_bf16_pkg::sum(exchange ? b : a, exchange ? a : b);

  logic nan_a, nan_b, inf_a, inf_b, zero_a, zero_b, subtract;

  assign nan_a    = a[30:23] == 8'hff && a[22:0] != 23'd0;
  assign nan_b    = b[30:23] == 8'hff && b[22:0] != 23'd0;
  assign inf_a    = a[30:23] == 8'hff && a[22:0] == 23'd0;
  assign inf_b    = b[30:23] == 8'hff && b[22:0] == 23'd0;
  assign zero_a   = a[30:23] == 8'd0;
  assign zero_b   = b[30:23] == 8'd0;
  assign subtract = a[31] ^ b[31];

  // Exact magnitude, below 2^51, in units of b's last bit, and the result in the same units. Before
  // each shift below, the operand is shown to be so small that no bit is lost.
  logic        [51:0] big, small, exact, near;
  logic        [23:0] significand;
  logic signed [9:0]  up;     // exponent of the result's last bit above b's
  logic        [51:0] error;
  logic        [8:0]  distance;
  logic               sign, below;

  always_comb begin
    // The exponent of a is the greater one.
    distance = {1'b0, a[30:23]} - {1'b0, b[30:23]};
    if (Far == 1) assume (!distance[8] && distance > 9'd26);
    else          assume (distance >= 9'(First) && distance <= 9'(Last));

    big         = {28'd0, 1'b1, a[22:0]} << ((First == Last) ? 5'(First) : distance[4:0]);
    small       = {28'd0, 1'b1, b[22:0]};
    exact       = !subtract ? big + small : (big >= small) ? big - small : small - big;
    sign        = (subtract && big < small) ? b[31] : a[31];
    significand = {1'b1, result[22:0]};
    up          = $signed({2'd0, result[30:23]}) - $signed({2'd0, b[30:23]});
    near        = {28'd0, significand} << up[5:0];
    below       = near < exact;
    error       = below ? exact - near : near - exact;

    if (nan_a || nan_b || (inf_a && inf_b && subtract)) begin
      assert (result == 32'h7fc0_0000);
    end else if (inf_a || inf_b) begin
      assert (result == {inf_a ? a[31] : b[31], 31'h7f80_0000});
    end else if (zero_a && zero_b) begin
      assert (result == {a[31] & b[31], 31'd0});
    end else if (zero_b || Far == 1) begin
      assert (result == a);
    end else if (exact == 52'd0) begin
      assert (result == 32'd0);
    end else if (result[30:23] == 8'd0) begin
      // Below 2^-126, which is 2^23 in units of a last bit of exponent 1
      assert (result == {sign, 31'd0});
      assert (b[30:23] < 8'd26 && exact < 52'h80_0000);
      assert ((exact << (b[30:23] - 8'd1)) < 52'h80_0000);
    end else if (result[30:23] == 8'hff) begin
      // At or above the middle between the greatest number and 2^128
      assert (result == {sign, 31'h7f80_0000});
      assert (b[30:23] >= 8'd227 && (exact << 1) >= (52'h1ff_ffff << (8'd254 - b[30:23])));
    end else begin
      assert (result[31] == sign);
      if (up <= 0) begin
        assert (up >= -10'sd24 && exact < 52'h100_0000);
        assert ({28'd0, significand} == exact << (-up));
      end else begin
        assert (up <= 10'sd27);
        // At most half of the last bit; a quarter below a power of two, where numbers stand closer
        assert (error <= (52'd1 << (up - 1)));
        if (error == (52'd1 << (up - 1))) assert (!significand[0]);
        if (significand == 24'h80_0000 && !below && up > 10'sd1) assert (error <= (52'd1 << (up - 2)));
        if (significand == 24'h80_0000 && !below && up == 10'sd1) assert (error == 52'd0);
      end
    end
  end

endmodule
