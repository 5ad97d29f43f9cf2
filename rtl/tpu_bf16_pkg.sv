// SPDX-License-Identifier: Apache-2.0
// bf16 products and fp32 sums, as docs/numerics.md defines them: subnormals count as zero and are
// never made, sums round to nearest even, every NaN is 7fc00000.
//
// Temporaries are wide unsigned words and choices are ?: of comparisons, not logic of single bits,
// so that compilers of the Verilated model vectorise loops over these functions.

package tpu_bf16_pkg;

  localparam logic [31:0] Infinity = 32'h7f80_0000;
  localparam logic [31:0] QuietNan = 32'h7fc0_0000;

  // An fp32 rotated left by one orders by magnitude: exponent [31:24], fraction [23:1], sign [0].
  localparam logic [31:0] KeyNormal      = 32'h0100_0000;  // least magnitude that is not zero
  localparam logic [31:0] KeyInfinity    = 32'hff00_0000;
  localparam logic [31:0] KeyNegInfinity = 32'hff00_0001;  // beyond it: NaN

  // Counters inside these functions would keep the loops around them from being vectorised.
  /* verilator coverage_off */

  // Number of zeros above the leading one. Not for 0.
  function automatic logic [31:0] leading_zeros(input logic [31:0] x);
`ifdef VERILATOR
    leading_zeros = $c32("__builtin_clz(", x, ")");  // one instruction
`else
    leading_zeros = 32'd31;
    for (int unsigned i = 1; i < 32; i++) begin
      leading_zeros = x[i] ? 32'd31 - i : leading_zeros;
    end
`endif
  endfunction

  function automatic logic [31:0] leading_zeros64(input logic [63:0] x);
`ifdef VERILATOR
    leading_zeros64 = $c32("__builtin_clzll(", x, ")");
