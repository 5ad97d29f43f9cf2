// SPDX-License-Identifier: Apache-2.0
// Operators of files are written with these: each takes names of values and makes a new one.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/compose/graph_builder.h"
#include "compiler/import/compose/source_node.h"

namespace tandem::compiler {

/// The name of a value; empty: an optional one that is left out.
using ValueName = std::string;

class Maths {
  public:
    Maths(GraphBuilder& graph, const SourceNode& node) : graph_(graph), node_(node) {}

    const Shape& shape(const ValueName& value) const { return graph_.shape(value); }
    int64_t rank(const ValueName& value) const;
    bool is_float(const ValueName& value) const { return graph_.is_float(value); }
    /// 0 to rank - 1, or rank with `behind`; -1 is the last one.
    int64_t axis_in(const ValueName& value, int64_t axis, bool behind = false) const;

    /// Throws UserError.
    void need_at_most(int64_t count, int64_t most, const std::string& what,
                      const std::string& of) const;

    ValueName integers(const std::vector<int64_t>& values, const Shape& shape);
    ValueName reals(const std::vector<float>& values, const Shape& shape);
    ValueName scalar(float value) { return reals({value}, {}); }
    ValueName scalar(int64_t value) { return integers({value}, {}); }
    /// 0, 1 ... along one axis of a shape whose other extents are 1.
    ValueName places(int64_t count, int64_t axis, int64_t rank);

    /// Elements of up to three values, broadcast (compiler/graph/formula.h).
    ValueName formula(const std::string& text, const std::vector<ValueName>& operands);
    ValueName to_float(const ValueName& value);
    /// Half to even; still held as FLOAT32.
    ValueName rounded_to_bf16(const ValueName& value);
    /// To a type of 8 bits (its ONNX number), saturated; likewise.
    ValueName rounded_to_float8(const ValueName& value, int32_t type);
    /// SUM, MAX, MIN, ARG_MAX.
    ValueName reduce(const std::string& function, const ValueName& value, std::vector<int64_t> axes,
                     bool keep_dims = true);
    ValueName mean(const ValueName& value, const std::vector<int64_t>& axes, bool keep_dims = true);

    ValueName reshape(const ValueName& value, const Shape& shape);
    ValueName transpose(const ValueName& value, const std::vector<int64_t>& perm);
    /// Along one axis.
    ValueName slice(const ValueName& value, int64_t axis, int64_t begin, int64_t size,
                    int64_t step = 1);
    ValueName concatenate(const std::vector<ValueName>& values, int64_t axis);
    ValueName pad(const ValueName& value, const std::vector<int64_t>& before,
                  const std::vector<int64_t>& behind, float fill);
    ValueName broadcast_to(const ValueName& value, const Shape& shape);
    /// Rows along `axis`; indices from the end are negative.
    ValueName gather(const ValueName& value, const ValueName& indices, int64_t axis);
    /// Products of the last two axes, the others broadcast; 2 or more.
    ValueName matmul(const ValueName& a, const ValueName& b);

    void set_type(const ValueName& value, int32_t type) { graph_.set_type(value, type); }
    void result(const ValueName& value, int output = 0);
    void result(const ValueName& value, int output, int32_t type);

    GraphBuilder& graph() { return graph_; }
    const SourceNode& node() const { return node_; }

  private:
    ValueName empty_like(const ValueName& value, int64_t axis);
    ValueName made(Operator op, Attributes attributes, const std::vector<ValueName>& operands,
                   int32_t type, const Shape& shape = {});
    /// As images, where one of them is.
    bool on_images(const std::string& text, const std::vector<ValueName>& operands, int32_t type,
                   const ValueName& name);
    int32_t number_type(const ValueName& like) const;

    GraphBuilder& graph_;
    const SourceNode& node_;
};

}  // namespace tandem::compiler
