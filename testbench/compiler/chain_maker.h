// SPDX-License-Identifier: Apache-2.0
// Random chains of the operators of lists.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"

namespace tandem::testbench {

/// A chain of the operators of lists, in bf16 or int8.
class ChainMaker {
  public:
    ChainMaker(compiler::ElementType type, uint32_t seed) : type_(type), random_(seed) {
        graph_.file = "chain";
        last_ = activation({pick(1, 2), pick(1, 6), pick(1, 6), pick(1, 12) * 2});
        graph_.inputs = {last_};
    }

    /// As many layers, square.
    static compiler::Graph products(compiler::ElementType type, int layers, int64_t k) {
        ChainMaker maker(type, 0);
        maker.graph_ = {};
        maker.graph_.file = "products";
        maker.last_ = maker.add({20, k}, 1.0f, 0, false);
        maker.graph_.inputs = {maker.last_};
        for (int i = 0; i < layers; ++i) {
            const compiler::TensorId matrix = maker.weights({k, k}, k);
            const compiler::TensorId out = maker.add({20, k}, 1.0f, 0, false);
            maker.node(compiler::Operator::kFullyConnected, {maker.last_, matrix}, out);
        }
        maker.graph_.outputs = {maker.last_};
        return maker.graph_;
    }

    compiler::Graph make() {
        for (int64_t i = pick(1, 3); i > 0; --i) convolution();
        if (pick(0, 1) == 0) edge(current().shape);
        reshape();
        for (int64_t i = pick(1, 3); i > 0; --i) matmul(pick(0, 1) == 0 ? 1 : pick(2, 4));
        edge({pick(1, 9), pick(1, 90)});
        if (type_ == compiler::ElementType::kInt8) first_elements(compiler::Operator::kVector);
        matmul(1);
        if (type_ == compiler::ElementType::kInt8) first_elements(compiler::Operator::kPool);
        graph_.outputs = {last_};
        verify(graph_);
        return graph_;
    }

    /// Any bits, of which every fourth says infinity, NaN or nearly nothing.
    void make_weights_wild(compiler::Graph& graph) {
        for (compiler::Tensor& tensor : graph.tensors) {
            if (!tensor.is_constant) continue;
            std::vector<uint16_t> words(tensor.elements());
            for (uint16_t& word : words) {
                const auto exponent = static_cast<uint16_t>(pick(0, 3) > 0    ? pick(80, 170)
                                                            : pick(0, 60) > 0 ? pick(0, 40)
                                                                              : 255);
                word = static_cast<uint16_t>(exponent << 7 | pick(0, 1) << 15 |
                                             (exponent == 255 ? pick(0, 1) : pick(0, 127)));
            }
            std::vector<uint8_t> bytes(words.size() * 2);
            std::memcpy(bytes.data(), words.data(), bytes.size());
            tensor.set_bytes(std::move(bytes));
        }
    }

  private:
    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }
    const compiler::Tensor& current() const { return graph_.tensors[last_]; }

    compiler::TensorId add(compiler::Shape shape, float scale, int32_t zero_point, bool constant) {
        compiler::Tensor t;
        t.name = "t" + std::to_string(graph_.tensors.size());
        t.layout =
            shape.size() == 4 && !constant ? compiler::Layout::kNhwc : compiler::Layout::kRowMajor;
        t.shape = std::move(shape);
        t.type = type_;
        t.is_constant = constant;
        if (type_ == compiler::ElementType::kInt8) t.quantization = {{scale}, {zero_point}, 0};
        return graph_.add(std::move(t));
    }
    compiler::TensorId activation(compiler::Shape shape) {
        return add(std::move(shape), 1.0f, static_cast<int32_t>(pick(-9, 9)), false);
    }
    compiler::TensorId weights(compiler::Shape shape, int64_t k) {
        return add(std::move(shape), compiler::seeded_weight_scale(static_cast<uint64_t>(k)), 0,
                   true);
    }
    compiler::Node& node(compiler::Operator op, std::vector<compiler::TensorId> inputs,
                         compiler::TensorId output) {
        compiler::Node made;
        made.op = op;
        made.name = graph_.tensors[output].name;
        made.index = static_cast<uint32_t>(graph_.nodes.size());
        made.inputs = std::move(inputs);
        made.outputs = {last_ = output};
        graph_.nodes.push_back(std::move(made));
        return graph_.nodes.back();
    }

    void convolution() {
        const compiler::Shape in = current().shape;
        const int64_t groups = in[3] % 2 == 0 ? pick(1, 2) : 1, channels = in[3] / groups;
        compiler::WindowAttributes w;
        w.kernel_h = pick(1, 3), w.kernel_w = pick(1, 3);
        w.stride_h = pick(1, 2), w.stride_w = pick(1, 2);
        w.dilation_h = pick(1, 2), w.dilation_w = pick(1, 2);
        w.pad_top = w.pad_bottom = w.dilation_h * (w.kernel_h - 1);
        w.pad_left = w.dilation_w * (w.kernel_w - 1);
        const compiler::TensorId filters =
            weights({groups * pick(1, 40), w.kernel_h, w.kernel_w, channels},
                    w.kernel_h * w.kernel_w * channels);
        const compiler::TensorId out = activation(
            {in[0],
             compiler::output_extent(in[1], w.kernel_h, w.stride_h, w.dilation_h, 2 * w.pad_top),
             compiler::output_extent(in[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left),
             graph_.tensors[filters].shape[0]});
        set_window(node(compiler::Operator::kConv2d, {last_, filters}, out), w);
    }
    void reshape() {
        const compiler::Shape in = current().shape;
        const compiler::TensorId out = activation({in[0], in[1] * in[2] * in[3]});
        graph_.tensors[out].quantization = current().quantization;
        node(compiler::Operator::kReshape, {last_}, out);
    }
    void matmul(int64_t groups) {
        const int64_t rows = current().shape[0], k = current().shape[1], n = pick(1, 150);
        const compiler::TensorId matrix =
            groups == 1 ? weights({n, k}, k) : weights({groups, n, k}, k);
        const compiler::TensorId out = activation({rows, groups * n});
        node(groups == 1 ? compiler::Operator::kFullyConnected : compiler::Operator::kGroupedMatmul,
             {last_, matrix}, out)
            .repeat = static_cast<uint64_t>(pick(1, 3));
    }
    void first_elements(compiler::Operator op) {
        compiler::Shape shape = current().shape;
        shape[1] = pick(1, shape[1]);
        const compiler::TensorId out = activation(shape);
        if (op == compiler::Operator::kPool)
            graph_.tensors[out].quantization = current().quantization;
        node(op, {last_}, out);
    }
    void edge(compiler::Shape shape) {
        const compiler::TensorId out = activation(std::move(shape));
        node(compiler::Operator::kEdge, {last_}, out);
    }

    const compiler::ElementType type_;
    std::mt19937 random_;
    compiler::Graph graph_;
    compiler::TensorId last_ = 0;
};

}  // namespace tandem::testbench
