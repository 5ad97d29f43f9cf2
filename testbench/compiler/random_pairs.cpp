// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/random_pairs.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/append_node.h"

namespace tandem::testbench {

namespace {

using namespace compiler;

class PairsMaker {
  public:
    PairsMaker(std::mt19937& random, ElementType type) : random_(random), type_(type) {
        graph_.file = "random pairs";
    }

    Graph make() {
        front_.resize(static_cast<size_t>(pick(0, 3)));
        for (int64_t& extent : front_) extent = pick(1, 3);
        TensorId left = operand(pick(1, 12), pick(1, 30));
        left = multiply(left);
        if (pick(0, 2) == 0) graph_.outputs.push_back(left);
        if (pick(0, 1) == 0) left = softmax(left);
        if (pick(0, 2) != 0) left = multiply(left);
        if (pick(0, 3) == 0) left = fully_connected(left, graph_.tensors[left].shape);
        if (graph_.outputs.empty() || graph_.outputs.back() != left) graph_.outputs.push_back(left);
        verify(graph_);
        return std::move(graph_);
    }

  private:
    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }
    bool is_int8() const { return type_ == ElementType::kInt8; }

    TensorId tensor(Shape shape) {
        Tensor t;
        t.name = "t" + std::to_string(graph_.tensors.size());
        t.shape = std::move(shape);
        t.type = type_;
        // Zero points of 0 take other ways through the compiler.
        if (is_int8())
            t.quantization = {
                {0.05f}, {static_cast<int32_t>(pick(0, 2) == 0 ? 0 : pick(-128, 127))}, 0};
        return graph_.add(std::move(t));
    }

    /// The output's, with some extents of 1, or without the first ones.
    Shape some_front() {
        Shape front = front_;
        if (pick(0, 2) != 0) return front;
        for (int64_t& extent : front)
            if (pick(0, 1) == 0) extent = 1;
        while (!front.empty() && front.front() == 1 && pick(0, 1) == 0) front.erase(front.begin());
        return front;
    }

    static Shape with(Shape front, int64_t rows, int64_t cols) {
        front.push_back(rows);
        front.push_back(cols);
        return front;
    }

    TensorId node(Operator op, std::vector<TensorId> inputs, TensorId output,
                  Attributes attributes) {
        append_node(graph_, op, std::move(inputs), output, std::move(attributes));
        return output;
    }

    /// Sums of k products in the range of int8.
    void fit(TensorId out, float scale_a, float scale_b, int64_t k) {
        if (is_int8())
            graph_.tensors[out].quantization.scales = {scale_a * scale_b *
                                                       std::sqrt(static_cast<float>(k)) *
                                                       static_cast<float>(pick(40, 200))};
    }
    float scale_of(TensorId id) const { return is_int8() ? graph_.tensors[id].scale() : 1.0f; }

    TensorId fully_connected(TensorId in, Shape shape) {
        const int64_t depth = graph_.tensors[in].shape.back();
        Tensor weights;
        weights.name = "w" + std::to_string(graph_.tensors.size());
        weights.shape = {shape.back(), depth};
        weights.type = type_;
        weights.is_constant = true;
        if (is_int8()) weights.quantization = {{0.01f}, {0}, 0};
        weights.set_bytes(seeded_bytes(weights, random_()));
        const TensorId w = graph_.add(std::move(weights));
        const TensorId out = tensor(shape);
        fit(out, scale_of(in), 0.01f, depth);
        return node(Operator::kFullyConnected, {in, w}, out, {});
    }

    TensorId operand(int64_t rows, int64_t cols) {
        const Shape shape = with(some_front(), rows, cols);
        if (pick(0, 2) != 0) return input(shape);
        Shape source = shape;
        source.back() = pick(1, 20);
        return fully_connected(input(source), shape);
    }

    TensorId input(const Shape& shape) {
        const TensorId id = tensor(shape);
        graph_.inputs.push_back(id);
        return id;
    }

    TensorId multiply(TensorId a) {
        const Shape& shape = graph_.tensors[a].shape;
        const int64_t adj_x = pick(0, 3) == 0, adj_y = pick(0, 1);
        const int64_t rows = shape[shape.size() - 2], cols = shape.back();
        const int64_t m = adj_x ? cols : rows, k = adj_x ? rows : cols;
        TensorId b = a;
        int64_t n = pick(1, 25);
        // A tensor by its own transpose.
        const bool itself = adj_x == 0 && adj_y == 1 && pick(0, 3) == 0;
        if (itself)
            n = rows;
        else
            b = operand(adj_y ? n : k, adj_y ? k : n);
        const TensorId out = tensor(with(front_of(a, b), m, n));
        fit(out, scale_of(a), scale_of(b), k);
        return node(Operator::kBatchMatmul, {a, b}, out, {{"adj_x", adj_x}, {"adj_y", adj_y}});
    }

    Shape front_of(TensorId a, TensorId b) const {
        const Shape *longer = &graph_.tensors[a].shape, *other = &graph_.tensors[b].shape;
        if (longer->size() < other->size()) std::swap(longer, other);
        Shape front(longer->begin(), longer->end() - 2);
        const size_t missing = longer->size() - other->size();
        for (size_t i = missing; i < front.size(); ++i)
            front[i] = std::max(front[i], (*other)[i - missing]);
        return front;
    }

    TensorId softmax(TensorId in) {
        if (is_int8()) graph_.tensors[in].quantization.scales[0] = 0.05f;
        const TensorId out = tensor(graph_.tensors[in].shape);
        if (is_int8()) graph_.tensors[out].quantization = {{1.0f / 256}, {-128}, 0};
        return node(Operator::kSoftmax, {in}, out, {{"beta", 1.0f}});
    }

    std::mt19937& random_;
    const ElementType type_;
    Graph graph_;
    Shape front_;
};

}  // namespace

Graph random_pairs(std::mt19937& random, ElementType type) {
    return PairsMaker(random, type).make();
}

}  // namespace tandem::testbench
