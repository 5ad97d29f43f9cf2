// SPDX-License-Identifier: Apache-2.0
// One lane of the requantisation: an accumulator and the parameters of its column in, an int8 out.
// Latency: what stands at the inputs for an edge with advance_i leaves after the fourth such edge.
// Data registers have no reset; what is no column may be anything.

module tpu_requantise_lane (
  input  logic        clk_i,
  input  logic        advance_i,

  input  logic [31:0] acc_i,
  input  logic [31:0] bias_i,
  input  logic [31:0] multiplier_i,  // fp32 (single) or Q31 (gemmlowp)
  input  logic [31:0] shift_i,       // gemmlowp: power of two, positive to the left
  input  logic        gemmlowp_i,
  input  logic [7:0]  zero_point_i,
  input  logic [7:0]  clamp_min_i,
  input  logic [7:0]  clamp_max_i,

  output logic [7:0]  out_o
);

  typedef struct packed {
    logic [7:0] zero_point, clamp_min, clamp_max;
  } limits_t;

  // 1: bias; 2: to fp32, or shifted left; 3: product; 4: rounded
  limits_t     limits_1_q, limits_2_q, limits_3_q, limits_4_q;
  logic        gemmlowp_1_q, gemmlowp_2_q, gemmlowp_3_q;
  logic [31:0] sum_q;
  logic [31:0] multiplier_1_q, multiplier_2_q, multiplier_3_q;
  logic [31:0] shift_1_q, shift_2_q, shift_3_q;
  logic [29:0] as_float;
  logic [31:0] left_q, right_factor;
  logic [5:0]  exponent_2_q, exponent_3_q;
  logic        sign_2_q, sign_3_q;
  logic [63:0] product_q;
  logic [31:0] scaled_q;

  assign as_float     = tpu_requantise_pkg::significand_of(sum_q);
  assign right_factor = gemmlowp_2_q ? multiplier_2_q : {8'd0, 1'b1, multiplier_2_q[22:0]};

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      sum_q          <= acc_i + bias_i;
      multiplier_1_q <= multiplier_i;
      shift_1_q      <= shift_i;
      gemmlowp_1_q   <= gemmlowp_i;
      limits_1_q     <= {zero_point_i, clamp_min_i, clamp_max_i};

      left_q         <= gemmlowp_1_q ? tpu_requantise_pkg::shifted_left(sum_q, shift_1_q)
                                     : {8'd0, as_float[23:0]};
      exponent_2_q   <= as_float[29:24];
      sign_2_q       <= sum_q[31];
      multiplier_2_q <= multiplier_1_q;
      shift_2_q      <= shift_1_q;
      gemmlowp_2_q   <= gemmlowp_1_q;
      limits_2_q     <= limits_1_q;

      product_q      <= 64'($signed(left_q)) * 64'($signed(right_factor));
      exponent_3_q   <= exponent_2_q;
      sign_3_q       <= sign_2_q;
      multiplier_3_q <= multiplier_2_q;
      shift_3_q      <= shift_2_q;
      gemmlowp_3_q   <= gemmlowp_2_q;
      limits_3_q     <= limits_2_q;

      scaled_q       <= gemmlowp_3_q
                      ? tpu_requantise_pkg::high_half(product_q, shift_3_q)
                      : tpu_requantise_pkg::rounded_product(product_q[47:0], exponent_3_q,
                                                            multiplier_3_q, sign_3_q);
      limits_4_q     <= limits_3_q;
    end
  end

  assign out_o = tpu_requantise_pkg::clamped(scaled_q, limits_4_q.zero_point, limits_4_q.clamp_min,
                                             limits_4_q.clamp_max);

endmodule
