// SPDX-License-Identifier: Apache-2.0
// The bf16 product against what docs/numerics.md says of real numbers, for all pairs of operands:
// the result, decoded, is the exact product, or the exact product is out of range.

module bf16_product_fv (
  input logic        clk_i,
  input logic [15:0] a,
  input logic [15:0] b
);

  logic [31:0] result;
  assign result = tpu_bf16_pkg::product(a, b);

  // A number is significand * 2^(exponent - 134); subnormals count as zero.
  logic        nan_a, nan_b, inf_a, inf_b, zero_a, zero_b;
  logic [31:0] exact;     // product of the significands; the value is exact * 2^(scale - 268)
  logic [9:0]  scale;
  logic [9:0]  exponent;  // biased exponent of the normalised exact product, plus 127

  assign nan_a  = a[14:7] == 8'hff && a[6:0] != 7'd0;
  assign nan_b  = b[14:7] == 8'hff && b[6:0] != 7'd0;
  assign inf_a  = a[14:7] == 8'hff && a[6:0] == 7'd0;
  assign inf_b  = b[14:7] == 8'hff && b[6:0] == 7'd0;
  assign zero_a = a[14:7] == 8'd0;
  assign zero_b = b[14:7] == 8'd0;

  assign exact    = {25'h1, a[6:0]} * {25'h1, b[6:0]};
  assign scale    = {2'd0, a[14:7]} + {2'd0, b[14:7]};
  assign exponent = scale + {9'd0, exact[15]};

  always_comb begin
    if (nan_a || nan_b || (inf_a && zero_b) || (zero_a && inf_b)) begin
      assert (result == 32'h7fc0_0000);
    end else begin
      assert (result[31] == (a[15] ^ b[15]));
      if (inf_a || inf_b) begin
        assert (result[30:0] == 31'h7f80_0000);
      end else if (zero_a || zero_b || exponent <= 10'd127) begin
        assert (result[30:0] == 31'd0);
      end else if (exponent >= 10'd382) begin
        assert (result[30:0] == 31'h7f80_0000);
      end else begin
        // 1.fraction * 2^(e - 150) = exact * 2^(scale - 268)
        assert ({2'd0, result[30:23]} == exponent - 10'd127);
        assert ({1'b1, result[22:0]} == (exact[15] ? {exact[15:0], 8'd0} : {exact[14:0], 9'd0}));
      end
    end
  end

endmodule
