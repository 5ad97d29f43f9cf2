// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX are written with these: each takes names of values and makes a new one.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/onnx/graph_builder.h"
#include "compiler/import/onnx/node_reader.h"

namespace tandem::compiler {

/// The name of a value; empty: an optional one that is left out.
using OnnxValue = std::string;

class OnnxMaths {
  public:
    OnnxMaths(GraphBuilder& graph, const NodeReader& node) : graph_(graph), node_(node) {}

    const Shape& shape(const OnnxValue& value) const { return graph_.shape(value); }
    int64_t rank(const OnnxValue& value) const;
    bool is_float(const OnnxValue& value) const { return graph_.is_float(value); }
    /// 0 to rank - 1, or rank with `behind`; -1 is the last one.
    int64_t axis_in(const OnnxValue& value, int64_t axis, bool behind = false) const;

    /// Throws UserError.
    void need_at_most(int64_t count, int64_t most, const std::string& what,
                      const std::string& of) const;

    OnnxValue integers(const std::vector<int64_t>& values, const Shape& shape);
    OnnxValue reals(const std::vector<float>& values, const Shape& shape);
    OnnxValue scalar(float value) { return reals({value}, {}); }
    OnnxValue scalar(int64_t value) { return integers({value}, {}); }
    /// 0, 1 ... along one axis of a shape whose other extents are 1.
    OnnxValue places(int64_t count, int64_t axis, int64_t rank);

    /// Elements of up to three values, broadcast (compiler/graph/formula.h).
    OnnxValue formula(const std::string& text, const std::vector<OnnxValue>& operands);
    OnnxValue to_float(const OnnxValue& value);
    /// Half to even; still held as FLOAT32.
    OnnxValue rounded_to_bf16(const OnnxValue& value);
    /// To a type of 8 bits (its ONNX number), saturated; likewise.
    OnnxValue rounded_to_float8(const OnnxValue& value, int32_t type);
    /// SUM, MAX, MIN, ARG_MAX.
    OnnxValue reduce(const std::string& function, const OnnxValue& value, std::vector<int64_t> axes,
                     bool keep_dims = true);
    OnnxValue mean(const OnnxValue& value, const std::vector<int64_t>& axes, bool keep_dims = true);

    OnnxValue reshape(const OnnxValue& value, const Shape& shape);
    OnnxValue transpose(const OnnxValue& value, const std::vector<int64_t>& perm);
    /// Along one axis.
    OnnxValue slice(const OnnxValue& value, int64_t axis, int64_t begin, int64_t size,
                    int64_t step = 1);
    OnnxValue concatenate(const std::vector<OnnxValue>& values, int64_t axis);
    OnnxValue pad(const OnnxValue& value, const std::vector<int64_t>& before,
                  const std::vector<int64_t>& behind, float fill);
    OnnxValue broadcast_to(const OnnxValue& value, const Shape& shape);
    /// Rows along `axis`; indices from the end are negative.
    OnnxValue gather(const OnnxValue& value, const OnnxValue& indices, int64_t axis);
    /// Products of the last two axes, the others broadcast; 2 or more.
    OnnxValue matmul(const OnnxValue& a, const OnnxValue& b);

    void set_type(const OnnxValue& value, int32_t type) { graph_.set_type(value, type); }
    void result(const OnnxValue& value, int output = 0);
    void result(const OnnxValue& value, int output, int32_t type);

    GraphBuilder& graph() { return graph_; }
    const NodeReader& node() const { return node_; }

  private:
    OnnxValue empty_like(const OnnxValue& value, int64_t axis);
    OnnxValue made(Operator op, Attributes attributes, const std::vector<OnnxValue>& operands,
                   int32_t type, const Shape& shape = {});
    /// As images, where one of them is.
    bool on_images(const std::string& text, const std::vector<OnnxValue>& operands, int32_t type,
                   const OnnxValue& name);
    int32_t number_type(const OnnxValue& like) const;

    GraphBuilder& graph_;
    const NodeReader& node_;
};

}  // namespace tandem::compiler
