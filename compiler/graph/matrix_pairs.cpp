// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/matrix_pairs.h"

#include <algorithm>

#include "compiler/graph/operator_rules.h"

namespace tandem::compiler {

namespace {

constexpr size_t kMostDimensions = 5;  ///< as TFLite

/// Rows and columns, as they stand.
int64_t rows_of(const Shape& shape) { return shape[shape.size() - 2]; }
int64_t cols_of(const Shape& shape) { return shape.back(); }

/// In front of the matrix, with ones in front of that.
Shape front(const Shape& shape, size_t rank) {
    Shape result(rank - shape.size(), 1);
    result.insert(result.end(), shape.begin(), shape.end() - 2);
    return result;
}

std::vector<uint64_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

uint64_t MatrixPairs::count() const {
    uint64_t count = 1;
    for (const uint64_t extent : out) count *= extent;
    return count;
}

MatrixPairs matrix_pairs(const Graph& graph, const Node& node) {
    const Shape& a = graph.input(node, 0).shape;
    const Shape& b = graph.input(node, 1).shape;
    const Shape& out = graph.output(node).shape;
    MatrixPairs pairs;
    pairs.adj_x = integer_attribute(node, "adj_x") != 0;
    pairs.adj_y = integer_attribute(node, "adj_y") != 0;
    pairs.m = static_cast<uint64_t>(rows_of(out));
    pairs.n = static_cast<uint64_t>(cols_of(out));
    pairs.k = static_cast<uint64_t>(pairs.adj_x ? rows_of(a) : cols_of(a));
    pairs.out = extents(front(out, out.size()));
    pairs.a = extents(front(a, out.size()));
    pairs.b = extents(front(b, out.size()));
    return pairs;
}

namespace rules {

Shape batch_matmul_shape(const NodeRules& node) {
    for (size_t i = 0; i < 2; ++i)
        if (node.in(i).shape.size() < 2 || node.in(i).shape.size() > kMostDimensions)
            node.fail(node.named(node.in(i), "input"), "2 to 5 dimensions",
                      shape_text(node.in(i).shape));
    const Shape &a = node.in().shape, &b = node.in(1).shape;
    const bool adj_x = integer_attribute(node.node(), "adj_x") != 0;
    const bool adj_y = integer_attribute(node.node(), "adj_y") != 0;
    const int64_t k = adj_x ? rows_of(a) : cols_of(a), k_of_b = adj_y ? cols_of(b) : rows_of(b);
    if (k != k_of_b)
        node.fail(node.named(node.in(1), "input"),
                  std::to_string(k) + (adj_y ? " columns" : " rows"), std::to_string(k_of_b));
    const size_t rank = std::max(a.size(), b.size());
    const Shape of_a = front(a, rank), of_b = front(b, rank);
    Shape out(rank - 2);
    for (size_t i = 0; i < out.size(); ++i) {
        if (of_a[i] != of_b[i] && of_a[i] != 1 && of_b[i] != 1)
            node.fail(node.named(node.in(1), "input"),
                      "the other input's dimensions in front of the matrices, or 1",
                      shape_text(b) + " beside " + shape_text(a));
        out[i] = std::max(of_a[i], of_b[i]);
    }
    out.push_back(adj_x ? cols_of(a) : rows_of(a));
    out.push_back(adj_y ? rows_of(b) : cols_of(b));
    return out;
}

void batch_matmul_types(const NodeRules& node) {
    node.need_type(node.in(1), node.in().type, "input");
    node.need_activation(node.in(1), "input");
}

Counts batch_matmul_counts(const Graph& graph, const Node& node) {
    const MatrixPairs pairs = matrix_pairs(graph, node);
    Counts c;
    c.repeat = node.repeat;
    c.m = pairs.m, c.k = pairs.k, c.n = pairs.n;
    c.groups = pairs.count();
    c.input_elements = graph.input(node, 0).elements() + graph.input(node, 1).elements();
    c.output_elements = graph.output(node).elements();
    return c;
}

}  // namespace rules

}  // namespace tandem::compiler
