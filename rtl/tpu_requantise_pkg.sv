// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one requantised element, cut into the steps of a pipeline, as docs/numerics.md
// defines it: `single` multiplies in fp32 and rounds half to even, `gemmlowp` rounds twice in
// integers. Both share one signed product of 32 by 32 bits.

package tpu_requantise_pkg;

  localparam logic [31:0] MaxInt32 = 32'h7fff_ffff;
  localparam logic [31:0] MinInt32 = 32'h8000_0000;

  // Number of zeros above the leading one; 31 for 0.
  function automatic logic [4:0] leading_zeros(input logic [31:0] x);
    leading_zeros = 5'd31;
    for (int unsigned i = 1; i < 32; i++) begin
      leading_zeros = x[i] ? 5'd31 - 5'(i) : leading_zeros;
    end
  endfunction

  // Magnitude of an int32 as fp32, rounded to nearest even: {exponent above bit 0 of the
  // significand, significand with its leading one at bit 23}, 0 for 0. The exponent is that of a
  // whole number, negative below 2^23 (two's complement).
  function automatic logic [29:0] significand_of(input logic [31:0] x);
    logic [31:0] magnitude, normal;
    logic [4:0]  zeros;
    logic [24:0] rounded;
    logic [5:0]  exponent;

    magnitude = x[31] ? 32'd0 - x : x;
    zeros     = leading_zeros(magnitude);
    normal    = magnitude << zeros;
    // Half of the last bit is 80h; a tie rounds up from an odd last bit (bit 8) only.
    rounded   = {1'b0, normal[31:8]} + 25'(normal[7] && (normal[8] || normal[6:0] != 7'd0));
    exponent  = 6'd8 - 6'(zeros);
    significand_of = rounded[24] ? {exponent + 6'd1, rounded[24:1]} : {exponent, rounded[23:0]};
  endfunction

  // gemmlowp: x * 2^shift for a shift to the left, at most by 30; the bits that leave are lost.
  function automatic logic [31:0] shifted_left(input logic [31:0] x, input logic [31:0] shift);
    logic [4:0] by;
    by = (shift > 32'd30) ? 5'd30 : shift[4:0];
    shifted_left = shift[31] ? x : x << by;
  endfunction

  // gemmlowp: product / 2^31 to nearest, ties towards plus infinity, the one sum that is too large
  // to the largest; then / 2^-shift for a shift to the right, at most by 31, ties away from zero.
  function automatic logic [31:0] high_half(input logic [63:0] product, input logic [31:0] shift);
    logic signed [32:0] high, sum;
    logic        [31:0] right;
    logic        [4:0]  by;

    high  = 33'($signed(product + 64'h4000_0000) >>> 31);
    high  = (high == 33'sh0_8000_0000) ? 33'sh0_7fff_ffff : high;
    right = 32'd0 - shift;
    by    = !shift[31] ? 5'd0 : (right > 32'd31) ? 5'd31 : right[4:0];
    // Half of what is divided by, one less for negative numbers
    sum   = high + ((33'sd1 << by) >>> 1) - 33'(high[32] && by != 5'd0);
    high_half = 32'(sum >>> by);
  endfunction

  // single: significands multiplied (48 bits), the exponent of the int32's significand, the bits of
  // the multiplier and the sign of the int32: the fp32 product, rounded to even, as an int32,
  // rounded to even, held at both ends. NaN gives 0.
  function automatic logic [31:0] rounded_product(input logic [47:0] product,
                                                  input logic [5:0]  exponent,
                                                  input logic [31:0] multiplier,
                                                  input logic        sign);
    logic [24:0] rounded;
    logic [23:0] significand;
    logic [31:0] magnitude;
    logic [9:0]  scale;      // power of two of bit 0 of the significand
    logic [9:0]  right;      // places to the right of the binary point
    logic [49:0] fixed;      // the significand with 26 places behind the point
    logic        negative, too_large;

    negative = sign ^ multiplier[31];

    // To 24 bits. The leading one is at bit 47 or 46; 150 takes the bias and 23 places off.
    rounded = product[47]
            ? {1'b0, product[47:24]} + 25'(product[23] && (product[24] || product[22:0] != 23'd0))
            : {1'b0, product[46:23]} + 25'(product[22] && (product[23] || product[21:0] != 22'd0));
    significand = rounded[24] ? rounded[24:1] : rounded[23:0];
    scale = {{4{exponent[5]}}, exponent} + {2'd0, multiplier[30:23]} - 10'd150 + 10'd23
          + 10'(product[47]) + 10'(rounded[24]);

    // To a whole number. From 2^(8 + 23) on it is too large, below 2^-1 it is zero.
    right     = 10'd0 - scale;
    right     = (right > 10'd26) ? 10'd26 : right;
    fixed     = {significand, 26'd0} >> right[4:0];
    magnitude = {8'd0, fixed[49:26]}
              + 32'(fixed[25] && (fixed[26] || fixed[24:0] != 25'd0));
    magnitude = scale[9] ? magnitude : {8'd0, significand} << scale[2:0];
    too_large = !scale[9] && scale > 10'd7;

    rounded_product = too_large ? (negative ? MinInt32 : MaxInt32)
                    : negative ? 32'd0 - magnitude : magnitude;
    // Zero times anything, anything times a number below 2^-126, and NaN
    if (product[47:46] == 2'b00 || multiplier[30:23] == 8'd0
        || (multiplier[30:23] == 8'hff && multiplier[22:0] != 23'd0)) rounded_product = 32'd0;
  endfunction

  // y + zero_point, held between low and high; low where high is below it.
  function automatic logic [7:0] clamped(input logic [31:0] y, input logic [7:0] zero_point,
                                         input logic [7:0] low, input logic [7:0] high);
    logic signed [32:0] sum, least, most;
    sum   = 33'($signed(y)) + 33'($signed(zero_point));
    least = 33'($signed(low));
    most  = 33'($signed(high));
    sum   = (sum > most) ? most : sum;
    sum   = (sum < least) ? least : sum;
    clamped = sum[7:0];
  endfunction

endpackage
