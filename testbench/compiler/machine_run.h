// SPDX-License-Identifier: Apache-2.0
// Compiled graphs with data on the interpreter, and what the oracle says of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arch/program.h"
#include "compiler/pipeline.h"
#include "compiler/stream.h"
#include "testbench/support/isa_interpreter.h"
#include "testbench/support/naive_ops.h"

namespace tandem::testbench {

/// All of it; the cores in turns.
std::vector<CoreProgram> programs_of(compiler::StreamedProgram& stream);
std::vector<CoreProgram> programs_of(const arch::Program& image);

/// As the firmware loads it: the code at device address 0, the data behind it. All of the memory is
/// there. Outputs: host().at(setting_of(...).scalars[3], ...).
Setting setting_of(const arch::Program& image, const arch::ChipConfig& chip, const Int8s& inputs);

/// The outputs, side by side. Throws std::runtime_error, also if the program breaks a law.
Int8s run_image(const arch::ChipConfig& chip, const arch::Program& image, const Int8s& inputs,
                const Order& order);

/// What comes out of a graph for one batch.
struct Results {
    std::vector<Int8s> outputs;           ///< as Graph::outputs, samples one after the other
    std::map<size_t, Int8s> edge_inputs;  ///< by kernel: what goes into an EDGE

    bool operator==(const Results&) const = default;
};
/// The first difference; empty: none.
std::string difference(const Results& found, const Results& expected);

/// A graph with its inputs. Constants and edges have the values of `seed`, unless they have others.
class Case {
  public:
    /// Inputs: of all samples, one after the other for each graph input.
    Case(compiler::Graph graph, const arch::ChipConfig& chip,
         const compiler::CompileOptions& options, std::vector<Int8s> inputs, uint64_t seed);

    const compiler::Graph& graph() const { return graph_; }
    const arch::ChipConfig& chip() const { return chip_; }
    const compiler::Planned& planned() const { return planned_; }
    const Results& expected() const { return expected_; }
    /// Made by the compiler.
    std::vector<CoreProgram> streams() const;
    std::vector<CoreProgram> image() const;
    /// Throws std::runtime_error, also if the program breaks a law: all MACs done, nothing left
    /// over.
    Results run(const std::vector<CoreProgram>& programs, const Order& order) const;
    /// Results that are wrong, or an error, as a text; empty: all is well.
    std::string fault(const std::vector<CoreProgram>& programs, const Order& order) const;

  private:
    Results oracle() const;
    Int8s edge_bytes(compiler::TensorId tensor) const;
    Setting setting(uint32_t seed) const;
    using Passed = std::set<std::pair<size_t, uint32_t>>;  ///< kernels and rounds
    void pass_edge(IsaInterpreter& machine, Results& results, uint32_t core, Passed& passed,
                   const arch::InstructionSource& source) const;
    Results results_of(IsaInterpreter& machine) const;

    compiler::Graph graph_;
    arch::ChipConfig chip_;
    compiler::CompileOptions options_;
    std::vector<Int8s> inputs_;
    uint64_t seed_;
    compiler::Planned planned_;
    Results expected_;
};

/// Values of a random graph's inputs.
std::vector<Int8s> seeded_inputs(const compiler::Graph& graph, uint32_t batch, uint64_t seed);

}  // namespace tandem::testbench
