// SPDX-License-Identifier: Apache-2.0
// Delays lane l of a beat by l edges, which turns a row into the diagonal that a systolic array eats.
// Latency: lane l of a beat accepted at edge t stands on data_o for edge t + l. Lane 0 has no delay;
// its consumer takes it straight from the port, and data_o[7:0] carries nothing.
// The delay lines are one memory with a rotating pointer: one write and one read per lane and edge.

module tpu_skew #(
  parameter  int unsigned Lanes = 16,
  localparam int unsigned Words = (Lanes + 3) / 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                active_i,  // a beat enters or is still inside
  input  logic                valid_i,   // a beat enters at this edge
  input  logic [Lanes*8-1:0]  data_i,
  output logic [Words*32-1:0] data_o     // whole words; lanes from Lanes on carry nothing
);

  localparam int unsigned PtrW  = (Lanes > 4) ? $clog2(Lanes) : 2;
  localparam int unsigned Depth = 1 << PtrW;

  // Slot p holds, at position l, the byte that leaves lane l when the pointer reaches p.
  logic [PtrW-1:0] ptr_q, ptr_d;
  assign ptr_d = ptr_q + 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ptr_q <= '0;
    end else if (active_i) begin
      ptr_q <= ptr_d;
    end
  end

  /* verilator tracing_off */
  logic [7:0]          mem [Depth*Depth];
  logic [Words*32-1:0] in, out;
  logic [31:0]         word;
  int unsigned         w;  // set outside of any condition, so that the simulator keeps it local

  // Four lanes at a time: the simulator handles whole words much faster than slices of them.
  always_ff @(posedge clk_i) begin
    w = 0;
    if (active_i) begin
      if (valid_i) begin
        in = (Words*32)'(data_i);
        for (w = 0; w < Words; w++) begin
          word = in[w*32 +: 32];
          mem[((32'(ptr_q) + 4*w    ) % Depth) * Depth + 4*w    ] = word[7:0];
          mem[((32'(ptr_q) + 4*w + 1) % Depth) * Depth + 4*w + 1] = word[15:8];
          mem[((32'(ptr_q) + 4*w + 2) % Depth) * Depth + 4*w + 2] = word[23:16];
          mem[((32'(ptr_q) + 4*w + 3) % Depth) * Depth + 4*w + 3] = word[31:24];
        end
      end
      for (w = 0; w < Words; w++) begin
        out[w*32 +: 32] = {mem[32'(ptr_d) * Depth + 4*w + 3], mem[32'(ptr_d) * Depth + 4*w + 2],
                           mem[32'(ptr_d) * Depth + 4*w + 1], mem[32'(ptr_d) * Depth + 4*w]};
      end
      data_o <= out;
    end
  end

endmodule
