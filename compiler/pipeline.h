// SPDX-License-Identifier: Apache-2.0
// The one way from a graph to what a chip runs:
//
//   graph -> lower -> plan -> emit -> sync -> image (firmware) or streams
//
// A network with data, a list without, one product: all are graphs.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "arch/chip_config.h"
#include "arch/program.h"
#include "compiler/graph/text.h"
#include "compiler/lower/kernels.h"
#include "compiler/plan/outline.h"
#include "compiler/plan/plan.h"

namespace tandem::compiler {

/// Who is told the text of every form that a program takes.
struct Dump {
    /// "graph.tgraph", "kernels.txt", "plan.txt".
    std::function<void(std::string_view form, const std::string& text)> text;
    DumpBytes bytes = DumpBytes::kNone;  ///< of the graph
};

struct Planned;

struct CompileOptions {
    uint32_t batch = 1;  ///< samples that one run of the program works on
    numerics::Rounding rounding = numerics::Rounding::kSingle;
    /// Cores that share the work; 0: all of the chip's.
    uint32_t cores = 0;
    /// Weights may lie in CMEM; not those of an image, which firmware loads into device memory.
    bool use_cmem = true;
    PlanMode plan = PlanMode::kSearch;
    uint32_t rounds = 0;  ///< PlanOptions::rounds
    /// For tests: instead of the best schedule of a product this one, modulo their number.
    std::optional<uint64_t> forced{};
    /// For tests: before anything is planned every product is packed in this one of its ways,
    /// modulo their number.
    std::optional<uint64_t> forced_packing{};
    /// For tests: instead of the outline that the search, or the rules, have.
    std::function<Outline(const KernelGraph&)> outline{};
    Dump dump;
    std::function<void(const Planned&)> on_plan{};  ///< told what has its place, if set
};

/// Device memory in front of the data: the window in which a streamed program goes round.
inline constexpr uint64_t kStreamDataBase = 64 * 1024;

/// A graph that has its place on a chip. Keeps a copy of all it needs.
struct Planned {
    KernelGraph kernels;
    Plan plan;
    arch::ChipConfig chip;
};

/// Throws UserError, naming the node and what is needed and available, for a graph that does not
/// fit onto the chip.
Planned plan_graph(const Graph& graph, const arch::ChipConfig& chip, const CompileOptions& options);

/// A program image for firmware. Throws UserError unless the graph has_image().
arch::Program compile(const Graph& graph, const arch::ChipConfig& chip,
                      const CompileOptions& options = {});

}  // namespace tandem::compiler
