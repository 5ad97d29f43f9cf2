// SPDX-License-Identifier: Apache-2.0
// One node of an ONNX graph: its attributes with their defaults, and messages that name it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/import/compose/source_node.h"

namespace tandem::compiler {

class NodeReader : public SourceNode {
  public:
    NodeReader(const onnx::NodeProto& node, uint32_t index, const std::string& file, int64_t opset)
        : SourceNode(file), node_(node), index_(index), opset_(opset) {}

    const std::string& type() const { return node_.op_type(); }
    const std::string& name() const { return node_.name(); }
    uint32_t index() const { return index_; }
    /// Of the standard operators.
    int64_t opset() const { return opset_; }
    /// "node 3 (Conv 'name')".
    std::string text() const override;

    int inputs() const { return node_.input_size(); }
    /// An optional input that is left out has an empty name.
    bool has_input(int i) const { return i < inputs() && !node_.input(i).empty(); }
    const std::string& input(int i) const;
    /// The only one.
    const std::string& output() const;
    bool has_output(int i) const override {
        return i < node_.output_size() && !node_.output(i).empty();
    }
    const std::string& output(int i) const override { return node_.output(i); }
    int outputs() const { return node_.output_size(); }

    bool has(const std::string& name) const { return find(name) != nullptr; }
    int64_t integer(const std::string& name, int64_t otherwise) const;
    float real(const std::string& name, float otherwise) const;
    std::string word(const std::string& name, const std::string& otherwise) const;
    std::vector<int64_t> integers(const std::string& name,
                                  const std::vector<int64_t>& otherwise) const;
    std::vector<float> reals(const std::string& name, const std::vector<float>& otherwise) const;
    /// Null: it has none.
    const onnx::AttributeProto* find(const std::string& name) const;

  private:
    const onnx::AttributeProto* find(const std::string& name,
                                     onnx::AttributeProto::AttributeType type) const;

    const onnx::NodeProto& node_;
    const uint32_t index_;
    const int64_t opset_;
};

}  // namespace tandem::compiler
