// SPDX-License-Identifier: Apache-2.0
// A graph that grows node by node, from values in the order that ONNX has (images NCHW) to
// operators that want images as NHWC. Either order is made of the other where it is first asked
// for. On the chip, integers and truth are INT32 and real numbers FLOAT32; what depends on
// constants alone is computed here, integers in 64 bits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

class GraphBuilder {
  public:
    /// The node of the file that the next ones belong to.
    struct Source {
        uint32_t index = 0;
        std::string name;
        std::string text;  ///< for messages
    };
    /// The values that an input of the graph has in this run; null: not known.
    using Given = std::function<std::shared_ptr<const Tensor>(size_t input)>;

    GraphBuilder(const std::string& file, Given given);

    Graph& graph() { return graph_; }
    void at(Source source) { source_ = std::move(source); }
    const Source& source() const { return source_; }

    /// FLOAT32 or INT64; `type` is the file's.
    void add_constant(const std::string& name, Tensor constant, int32_t type);
    /// A value of the host, in the file's order.
    void add_input(const std::string& name, const Shape& shape, int32_t type);
    void add_output(const std::string& name);
    /// Takes out what no output needs; the graph is complete.
    void finish();

    bool knows(const std::string& name) const { return values_.contains(name); }
    /// As the file has it.
    const Shape& shape(const std::string& name) const { return values_.at(name).shape; }
    int32_t type(const std::string& name) const { return values_.at(name).type; }
    bool is_float(const std::string& name) const;
    void set_type(const std::string& name, int32_t type) { values_.at(name).type = type; }
    /// Null: not a constant.
    const Tensor* constant(const std::string& name) const;
    /// A constant, or what follows from inputs whose values are given, which the graph is then made
    /// for; null: neither.
    const Tensor* known(const std::string& name);
    /// Inputs whose values were asked for.
    const std::vector<std::string>& specialised() const { return specialised_; }

    /// In the file's order.
    TensorId plain(const std::string& name);
    /// NHWC, of a value with four dimensions.
    TensorId image(const std::string& name);
    /// It is computed as an image, and nobody has asked for it in the file's order.
    bool is_image(const std::string& name) const;
    /// The same, computed by the chip if it is a constant.
    TensorId activation(const std::string& name);

    /// A name that nobody has.
    std::string fresh();
    /// The value of `to` is that of `from`.
    void rename(const std::string& from, const std::string& to) { values_[to] = values_.at(from); }

    /// A node over values in the file's order, or the constant that it computes. Its shape is what
    /// the table of operators says, or `shape` where several are right.
    void add(const std::string& name, Node node, const std::vector<std::string>& operands,
             int32_t type, const Shape& shape = {});
    /// Over tensors; its output is in the file's order, or an image.
    void add_plain(const std::string& name, Node node, int32_t type, const Shape& shape = {});
    void add_image(const std::string& name, Node node, int32_t type, const Shape& shape = {});

    /// The node that makes a value that nobody else reads, so that it can take more in; null: none.
    Node* sole_producer(const std::string& name);
    /// How often nodes of the file, and its outputs, read a value.
    void count_readers(std::map<std::string, uint32_t> readers) { readers_ = std::move(readers); }

  private:
    struct Value {
        Shape shape;
        int32_t type = 0;
        std::shared_ptr<const Tensor> constant;
        std::optional<TensorId> plain, image;
    };

    /// What a tensor is for the given inputs; null: not known.
    std::shared_ptr<const Tensor> given_value(TensorId id);
    std::shared_ptr<const Tensor> evaluated(const Node& node);
    const Node* producer_of(TensorId id) const;
    bool fold(const std::string& name, Node node, const std::vector<std::string>& operands,
              int32_t type, const Shape& shape);
    TensorId add_node(const std::string& name, Node node, int32_t type, const Shape& shape);
    TensorId add_constant_tensor(const std::string& name, const Tensor& constant);
    TensorId copy_of(TensorId id, const std::string& name);
    /// An input of the graph, or an output already, under whatever shape.
    bool is_taken(TensorId id) const;
    /// Axes in another order: no work where only axes of one element move.
    TensorId reordered(TensorId from, const std::vector<int64_t>& perm, const std::string& name);

    Graph graph_;
    Given given_;
    Source source_;
    std::map<std::string, Value> values_;
    std::map<std::string, uint32_t> readers_;
    std::map<TensorId, std::shared_ptr<const Tensor>> given_values_;
    std::vector<std::string> specialised_;
    std::unordered_map<TensorId, TensorId> computed_;  ///< of constants: by the chip
    std::unordered_map<TensorId, size_t> producers_;   ///< position among the nodes
    uint64_t fresh_ = 0;
    size_t depth_ = 0;  ///< of evaluated()
};

/// NCHW as NHWC, and back.
Shape nhwc(const Shape& nchw);
Shape nchw(const Shape& nhwc);

}  // namespace tandem::compiler