`else
    leading_zeros64 = (x[63:32] != 32'd0) ? leading_zeros(x[63:32])
                                          : 32'd32 + leading_zeros(x[31:0]);
`endif
  endfunction

  // Magnitude of the fp32 next to 1.f * 2^(exponent-126); zero below 2^-126. `normal` is 1.f with
  // its leading one at bit 30 and a sticky bit 0. `exponent` can be negative (two's complement).
  function automatic logic [31:0] round_to_even(input logic [31:0] normal,
                                                input logic [31:0] exponent);
    logic [31:0] mag;

    // Half an ulp is 40h. A tie rounds up from an odd last bit (bit 7) only: that bit counts as a
    // sticky one. The leading one adds one to the exponent field, and so does a carry.
    mag = normal | ((normal >> 7) & 32'd1);
    mag = ((mag + 32'h3f) >> 7) + (exponent << 23);
    mag = (mag > Infinity) ? Infinity : mag;
    round_to_even = (exponent > 32'd255) ? 32'd0 : mag;
  endfunction

  // a * b, exact (16 significant bits) but for overflow and underflow.
  function automatic logic [31:0] product(input logic [15:0] a, input logic [15:0] b);
    logic [31:0] mag_a, mag_b, lesser, greater;  // magnitudes: exponent [14:7], fraction [6:0]
    logic [31:0] significand, fraction, biased, mag, sign;

    mag_a   = {17'd0, a[14:0]};
    mag_b   = {17'd0, b[14:0]};
    lesser  = (mag_a < mag_b) ? mag_a : mag_b;
    greater = (mag_a < mag_b) ? mag_b : mag_a;
    sign    = {a[15] ^ b[15], 31'd0};

    // 1.f * 1.f in [2^14, 2^16). As a fraction behind the binary point at bit 23 it is
    // (s << 9) - 2^23 below 2^15, and (s << 8) with the exponent one higher, which adds 2^23 and
    // takes the leading one off, from there on. The lesser of the two is always the right one.
    significand = {24'd0, 1'b1, a[6:0]} * {24'd0, 1'b1, b[6:0]};
    fraction    = ((significand << 9) - 32'h0080_0000 < (significand << 8))
                ? (significand << 9) - 32'h0080_0000 : (significand << 8);

    // Sum of the exponents, each biased by 127, with the carry of the fraction
    biased  = (((mag_a & 32'h7f80) + (mag_b & 32'h7f80)) << 16) + fraction;
    mag     = biased - (32'd127 << 23);
    mag     = (mag > Infinity) ? Infinity : mag;
    mag     = (biased >= (32'd128 << 23)) ? (lesser >= 32'h80) ? mag : 32'd0 : 32'd0;

    // Operands that are no numbers: infinity, unless times zero
    mag     = (greater >= 32'h7f80) ? Infinity : mag;
    product = mag | sign;
    product = (greater >= 32'h7f80) ? ((lesser < 32'h80) ? QuietNan : product) : product;
    product = (greater > 32'h7f80) ? QuietNan : product;
  endfunction

  // a + b, rounded to nearest even.
  function automatic logic [31:0] sum(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] key_a, key_b, lesser, greater;  // ordered by magnitude
    logic [31:0] exp, distance, sig_l, sig_s, aligned, lost, total, zeros, mag, subtract, left;

    key_a    = {a[30:0], a[31]};
    key_b    = {b[30:0], b[31]};
    lesser   = (key_a < key_b) ? key_a : key_b;
    greater  = (key_a < key_b) ? key_b : key_a;
    subtract = a ^ b;  // bit 31
    exp      = greater >> 24;

    // Significands: 24 bits at [29:6], room for a carry and bits to round by
    sig_l = {3'b001, greater[23:1], 6'd0};
    sig_s = {3'b001, lesser[23:1], 6'd0};

    // Align the lesser one; bit 1 is set if any bit was shifted out (sticky: such bits are 2^6 and
    // more before the shift, so the least of them and 2 is 2). Nothing to add if it is zero or the
    // other one infinity.
    distance = exp - (lesser >> 24);
    distance = (distance > 32'd31) ? 32'd31 : distance;
    aligned  = sig_s >> distance[4:0];
    lost     = (aligned << distance[4:0]) ^ sig_s;
    lost     = (lost < 32'd2) ? lost : 32'd2;
    aligned  = aligned | lost;
    aligned  = (lesser >= KeyNormal) ? (greater < KeyInfinity) ? aligned : 32'd0 : 32'd0;
    total    = subtract[31] ? sig_l - aligned : sig_l + aligned;

    // Normalise: leading one to bit 30. It was at bit 29 for exponent exp.
    zeros = leading_zeros({total[30:0], 1'b1});
    mag   = round_to_even(total << zeros[4:0], exp - zeros);

    // A difference of zero is +0, also that of zeros of both signs (exp is 0).
    left = (exp < total) ? exp : total;
    left = left | (~subtract & 32'h8000_0000);
    sum  = (left == 32'd0) ? 32'd0 : mag | {greater[0], 31'd0};

    // Infinity less infinity, and NaN
    sum = subtract[31] ? (lesser >= KeyInfinity) ? QuietNan : sum : sum;
    sum = (greater > KeyNegInfinity) ? QuietNan : sum;
  endfunction

  // a + b + c + d, rounded once, to nearest even. Operands are products, of 16 significant bits.
  function automatic logic [31:0] sum4(input logic [31:0] a, input logic [31:0] b,
                                       input logic [31:0] c, input logic [31:0] d);
    logic [31:0] k1, k2, k3, k4, k5, k6;  // ordered by magnitude
    logic [31:0] e1, e2, e3, e4, top, gap12, gap34, gap, zeros, mag, sign;
    logic [63:0] x1, x2, x3, x4, lost, upper, lower, total, normal;

    // Sort by magnitude: k1 >= k2 >= k3 >= k4
    k1 = {a[30:0], a[31]};
    k2 = {b[30:0], b[31]};
    k3 = {c[30:0], c[31]};
    k4 = {d[30:0], d[31]};
    k5 = (k1 < k2) ? k1 : k2;
    k1 = (k1 < k2) ? k2 : k1;
    k6 = (k3 < k4) ? k3 : k4;
    k3 = (k3 < k4) ? k4 : k3;
    k4 = (k5 < k6) ? k5 : k6;
    k5 = (k5 < k6) ? k6 : k5;
    k6 = (k1 < k3) ? k1 : k3;
    k1 = (k1 < k3) ? k3 : k1;
    k2 = (k5 < k6) ? k6 : k5;
    k3 = (k5 < k6) ? k5 : k6;

    // Significands: 16 bits at [61:46]
    e1 = k1 >> 24;
    e2 = k2 >> 24;
    e3 = k3 >> 24;
    e4 = k4 >> 24;
    x1 = (e1 == 32'd0) ? 64'd0 : {3'b001, k1[23:9], 46'd0};
    x2 = (e2 == 32'd0) ? 64'd0 : {3'b001, k2[23:9], 46'd0};
    x3 = (e3 == 32'd0) ? 64'd0 : {3'b001, k3[23:9], 46'd0};
    x4 = (e4 == 32'd0) ? 64'd0 : {3'b001, k4[23:9], 46'd0};

    // upper = x1 + x2, exact up to a gap of 46. From a gap of 29 on the result is x1 itself.
    gap12 = e1 - e2;
    gap12 = (gap12 > 32'd63) ? 32'd63 : gap12;
    x2    = x2 >> gap12[5:0];
    upper = (k1[0] ^ k2[0]) ? x1 - x2 : x1 + x2;

    // lower = x3 + x4, exact up to a gap of 46, from there on with a sticky bit 0.
    gap34 = e3 - e4;
    gap34 = (gap34 > 32'd63) ? 32'd63 : gap34;
    lost  = x4;
    x4    = x4 >> gap34[5:0];
    x4    = ((x4 << gap34[5:0]) != lost) ? x4 | 64'd1 : x4;
    lower = (k3[0] ^ k4[0]) ? x3 - x4 : x3 + x4;

    // Align both so that bit 62 has the exponent top - 64: that of the leading one of `upper`, for
    // it may have lost the leading bits of x1, or e3 + 1 if that is more. `upper` stays exact, and
    // of `lower` only bits go that are far below the leading one of the result (sticky bit 0).
    zeros = leading_zeros64(upper | 64'd1);
    top   = (upper == 64'd0) ? 32'd0 : e1 + 32'd66 - zeros;
    top   = (top < e3 + 32'd65) ? e3 + 32'd65 : top;
    gap   = e1 + 32'd65 - top;
    upper = upper << gap[5:0];
    gap   = top - 32'd65 - e3;
    gap   = (gap > 32'd63) ? 32'd63 : gap;
    lost  = lower;
    lower = lower >> gap[5:0];
    lower = ((lower << gap[5:0]) != lost) ? lower | 64'd1 : lower;

    sign  = {(upper < lower) ? k3[0] : k1[0], 31'd0};
    total = (k1[0] ^ k3[0]) ? ((upper < lower) ? lower - upper : upper - lower) : upper + lower;

    zeros  = leading_zeros64(total | 64'd1);
    normal = total << zeros[5:0];
    mag    = round_to_even({1'b0, normal[63:33]} | {31'd0, normal[32:0] != 33'd0},
                           top - 32'd64 - zeros);
    mag    = (total == 64'd0) ? 32'd0 : mag;

    // x1 + x2 + x3 is zero or a multiple of x3's last bit, 2^45 or more here; x4 can cancel it to
    // no less than 2^28. Anything less, but zero, is what was left of x4 alone.
    sign = (total == 64'd0) ? {k1[0] & k2[0] & k3[0] & k4[0], 31'd0} : sign;
    mag  = (total != 64'd0 && total < 64'h1000_0000) ? k4 >> 1 : mag;
    sign = (total != 64'd0 && total < 64'h1000_0000) ? {k4[0], 31'd0} : sign;

    // Operands that are no numbers: infinity, unless both signs
    mag  = (e1 == 32'd255) ? Infinity : mag;
    sign = (e1 == 32'd255) ? {k1[0], 31'd0} : sign;
    sum4 = (k1 > KeyNegInfinity || (k1 == KeyNegInfinity &&
            (k2 == KeyInfinity || k3 == KeyInfinity || k4 == KeyInfinity)))
         ? QuietNan : mag | sign;
  endfunction

  /* verilator coverage_on */

endpackage
