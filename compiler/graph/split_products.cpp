// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/split_products.h"

#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "arch/bf16.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/verify.h"

namespace tandem::compiler {
namespace {

using Integers = std::vector<int64_t>;

/// Which piece of the first and of the second factor, by products.
struct Pair {
    size_t first, second;
};
std::vector<Pair> pairs_of(size_t pieces) {
    if (pieces == 2) return {{1, 0}, {0, 1}, {0, 0}};
    return {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
}

class Splitting {
  public:
    Splitting(Graph graph, size_t pieces)
        : graph_(std::move(graph)), pieces_(pieces), pairs_(pairs_of(pieces)) {}

    Graph run() {
        for (Node& node : std::exchange(graph_.nodes, {})) {
            const bool wide = graph_.input(node, 0).type == ElementType::kFloat32;
            const LoweringKind kind = operator_info(node.op).lowering;
            if (wide && kind == LoweringKind::kMatmul) split_weighted(node);
            if (wide && kind == LoweringKind::kBatchMatmul) split_pair(node);
            graph_.nodes.push_back(std::move(node));
        }
        verify(graph_);
        return std::move(graph_);
    }

  private:
    TensorId add(Operator op, Attributes attributes, std::vector<TensorId> inputs, ElementType type,
                 const Shape& shape, const std::string& name, const Node& beside) {
        Tensor tensor;
        tensor.name = name;
        tensor.type = type;
        tensor.shape = shape;
        Node node;
        node.op = op;
        node.index = beside.index;
        node.name = name;
        node.where = beside.where;
        node.inputs = std::move(inputs);
        node.attributes = std::move(attributes);
        node.outputs = {graph_.add(std::move(tensor))};
        graph_.nodes.push_back(node);
        return node.outputs[0];
    }

    const std::vector<TensorId>& pieces_of(TensorId id, const Node& beside) {
        auto& pieces = pieces_of_[id];
        const std::string name = graph_.tensors[id].name;
        const Shape shape = graph_.tensors[id].shape;
        constexpr const char* kRests[] = {"a", "a - b", "a - b - c"};
        for (size_t i = pieces.size(); i < pieces_; ++i) {
            std::vector<TensorId> inputs{id};
            inputs.insert(inputs.end(), pieces.begin(), pieces.end());
            pieces.push_back(add(Operator::kElementwise, {{"formula", std::string(kRests[i])}},
                                 inputs, ElementType::kBf16, shape,
                                 name + "/piece" + std::to_string(i), beside));
        }
        return pieces;
    }

    /// The pieces that the pairs have of one factor, side by side along an axis; of images the
    /// channels of each group.
    TensorId beside(TensorId id, bool first, size_t axis, int64_t groups, const Node& node) {
        const auto pieces = pieces_of(id, node);
        const std::string name = graph_.tensors[id].name + (first ? "/left" : "/right");
        Shape shape = graph_.tensors[id].shape;
        const Layout layout = graph_.tensors[id].layout;
        const Shape whole = [&] {
            Shape all = shape;
            all[axis] *= static_cast<int64_t>(pairs_.size());
            return all;
        }();
        std::vector<TensorId> parts;
        for (const Pair& pair : pairs_) parts.push_back(pieces[first ? pair.first : pair.second]);
        if (groups != 1) {
            shape.push_back(shape[axis] / groups);
            shape[axis] = groups;
            for (TensorId& part : parts)
                part = add(Operator::kReshape, {}, {part}, ElementType::kBf16, shape,
                           name + "/groups", node);
            ++axis;
        }
        Shape all = shape;
        all[axis] *= static_cast<int64_t>(pairs_.size());
        TensorId result = add(Operator::kConcatenation, {{"axis", static_cast<int64_t>(axis)}},
                              parts, ElementType::kBf16, all, name, node);
        if (groups != 1)
            result = add(Operator::kReshape, {}, {result}, ElementType::kBf16, whole,
                         name + "/channels", node);
        graph_.tensors[result].layout = layout;
        return result;
    }

    static std::vector<float> floats_of(const Tensor& tensor) {
        std::vector<float> values(tensor.elements());
        if (tensor.has_data())
            std::memcpy(values.data(), tensor.bytes().data(), values.size() * sizeof(float));
        return values;
    }

    /// Weights as rows of channels, `channels` each: the pieces of a row side by side.
    TensorId split_weights(const Tensor& weights, int64_t channels, const Shape& shape) {
        const auto values = floats_of(weights);
        std::vector<uint16_t> words;
        for (size_t row = 0; row < values.size(); row += static_cast<size_t>(channels))
            for (const Pair& pair : pairs_)
                for (int64_t c = 0; c < channels; ++c) {
                    float rest = values[row + static_cast<size_t>(c)];
                    uint16_t piece = 0;
                    for (size_t i = 0; i <= pair.second; ++i) {
                        piece = bf16::narrow(std::bit_cast<uint32_t>(rest));
                        rest -= std::bit_cast<float>(uint32_t{piece} << 16);
                    }
                    words.push_back(piece);
                }
        Tensor result;
        result.name = weights.name + "/pieces";
        result.type = ElementType::kBf16;
        result.shape = shape;
        result.is_constant = true;
        std::vector<uint8_t> bytes(words.size() * sizeof(uint16_t));
        std::memcpy(bytes.data(), words.data(), bytes.size());
        if (weights.has_data()) result.set_bytes(std::move(bytes));
        return graph_.add(std::move(result));
    }

    void split_weighted(Node& node) {
        const Tensor weights = graph_.input(node, 1);
        const Shape image = graph_.input(node, 0).shape;
        Shape shape = weights.shape;
        int64_t groups = 1;
        if (node.op == Operator::kDepthwiseConv2d) {
            // A group per channel; OHWI of 1HWC.
            groups = image[3];
            Tensor turned = weights;
            const auto values = floats_of(weights);
            const auto outputs = static_cast<size_t>(shape[3]),
                       taps = static_cast<size_t>(shape[1] * shape[2]);
            std::vector<float> laid(values.size());
            for (size_t o = 0; o < outputs; ++o)
                for (size_t tap = 0; tap < taps; ++tap)
                    laid[o * taps + tap] = values[tap * outputs + o];
            std::vector<uint8_t> bytes(laid.size() * sizeof(float));
            std::memcpy(bytes.data(), laid.data(), bytes.size());
            if (weights.has_data()) turned.set_bytes(std::move(bytes));
            shape = {shape[3], shape[1], shape[2], static_cast<int64_t>(pairs_.size())};
            node.op = Operator::kConv2d;
            node.attributes.erase("depth_multiplier");
            node.inputs[1] = split_weights(turned, 1, shape);
        } else {
            const int64_t channels = shape.back();
            if (node.op == Operator::kConv2d) groups = image[3] / channels;
            shape.back() *= static_cast<int64_t>(pairs_.size());
            node.inputs[1] = split_weights(weights, channels, shape);
        }
        node.inputs[0] = beside(node.inputs[0], true, image.size() - 1, groups, node);
    }

    void split_pair(Node& node) {
        const size_t rank = graph_.input(node, 0).shape.size();
        const bool turned_x = integer_attribute(node, "adj_x") != 0,
                   turned_y = integer_attribute(node, "adj_y") != 0;
        const auto inputs = node.inputs;
        node.inputs[0] = beside(inputs[0], true, rank - (turned_x ? 2 : 1), 1, node);
        node.inputs[1] = beside(inputs[1], false, rank - (turned_y ? 1 : 2), 1, node);
    }

    Graph graph_;
    size_t pieces_;
    std::vector<Pair> pairs_;
    std::map<TensorId, std::vector<TensorId>> pieces_of_;
};

}  // namespace

Graph split_products(Graph graph, size_t pieces) {
    return Splitting(std::move(graph), pieces).run();
}

}  // namespace tandem::compiler
