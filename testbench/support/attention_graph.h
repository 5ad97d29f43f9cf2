// SPDX-License-Identifier: Apache-2.0
// A block of attention as the text of a graph: softmax(Q K^T) V, perhaps through a projection.
#pragma once

#include <string>

namespace tandem::testbench {

/// Attention of `heads` heads; `int8`: with zero points, else bf16. Output: heads x queries x
/// depth. `projection`: a layer behind it whose weights have no values.
inline std::string attention_text(bool int8, int heads, int queries, int keys, int depth,
                                  bool projection = false) {
    struct Tensor {
        int rows, cols;
        const char *scale, *zero_point;
    };
    const Tensor tensors[] = {
        {queries, depth, "0.03", "5"},         {keys, depth, "0.04", "-9"},
        {keys, depth, "0.02", "21"},           {queries, keys, "0.06", "3"},
        {queries, keys, "0.00390625", "-128"}, {queries, depth, "0.01", "-30"},
    };
    std::string text = "tgraph 1\nname \"attention\"\n";
    int next = 0;
    for (const Tensor& t : tensors) {
        const std::string id = std::to_string(next++);
        text += "tensor %" + id + " \"t" + id + "\" " + (int8 ? "INT8 " : "BFLOAT16 ") +
                std::to_string(heads) + "x" + std::to_string(t.rows) + "x" + std::to_string(t.cols);
        if (int8) text += std::string(" scales=") + t.scale + " zero_points=" + t.zero_point;
        text += "\n";
    }
    if (projection) {
        const std::string type = int8 ? "INT8 " : "BFLOAT16 ", d = std::to_string(depth);
        text += "constant %6 \"w\" " + type + d + "x" + d + (int8 ? " scales=0.02" : "") +
                "\ntensor %7 \"t7\" " + type + std::to_string(heads) + "x" +
                std::to_string(queries) + "x" + d + (int8 ? " scales=0.02 zero_points=2" : "") +
                "\n";
    }
    text +=
        "node 0 BATCH_MATMUL \"scores\" inputs=%0,%1 outputs=%3 adj_x=0 adj_y=1\n"
        "node 1 SOFTMAX \"weights\" inputs=%3 outputs=%4 beta=";
    text += int8 ? "1" : "0.25";
    text += "\nnode 2 BATCH_MATMUL \"context\" inputs=%4,%2 outputs=%5 adj_x=0 adj_y=0\n";
    if (projection) text += "node 3 FULLY_CONNECTED \"projection\" inputs=%5,%6 outputs=%7\n";
    return text + "inputs %0,%1,%2\noutputs " + (projection ? "%7\n" : "%5\n");
}

}  // namespace tandem::testbench
