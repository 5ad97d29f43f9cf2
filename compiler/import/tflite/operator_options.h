// SPDX-License-Identifier: Apache-2.0
// TFLite's operator options into graph attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/graph/graph.h"
#include "compiler/import/tflite/tflite_generated.h"

namespace tandem::compiler {

/// Nothing for an operator that Tandem does not run.
std::optional<Operator> supported_operator(int32_t code);

/// "ADD, AVERAGE_POOL_2D, ...", for messages.
std::string supported_operator_names();

/// Attributes of `node`, whose operator and tensors are already known. Throws UserError for missing
/// options and for values outside the format's enums or beyond what Tandem runs.
void import_attributes(const tflite::Operator& source, const Graph& graph, Node& node);

}  // namespace tandem::compiler
