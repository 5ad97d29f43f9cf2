// SPDX-License-Identifier: Apache-2.0
// The functions that the table of operators names: shape rules, type rules, counts.
#pragma once

#include "compiler/graph/node_rules.h"

namespace tandem::compiler::rules {

Shape convolution_shape(const NodeRules& node);
Shape depthwise_shape(const NodeRules& node);
Shape fully_connected_shape(const NodeRules& node);
Shape grouped_matmul_shape(const NodeRules& node);
Shape batch_matmul_shape(const NodeRules& node);
Shape add_shape(const NodeRules& node);
Shape first_elements_shape(const NodeRules& node);
Shape pool_shape(const NodeRules& node);
Shape mean_shape(const NodeRules& node);
Shape softmax_shape(const NodeRules& node);
Shape reshape_shape(const NodeRules& node);
Shape edge_shape(const NodeRules& node);
Shape unchanged_shape(const NodeRules& node);
Shape transpose_shape(const NodeRules& node);
// array_rules.cpp
Shape elementwise_shape(const NodeRules& node);
Shape reduce_shape(const NodeRules& node);
Shape slice_shape(const NodeRules& node);
Shape concatenation_shape(const NodeRules& node);
Shape pad_shape(const NodeRules& node);
Shape broadcast_shape(const NodeRules& node);
Shape gather_shape(const NodeRules& node);

void convolution_types(const NodeRules& node);
void depthwise_types(const NodeRules& node);
void fully_connected_types(const NodeRules& node);
void grouped_matmul_types(const NodeRules& node);
void batch_matmul_types(const NodeRules& node);
void add_types(const NodeRules& node);
void softmax_types(const NodeRules& node);
void elementwise_types(const NodeRules& node);
void reduce_types(const NodeRules& node);
void gather_types(const NodeRules& node);
/// All inputs are activations of one type.
void same_types(const NodeRules& node);
/// The output's scale and zero point are the input's.
void unscaled_types(const NodeRules& node);
/// None but that of the activations.
void free_types(const NodeRules& node);

Counts convolution_counts(const Graph& graph, const Node& node);
Counts depthwise_counts(const Graph& graph, const Node& node);
Counts fully_connected_counts(const Graph& graph, const Node& node);
Counts grouped_matmul_counts(const Graph& graph, const Node& node);
Counts batch_matmul_counts(const Graph& graph, const Node& node);
/// The elements of the input pass the vector unit; ADD: of one of its inputs.
Counts vector_counts(const Graph& graph, const Node& node);
/// Nothing is done.
Counts alias_counts(const Graph& graph, const Node& node);

}  // namespace tandem::compiler::rules
