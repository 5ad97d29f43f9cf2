// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: which body, and how often, is known beforehand; bodies are put in place, one
// iteration behind the other.
#pragma once

#include <functional>

#include "compiler/import/compose/maths.h"
#include "compiler/import/onnx/node_reader.h"

namespace tandem::compiler {

/// Adds the nodes of a body whose inputs the graph knows.
using RunBody = std::function<void(const onnx::GraphProto& body)>;

bool is_control_flow(const std::string& type);
void add_control_flow(Maths& maths, const NodeReader& node, const RunBody& run);

}  // namespace tandem::compiler
