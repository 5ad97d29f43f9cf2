// SPDX-License-Identifier: Apache-2.0
// The steps of a requantisation against their definitions, written with quotients, remainders and
// magnitudes, for all operands. The products are any numbers that two factors can give.

module requantise_steps_fv (
  input logic        clk_i,
  input logic [31:0] x,           // a sum with its bias
  input logic [63:0] product,     // gemmlowp
  input logic [31:0] shift,
  input logic [47:0] significands,  // single: of two significands
  input logic [5:0]  exponent,
  input logic [31:0] multiplier,
  input logic        sign,
  input logic [31:0] y,
  input logic [7:0]  zero_point, low, high
);

  // int32 to fp32: of all significands of 24 bits the nearest, of two the even one.
  logic [29:0] as_float;
  logic [31:0] magnitude;
  logic [56:0] exact, near, error;  // in units of 2^-23
  logic [5:0]  up;

  assign as_float = tpu_requantise_pkg::significand_of(x);

  always_comb begin
    magnitude = x[31] ? -x : x;
    up        = as_float[29:24] + 6'd23;  // of the last bit above 2^-23
    exact     = {2'd0, magnitude, 23'd0};
    near      = {33'd0, as_float[23:0]} << up;
    error     = near > exact ? near - exact : exact - near;
    if (x == 32'd0) begin
      assert (as_float[23:0] == 24'd0);
    end else begin
      assert (up <= 6'd31 && as_float[23]);
      assert ((error << 1) <= (57'd1 << up));
      if ((error << 1) == (57'd1 << up)) assert (!as_float[0]);
      // Below a power of two numbers stand closer.
      if (as_float[23:0] == 24'h80_0000 && near > exact) assert ((error << 2) <= (57'd1 << up));
    end
  end

  // gemmlowp: nudged, divided with truncation, then divided with ties away from zero.
  logic        [63:0] nudged, positive, quotient;
  logic        [31:0] doubled;
  logic        [32:0] size;
  logic        [5:0]  right;
  logic        [31:0] high_half;

  assign high_half = tpu_requantise_pkg::high_half(product, shift);

  always_comb begin
    // 2^62 is the square of -2^31; the next lesser product has one factor of less magnitude.
    assume (product == 64'h4000_0000_0000_0000 || $signed(product) <= 64'sh3fff_ffff_8000_0000);
    assume ($signed(product) >= -64'sh3fff_ffff_8000_0000);
    nudged   = product[63] ? product + 64'd1 - 64'h4000_0000 : product + 64'h4000_0000;
    positive = nudged[63] ? -nudged : nudged;
    quotient = positive / 64'h8000_0000;
    doubled  = (product == 64'h4000_0000_0000_0000) ? 32'h7fff_ffff
             : nudged[63] ? -quotient[31:0] : quotient[31:0];
    right    = !shift[31] ? 6'd0 : ($signed(shift) < -32'sd31) ? 6'd31 : -shift[5:0];
    size     = doubled[31] ? -{doubled[31], doubled} : {1'b0, doubled};
    size     = (size + ((33'd1 << right) / 33'd2)) >> right;
    assert (high_half == (doubled[31] ? -size[31:0] : size[31:0]));
  end

  // single: the product to 24 bits, then to a whole number; both by quotient and remainder.
  logic [31:0] whole, expected;
  logic [47:0] rest_24;
  logic [24:0] to_24;
  logic        wide, up_24, up_whole;
  int          power;  // of two, of the last bit of to_24
  logic [63:0] value, rest;
  logic [6:0]  places;

  assign whole = tpu_requantise_pkg::rounded_product(significands, exponent, multiplier, sign);

  always_comb begin
    // A significand of 24 bits with its leading one, or zero, times one with its leading one
    assume (significands >= 48'h4000_0000_0000 || significands == 48'd0);
    assume (significands <= 48'hffff_fe00_0001);
    assume ($signed(exponent) >= -6'sd23 && $signed(exponent) <= 6'sd8);
    wide     = significands >= 48'h8000_0000_0000;
    to_24    = wide ? significands / 48'h100_0000 : significands / 48'h80_0000;
    rest_24  = wide ? significands % 48'h100_0000 : significands % 48'h80_0000;
    up_24    = wide ? rest_24 > 48'h80_0000 || (rest_24 == 48'h80_0000 && to_24[0])
                    : rest_24 > 48'h40_0000 || (rest_24 == 48'h40_0000 && to_24[0]);
    to_24    = to_24 + {24'd0, up_24};
    power    = $signed({{26{exponent[5]}}, exponent}) + $signed({24'd0, multiplier[30:23]}) - 32'sd127
             - 32'sd23 + (wide ? 32'sd24 : 32'sd23);
    places   = (power < -32'sd63) ? 7'd63 : 7'(-power);
    value    = 64'd0;
    rest     = 64'd0;
    up_whole = 1'b0;
    if (power > 32'sd8) begin
      value = 64'h1_0000_0000;
    end else if (power >= 32'sd0) begin
      value = {39'd0, to_24} << power;
    end else begin
      value    = {39'd0, to_24} >> places;
      rest     = {39'd0, to_24} - (value << places);
      up_whole = (rest << 1) > (64'd1 << places) || ((rest << 1) == (64'd1 << places) && value[0]);
      if (places > 7'd26) up_whole = 1'b0;  // less than a quarter
      value    = value + {63'd0, up_whole};
    end
    if (sign ^ multiplier[31]) expected = (value > 64'h8000_0000) ? 32'h8000_0000 : -value[31:0];
    else                       expected = (value > 64'h7fff_ffff) ? 32'h7fff_ffff : value[31:0];
    if (significands == 48'd0) expected = 32'd0;
    if (multiplier[30:23] == 8'd0) expected = 32'd0;  // a number below 2^-126, times less than 2^32
    if (multiplier[30:23] == 8'hff && multiplier[22:0] != 23'd0) expected = 32'd0;
    assert (whole == expected);
  end

  // Zero point and clamp
  logic signed [33:0] sum;
  logic        [7:0]  out;

  assign out = tpu_requantise_pkg::clamped(y, zero_point, low, high);

  always_comb begin
    sum = 34'($signed(y)) + 34'($signed(zero_point));
    if ($signed(low) > $signed(high))          assert (out == low);
    else if (sum <= 34'($signed(low)))         assert (out == low);
    else if (sum >= 34'($signed(high)))        assert (out == high);
    else                                       assert ({{26{out[7]}}, out} == sum);
  end

endmodule
