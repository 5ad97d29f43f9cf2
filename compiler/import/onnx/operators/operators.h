// SPDX-License-Identifier: Apache-2.0
// What each operator of ONNX becomes: a row here and a function, in the file of its family.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/import/compose/maths.h"
#include "compiler/import/onnx/node_reader.h"

namespace tandem::compiler::onnx_operators {

struct OnnxOperator {
    const char* type;
    /// Adds what computes the node; its inputs are known to the graph. Throws UserError.
    void (*add)(Maths& maths, const NodeReader& node);
};

// By family.
std::span<const OnnxOperator> attentions();
std::span<const OnnxOperator> convolutions();
std::span<const OnnxOperator> einsums();
std::span<const OnnxOperator> elements();
std::span<const OnnxOperator> indices();
std::span<const OnnxOperator> losses();
std::span<const OnnxOperator> normalisations();
std::span<const OnnxOperator> pools();
std::span<const OnnxOperator> products();
std::span<const OnnxOperator> quantisation();
std::span<const OnnxOperator> recurrent();
std::span<const OnnxOperator> reductions();
std::span<const OnnxOperator> resizing();
std::span<const OnnxOperator> sampling();
std::span<const OnnxOperator> shapes();
std::span<const OnnxOperator> signals();
std::span<const OnnxOperator> training();

/// Null: none of this type.
const OnnxOperator* find(const std::string& type);
std::string names();

// ---- what several families share

using Integers = std::vector<int64_t>;

/// Integers that are constants, or given for this run.
Integers known_integers(Maths& maths, const NodeReader& node, int input, const std::string& role);
int64_t known_integer(Maths& maths, const NodeReader& node, int input, const std::string& role);
int64_t one_integer(const NodeReader& node, const Tensor& tensor, const std::string& role);
float known_real(Maths& maths, const NodeReader& node, int input, const std::string& role);
/// 0 to rank - 1.
Integers all_axes(Maths& maths, const ValueName& value);
/// From `first` on; none where there are not so many.
Integers axes_from(Maths& maths, const ValueName& value, int64_t first);

/// Of the extents from one axis to in front of another.
int64_t product(const Shape& shape, size_t from = 0, size_t to = SIZE_MAX);
/// As two axes: those in front of `axis`, and it with those behind it.
Shape flattened(const Shape& shape, int64_t axis);
ValueName softmax(Maths& maths, const ValueName& value, int64_t axis);
ValueName log_softmax(Maths& maths, const ValueName& value, int64_t axis);

}  // namespace tandem::compiler::onnx_operators
