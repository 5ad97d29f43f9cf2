// SPDX-License-Identifier: Apache-2.0
// Graphs as readable text (*.tgraph): one line per tensor and per node. docs/workloads.md has the
// format.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "compiler/graph/graph.h"

namespace tandem::compiler {

enum class DumpBytes : uint8_t { kNone, kAll };

/// kNone: constants are written with their shapes and without their values.
std::string to_text(const Graph& graph, DumpBytes bytes);
void write_graph(const std::filesystem::path& file, const Graph& graph, DumpBytes bytes);

/// Verified. Throws UserError that names file and line, or file and node.
Graph read_graph(const std::filesystem::path& file);
/// `file` is for messages.
Graph parse_graph(std::string_view text, const std::string& file);

}  // namespace tandem::compiler
