// SPDX-License-Identifier: Apache-2.0
#include "testbench/compiler/random_list.h"

#include <algorithm>
#include <string>

#include "compiler/graph/operators.h"
#include "compiler/graph/seed.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/append_node.h"

namespace tandem::testbench {

namespace {

using namespace compiler;

class ListMaker {
  public:
    ListMaker(std::mt19937& random, ElementType type) : random_(random), type_(type) {
        graph_.file = "random list";
        chained_ = pick(0, 2) != 0;
    }

    Graph make() {
        const int64_t count = pick(1, 5);
        for (int64_t i = 0; i < count; ++i) add_layer();
        if (chained_) {
            graph_.outputs = {last_};
            graph_.tensors[last_].memory = home();
        }
        verify(graph_);
        return std::move(graph_);
    }

  private:
    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }
    Memory home() { return pick(0, 1) == 0 ? Memory::kHost : Memory::kDevice; }

    TensorId add_activation(const Shape& shape) {
        Tensor t;
        t.name = "t" + std::to_string(graph_.tensors.size());
        t.shape = shape;
        t.type = type_;
        if (shape.size() == 4) t.layout = Layout::kNhwc;
        if (type_ == ElementType::kInt8)
            t.quantization = {{1.0f}, {static_cast<int32_t>(pick(-20, 20))}, 0};
        return graph_.add(std::move(t));
    }

    TensorId add_weights(const Shape& shape, int64_t k) {
        Tensor t;
        t.name = "w" + std::to_string(graph_.tensors.size());
        t.shape = shape;
        t.type = type_;
        t.is_constant = true;
        t.memory = Memory::kDevice;
        if (type_ == ElementType::kInt8)
            t.quantization = {{seeded_weight_scale(static_cast<uint64_t>(k))}, {0}, 0};
        return graph_.add(std::move(t));
    }

    /// The output before, under another shape or behind an edge; or an input of its own.
    TensorId input(const Shape& shape) {
        if (graph_.nodes.empty() || !chained_) {
            const TensorId own = add_activation(shape);
            graph_.tensors[own].memory = home();
            graph_.inputs.push_back(own);
            return own;
        }
        if (graph_.tensors[last_].shape == shape) return last_;
        const TensorId other = add_activation(shape);
        const bool as_many = graph_.tensors[last_].elements() == graph_.tensors[other].elements();
        if (as_many) graph_.tensors[other].quantization = graph_.tensors[last_].quantization;
        add_node(as_many ? Operator::kReshape : Operator::kEdge, {last_}, other);
        return other;
    }

    Node& add_node(Operator op, std::vector<TensorId> inputs, TensorId output) {
        last_ = output;
        return append_node(graph_, op, std::move(inputs), output);
    }

    void add_layer() {
        const bool int8 = type_ == ElementType::kInt8;
        switch (pick(0, int8 ? 6 : 3)) {
            case 0:
            case 1:
                add_product();
                break;
            case 2:
            case 3:
                add_convolution(false);
                break;
            case 4:
                add_convolution(true);
                break;
            default:
                add_pass();
        }
        Node& node = graph_.nodes.back();
        if (pick(0, 3) == 0) node.repeat = static_cast<uint64_t>(pick(2, 3));
        if (!chained_) {
            graph_.outputs.push_back(last_);
            graph_.tensors[last_].memory = home();
        }
    }

    /// Sometimes long in K, or in rows.
    void add_product() {
        const int64_t m = pick(1, pick(0, 1) == 0 ? 12 : 150);
        const int64_t k = pick(1, pick(0, 1) == 0 ? 40 : 400), n = pick(1, 60);
        const int64_t groups = pick(0, 3) == 0 ? pick(2, 3) : 1;
        const TensorId in = input({m, k});
        const TensorId w = add_weights(groups == 1 ? Shape{n, k} : Shape{groups, n, k}, k);
        add_node(groups == 1 ? Operator::kFullyConnected : Operator::kGroupedMatmul, {in, w},
                 add_activation({m, n * groups}));
    }

    void add_convolution(bool depthwise) {
        WindowAttributes w;
        w.kernel_h = pick(1, 3), w.kernel_w = pick(1, 3);
        w.stride_h = pick(1, 2), w.stride_w = pick(1, 2);
        w.dilation_h = pick(1, 2), w.dilation_w = pick(1, 2);
        const int64_t h = (w.kernel_h - 1) * w.dilation_h + pick(1, 12);
        const int64_t v = (w.kernel_w - 1) * w.dilation_w + pick(1, 9);
        w.pad_top = pick(0, w.kernel_h - 1), w.pad_bottom = pick(0, w.kernel_h - 1);
        w.pad_left = pick(0, w.kernel_w - 1), w.pad_right = pick(0, w.kernel_w - 1);
        const int64_t images = pick(1, 4), channels = pick(1, 24);
        const int64_t multiplier = pick(1, 2),
                      filters = depthwise ? channels * multiplier : pick(1, 30);
        const TensorId in = input({images, h, v, channels});
        const Shape out{
            images,
            output_extent(h, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top + w.pad_bottom),
            output_extent(v, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left + w.pad_right),
            filters};
        const TensorId weights =
            depthwise ? add_weights({1, w.kernel_h, w.kernel_w, filters}, w.kernel_h * w.kernel_w)
                      : add_weights({filters, w.kernel_h, w.kernel_w, channels},
                                    w.kernel_h * w.kernel_w * channels);
        Node& node = add_node(depthwise ? Operator::kDepthwiseConv2d : Operator::kConv2d,
                              {in, weights}, add_activation(out));
        if (depthwise) node.attributes["depth_multiplier"] = multiplier;
        set_window(node, w);
    }

    /// VECTOR or POOL, which may leave fewer elements.
    void add_pass() {
        const int64_t elements = pick(1, pick(0, 1) == 0 ? 100 : 5000);
        const int64_t left = pick(0, 1) == 0 ? elements : pick(1, elements);
        const TensorId in = input({elements});
        const TensorId out = add_activation({left});
        const bool pool = pick(0, 1) == 0;
        if (pool) graph_.tensors[out].quantization = graph_.tensors[in].quantization;
        add_node(pool ? Operator::kPool : Operator::kVector, {in}, out);
    }

    std::mt19937& random_;
    const ElementType type_;
    Graph graph_;
    bool chained_ = false;
    TensorId last_ = 0;
};

}  // namespace

Graph random_list(std::mt19937& random, ElementType type) { return ListMaker(random, type).make(); }

}  // namespace tandem::testbench
