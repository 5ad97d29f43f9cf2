// SPDX-License-Identifier: Apache-2.0
// ONNX models written line by line.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::testbench {

class TinyOnnx {
  public:
    explicit TinyOnnx(int64_t opset = 13) {
        model.set_ir_version(8);
        model.add_opset_import()->set_version(opset);
        graph().set_name("tiny");
    }

    onnx::GraphProto& graph() { return *model.mutable_graph(); }

    static void describe(onnx::ValueInfoProto& value, const std::string& name,
                         const std::vector<int64_t>& shape) {
        value.set_name(name);
        auto& type = *value.mutable_type()->mutable_tensor_type();
        type.set_elem_type(onnx::TensorProto::FLOAT);
        for (const int64_t extent : shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
    }
    void input(const std::string& name, const std::vector<int64_t>& shape) {
        describe(*graph().add_input(), name, shape);
    }
    void output(const std::string& name, const std::vector<int64_t>& shape) {
        describe(*graph().add_output(), name, shape);
    }
    void constant(const std::string& name, const std::vector<int64_t>& shape,
                  const std::vector<float>& values) {
        auto& tensor = *graph().add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(onnx::TensorProto::FLOAT);
        for (const int64_t extent : shape) tensor.add_dims(extent);
        for (const float value : values) tensor.add_float_data(value);
    }
    void integers(const std::string& name, const std::vector<int64_t>& values) {
        auto& tensor = *graph().add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(onnx::TensorProto::INT64);
        tensor.add_dims(static_cast<int64_t>(values.size()));
        for (const int64_t value : values) tensor.add_int64_data(value);
    }
    onnx::NodeProto& node(const std::string& type, const std::vector<std::string>& inputs,
                          const std::string& output) {
        auto& node = *graph().add_node();
        node.set_op_type(type);
        for (const auto& name : inputs) node.add_input(name);
        node.add_output(output);
        return node;
    }
    static void set(onnx::NodeProto& node, const std::string& name, int64_t value) {
        auto& attribute = *node.add_attribute();
        attribute.set_name(name);
        attribute.set_type(onnx::AttributeProto::INT);
        attribute.set_i(value);
    }
    static void set(onnx::NodeProto& node, const std::string& name,
                    const std::vector<int64_t>& values) {
        auto& attribute = *node.add_attribute();
        attribute.set_name(name);
        attribute.set_type(onnx::AttributeProto::INTS);
        for (const int64_t value : values) attribute.add_ints(value);
    }
    std::vector<uint8_t> bytes() const {
        const std::string text = model.SerializeAsString();
        return {text.begin(), text.end()};
    }

    onnx::ModelProto model;
};

}  // namespace tandem::testbench
